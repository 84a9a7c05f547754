import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { textAt } from '../../testing/text-at.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { query } from './postgres.ts';
import { TENANT, type Answered, type TrialService } from './service.ts';
import type { Trial } from './trial.ts';

/** A snapshot whose write was answered with 201. */
export interface Acknowledged {
  readonly snapshotId: string;
  readonly subjectId: string;
  readonly version: number;
  readonly envelopeHash: string;
  /** The times of request and response, in milliseconds of the trial's own clock since 1970. */
  readonly askedAtMs: number;
  readonly atMs: number;
}

export interface WriterOptions {
  readonly writers?: number;
  /** The pause between two requests of a writer. */
  readonly pauseMs?: number;
  /** The address of the requests; by default the gateways in turn. */
  readonly url?: string;
}

/** The comparison of the ledger with a database. */
export interface Comparison {
  readonly stored: ReadonlySet<string>;
  /** Acknowledged, but missing. */
  readonly lost: readonly Acknowledged[];
  /** Stored with another hash, or with an envelope that does not match its hash. */
  readonly altered: readonly Acknowledged[];
}

/**
 * Writes until it is stopped: new subjects, and a second version of every second one. Before the next write, it records each
 * acknowledged one in memory and as a line in the trial's file `ledger`.
 */
export class LedgerWriter {
  readonly acknowledged: Acknowledged[] = [];
  /** The number of responses by status; 0 is no response. */
  readonly statuses = new Map<number, number>();
  /** The first response of each status except 201. */
  readonly refusals = new Map<number, string>();
  /** The time of the slowest response except 201. */
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

  /** Waits until `count` more writes are acknowledged. */
  async waitForMore(count: number, deadlineMs = 60_000): Promise<void> {
    const goal = this.acknowledged.length + count;
    await waitFor(() => this.acknowledged.length >= goal, { deadlineMs, what: `${count} more acknowledged writes` });
  }

  /** Waits for an acknowledged write that was sent after this moment. Returns the time of its response. */
  async firstAfter(ms: number, deadlineMs = 60_000): Promise<number> {
    const { atMs } = await waitFor(() => this.acknowledged.find(({ askedAtMs }) => askedAtMs >= ms), {
      deadlineMs,
      what: 'the first write afterwards',
    });
    return atMs;
  }

  /** Returns the longest time between two acknowledged writes after `fromMs`. */
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

  /** Compares the ledger with a database by id, and recomputes each hash. */
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

/** Judges that no acknowledged write was lost or altered, and prints the responses of the writer. */
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

/** Returns the envelope of a subject's version. */
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
