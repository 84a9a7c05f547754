import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, must, send, type Target } from '../../../../tools/testing/hostile/client';
import { envelope, found, pathOf } from '../../../../tools/testing/hostile/subjects';

const TENANT = 'bystander';
/** The pause between two rounds, so that the bystander takes little of what is measured. */
const PAUSE_MS = 20;

/** A user of another tenant, who reads and writes as usual. */
export class Bystander {
  private constructor(private readonly target: Target) {}

  static async of(target: Target): Promise<Bystander> {
    await found(target, TENANT, TENANT);
    const body = envelope({ name: 'one' });
    await must(target, 'POST', `/v1/tenants/${TENANT}/entity-states`, { user: TENANT, body });
    return new Bystander(target);
  }

  /** Runs until `attack` ends, and one more round. Returns the failed requests and the number of all requests. */
  async beside<Outcome>(
    attack: () => Promise<Outcome>,
  ): Promise<{ outcome: Outcome; asked: number; failed: string[] }> {
    let isOver = false;
    let asked = 0;
    const failed: string[] = [];
    const live = async (): Promise<void> => {
      do {
        for (const [what, expected, answer] of await this.round()) {
          asked += 1;
          if (answer.status !== expected)
            failed.push(`${what}: ${answer.status} ${answer.body.toString().slice(0, 300)}`);
        }
        if (!isOver) await pause(PAUSE_MS);
      } while (!isOver);
    };
    const living = live();
    try {
      const outcome = await attack();
      isOver = true;
      await living;
      return { outcome, asked, failed };
    } finally {
      isOver = true;
    }
  }

  /**
   * Sends reads in both forms, a write, an import, and an update that is proposed and applied. Each must get the
   * expected status.
   */
  private async round(): Promise<[string, number, Answer][]> {
    const subjectId = randomUUID();
    const as = (method: string, path: string, body?: unknown): Promise<Answer> =>
      send(this.target, method, path, { user: TENANT, body });
    const own = pathOf(TENANT, subjectId);
    const steps: [string, number, Answer][] = [
      ['read', 200, await as('GET', `${pathOf(TENANT)}/snapshots/latest`)],
      ['global read', 200, await as('GET', '/v1/subjects/entity/one/snapshots/latest')],
      ['write', 201, await as('POST', `/v1/tenants/${TENANT}/entity-states`, envelope({}, { subjectId }))],
    ];
    const line = `${JSON.stringify(envelope({}, { subjectId: randomUUID() }))}\n`;
    const lines = { user: TENANT, body: line, headers: { 'Content-Type': 'application/x-ndjson' } };
    const imported = await send(this.target, 'POST', `/v1/tenants/${TENANT}/entity-states/batch`, lines);
    steps.push(['import', 200, imported]);
    const proposed = await as('POST', `${own}/updates`, {
      subject_id: subjectId,
      base_snapshot_version: 1,
      patch_ops: [{ op: 'add', path: '/attributes/name', value: 'two' }],
    });
    steps.push(['propose', 201, proposed]);
    if (proposed.status !== 201) return steps;
    const { update_id: updateId }: { update_id: string } = JSON.parse(proposed.body.toString());
    return [...steps, ['apply', 200, await as('POST', `${own}/updates/${updateId}/apply`)]];
  }
}
