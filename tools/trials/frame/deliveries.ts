import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textAt } from '../../testing/text-at.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { TENANT, type TrialService } from './service.ts';
import type { Trial } from './trial.ts';

/** A received delivery. */
export interface Delivered {
  readonly eventId: string;
  readonly snapshotId: string;
  /** The newest checkpoint of the log, which the delivery contains; empty if it contains none. */
  readonly checkpoint: string;
  readonly signature: string;
  /** The bytes that the signature covers. */
  readonly body: Buffer;
  readonly atMs: number;
}

/**
 * Receives every `identity.snapshot.created` of the trial's tenant. Before it answers, it records each delivery in memory and in
 * the trial's file `deliveries`.
 */
export class DeliveryRecorder {
  readonly delivered: Delivered[] = [];
  /** The secret that signs the deliveries. */
  secret = '';
  subscriptionId = '';
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
  }

  static async start(trial: Trial, service: TrialService): Promise<DeliveryRecorder> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const event: unknown = JSON.parse(body.toString());
        const header = (name: string): string => String(request.headers[name] ?? '');
        const delivered: Delivered = {
          eventId: textAt(event, 'id'),
          snapshotId: textAt(event, 'data', 'snapshot_id'),
          checkpoint: Buffer.from(header('x-iss-log-checkpoint'), 'base64').toString(),
          signature: header('x-service-signature'),
          body,
          atMs: Date.now(),
        };
        const { eventId, snapshotId, checkpoint, atMs } = delivered;
        appendFileSync(trial.path('deliveries'), `${JSON.stringify({ eventId, snapshotId, checkpoint, atMs })}\n`);
        recorder.delivered.push(delivered);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    trial.atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const recorder = new DeliveryRecorder(`http://127.0.0.1:${port}/hook`);
    await recorder.subscribe(service);
    return recorder;
  }

  /** The ids of the snapshots in all deliveries. */
  get snapshotIds(): Set<string> {
    return new Set(this.delivered.map(({ snapshotId }) => snapshotId));
  }

  /** Waits for the deliveries of these snapshots, and judges that they are complete. */
  async judge(trial: Trial, stored: ReadonlySet<string>, deadlineMs = 60_000): Promise<void> {
    const missing = (): number => {
      const known = this.snapshotIds;
      return [...stored].filter((id) => !known.has(id)).length;
    };
    await waitFor(() => missing() === 0, { deadlineMs }).catch(() => undefined);
    trial.judge(missing() === 0, `in the database ${stored.size}, of which not delivered: ${missing()}`);
  }

  private async subscribe(service: TrialService): Promise<void> {
    const body = { tenant_id: TENANT, target_url: this.url, event_types: ['identity.snapshot.created'] };
    const answer = await service.request('POST', '/v1/webhook-subscriptions', body);
    if (answer.status !== 201) throw new Error(`No subscription: ${answer.status} ${answer.body}`);
    const created: unknown = JSON.parse(answer.body);
    this.secret = textAt(created, 'secret');
    this.subscriptionId = textAt(created, 'webhook_subscription', 'subscription_id');
  }
}
