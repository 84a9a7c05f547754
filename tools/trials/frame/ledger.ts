import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { textAt } from '../../testing/text-at.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { query } from './postgres.ts';
import { TENANT, type Answered, type TrialService } from './service.ts';
import type { Trial } from './trial.ts';

/** A snapshot that was answered with 201. */
export interface Acknowledged {
  readonly snapshotId: string;
  readonly subjectId: string;
  readonly version: number;
  readonly envelopeHash: string;
  /** When it was asked for and answered, in milliseconds of the trial's own clock since 1970. */
  readonly askedAtMs: number;
  readonly atMs: number;
}

export interface WriterOptions {
  readonly writers?: number;
  /** Between two requests of one writer. */
  readonly pauseMs?: number;
  /** Where they go; the gateways in turn unless said otherwise. */
  readonly url?: string;
}

/** What became of the ledger's snapshots in a database. */
export interface Comparison {
  readonly stored: ReadonlySet<string>;
  /** Acknowledged, and not there. */
  readonly lost: readonly Acknowledged[];
  /** There with another hash, or with an envelope that does not hash to it. */
  readonly altered: readonly Acknowledged[];
}

/**
 * Writes until it is stopped: new subjects, and a second version of every other one. What is acknowledged is noted in memory and
 * in the file `ledger` of the trial, a line each, before the next is written.
 */
export class LedgerWriter {
  readonly acknowledged: Acknowledged[] = [];
  /** How many answers of each status; 0: none. */
  readonly statuses = new Map<number, number>();
  /** The first answer of each status that is not 201. */
  readonly refusals = new Map<number, string>();
  /** How long the slowest answer took that is not 201. */
  longestRefusalMs = 0;
  private readonly trial: Trial;
  private readonly service: TrialService;
  private isWriting = true;
  private readonly ended: Promise<unknown>;

  private constructor(trial: Trial, service: TrialService, options: WriterOptions) {
    this.trial = trial;
    this.service = service;
    this.ended = Promise.all(Array.from({ length: options.writers ?? 4 }, () => this.write(options)));
    trial.atEnd(() => (this.isWriting = false));
  }

  static start(trial: Trial, service: TrialService, options: WriterOptions = {}): LedgerWriter {
    return new LedgerWriter(trial, service, options);
  }

  /** Resolves when every request has ended. */
  async stop(): Promise<void> {
    this.isWriting = false;
    await this.ended;
  }

  /** Waits until `count` more have been acknowledged. */
  async waitForMore(count: number, deadlineMs = 60_000): Promise<void> {
    const goal = this.acknowledged.length + count;
    await waitFor(() => this.acknowledged.length >= goal, { deadlineMs, what: `${count} more acknowledged writes` });
  }

  /** Waits for one that was asked for after this moment, and gives when it was answered. */
  async firstAfter(ms: number, deadlineMs = 60_000): Promise<number> {
    const { atMs } = await waitFor(() => this.acknowledged.find(({ askedAtMs }) => askedAtMs >= ms), {
      deadlineMs,
      what: 'the first write afterwards',
    });
    return atMs;
  }

  /** The longest time between two acknowledged writes, of those after `fromMs`. */
  longestGapMs(fromMs = 0): number {
    const times = this.acknowledged
      .map(({ atMs }) => atMs)
      .filter((at) => at >= fromMs)
      .sort((one, other) => one - other);
    return times.slice(1).reduce((longest, at, index) => Math.max(longest, at - (times[index] ?? at)), 0);
  }

  /** `201: 1820, 503: 24` */
  get summary(): string {
    const sorted = [...this.statuses].sort(([one], [other]) => one - other);
    return sorted.map(([status, count]) => `${status === 0 ? 'no answer' : status}: ${count}`).join(', ');
  }

  /** Compares with what a database holds: each by its id, with its hash, which is computed anew. */
  async compareWith(databaseUrl: string): Promise<Comparison> {
    const rows = await query<{ id: string; hash: string; envelope: string }>(
      databaseUrl,
      `SELECT snapshot_id AS id, encode(envelope_hash, 'hex') AS hash, envelope FROM snapshots WHERE tenant_id = '${TENANT}'`,
    );
    const stored = new Map(rows.map(({ id, ...row }) => [id, row]));
    const isAltered = ({ snapshotId, envelopeHash }: Acknowledged): boolean => {
      const row = stored.get(snapshotId);
      return row !== undefined && (row.hash !== envelopeHash || sha256(row.envelope) !== envelopeHash);
    };
    return {
      stored: new Set(stored.keys()),
      lost: this.acknowledged.filter(({ snapshotId }) => !stored.has(snapshotId)),
      altered: this.acknowledged.filter(isAltered),
    };
  }

  private async write({ pauseMs = 5, url }: WriterOptions): Promise<void> {
    for (let count = 0; this.isWriting; count++) {
      const subjectId = randomUUID();
      if (!(await this.writeOne(subjectId, 1, url))) await pause(20);
      else if (count % 2 === 0) await this.writeOne(subjectId, 2, url);
      await pause(pauseMs);
    }
  }

  private async writeOne(subjectId: string, version: number, url: string | undefined): Promise<boolean> {
    const askedAtMs = Date.now();
    const path = `/v1/tenants/${TENANT}/entity-states`;
    const answer = await this.service.request('POST', path, envelopeOf(subjectId, version), url);
    this.note(answer);
    if (answer.status !== 201) {
      this.longestRefusalMs = Math.max(this.longestRefusalMs, Date.now() - askedAtMs);
      return false;
    }
    const body: unknown = JSON.parse(answer.body);
    const written: Acknowledged = {
      snapshotId: textAt(body, 'snapshot_id'),
      subjectId,
      version,
      envelopeHash: textAt(body, 'envelope_hash'),
      askedAtMs,
      atMs: Date.now(),
    };
    this.acknowledged.push(written);
    appendFileSync(this.trial.path('ledger'), `${JSON.stringify(written)}\n`);
    return true;
  }

  private note({ status, body }: Answered): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status !== 201 && !this.refusals.has(status)) this.refusals.set(status, body.slice(0, 500));
  }
}

/** Judges that nothing acknowledged was lost or altered, and tells how the writer was answered. */
export async function judgeLedger(trial: Trial, writer: LedgerWriter, databaseUrl: string): Promise<Comparison> {
  const comparison = await writer.compareWith(databaseUrl);
  const { lost, altered } = comparison;
  trial.judge(
    writer.acknowledged.length > 0 && lost.length === 0 && altered.length === 0,
    `acknowledged ${writer.acknowledged.length}, of which lost: ${lost.length}, altered: ${altered.length}`,
  );
  trial.judge(!writer.statuses.has(500), `answers by status: ${writer.summary}`);
  return comparison;
}

/** A subject's version, as its owner writes it. */
export function envelopeOf(subjectId: string, version = 1): object {
  const at = new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: version,
    generated_at: at,
    subject: { subject_type: 'organization', subject_id: subjectId },
    attributes: { legal: { legal_name: `Trial ${subjectId}` } },
    evidence: [],
    attribute_paths: {},
    audit: { created_by: 'trial', created_at: at, source: 'trial' },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
