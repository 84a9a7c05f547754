import { canonicalize, isJsonObject, type JsonObject } from '@iss/domain/pure';
import {
  type Checkpoint,
  decodeHash,
  leafHash,
  type Policy,
  TlogError,
  type VerifiedCheckpoint,
  verifyCheckpoint,
  verifyConsistency,
  verifyInclusion,
} from '@iss/tlog';
import { VerificationError } from '../errors.ts';
import type * as api from '../generated/types.ts';
import { decode } from '../http/answer.ts';
import { type CallOptions, pathOf, type Transport } from '../http/transport.ts';
import { CLOCK_SKEW_MS } from '../limits.ts';
import type { Link } from './known-versions.ts';
import { parseStrictly } from './snapshot.ts';
import { policyOf, storeOf, type Trust } from './trust.ts';
import type { TrustStore } from './trust-store.ts';

/** A checkpoint that the policy takes as valid and that continues what was kept. */
export interface ProvedCheckpoint {
  readonly origin: string;
  readonly size: number;
  /** The signed note: whoever keeps it can show later that the log was changed since. */
  readonly note: string;
  /** Names of the witnesses' keys that cosigned it. */
  readonly cosignedBy: readonly string[];
}

/** Where the log has a version. */
export interface LogPlace {
  readonly logIndex: number;
  /** The owner of the subject, by the entry. */
  readonly tenantId: string;
  readonly checkpoint: ProvedCheckpoint;
}

/** How long the service is asked to wait for what was written a moment ago, in seconds. */
const WAIT_SECONDS = 10;

/** How often a note that somebody else replaced meanwhile is looked at again. */
const MAX_RACES = 20;

/** What a client proves by the transparency log. */
export class LogTrust {
  private readonly store: TrustStore;
  private readonly policy: Promise<Policy>;

  constructor(
    private readonly transport: Transport,
    trust: Trust,
    private readonly now: () => number,
  ) {
    this.store = storeOf(trust);
    this.policy = policyOf(trust);
    // Whoever proves something is told.
    this.policy.catch(() => undefined);
  }

  /** The newest checkpoint of the log. @throws VerificationError */
  async checkpoint(options: CallOptions): Promise<ProvedCheckpoint> {
    const floors = await this.floors();
    const note = await this.transport.text({ method: 'GET', path: '/log/checkpoint', accept: 'text/plain' }, options);
    return shown(note, await this.accept(note, floors, options));
  }

  /**
   * Proves that the log has this version, as it was answered.
   *
   * @throws VerificationError; NotLoggedYetError where the log is behind for longer than the call may take
   */
  async prove(tenantId: string, version: Link, createdAt: string, options: CallOptions): Promise<LogPlace> {
    const floors = await this.floors();
    const path = pathOf('v1', 'tenants', tenantId, 'snapshots', version.snapshotId, 'log-proof');
    const answer = decode<api.LogProof>(
      await this.transport.text({ method: 'GET', path, query: { wait: WAIT_SECONDS } }, options),
    );
    return this.proveEntry(answer, version, createdAt, floors, options);
  }

  private async proveEntry(
    { entry, log_index: logIndex, inclusion, checkpoint: note }: api.LogProof,
    version: Link,
    createdAt: string,
    floors: Floors,
    options: CallOptions,
  ): Promise<LogPlace> {
    if (typeof note !== 'string' || typeof entry !== 'string' || !Array.isArray(inclusion)) {
      throw new VerificationError('malformed', 'The answer is not a proof of the log.');
    }
    const verified = await this.accept(note, floors, options);
    held('not_in_log', () =>
      verifyInclusion(
        leafHash(new TextEncoder().encode(entry)),
        logIndex,
        verified.checkpoint,
        inclusion.map((hash) => decodeHash(hash, 'hash of the inclusion proof')),
      ),
    );
    const tenantId = requireEntry(entry, version, createdAt);
    return { logIndex, tenantId, checkpoint: shown(note, verified) };
  }

  /**
   * A checkpoint, if the policy takes it as valid and it continues what is kept. The newest is kept.
   *
   * @param floors what was kept when the checkpoint was asked for: an older one must not be shown any more
   */
  private async accept(note: string, floors: Floors, options: CallOptions): Promise<VerifiedCheckpoint> {
    const policy = await this.policy;
    const verified = await heldLater('checkpoint', () => verifyCheckpoint(note, policy));
    this.requireNotAhead(verified);
    const { checkpoint } = verified;
    const floor = floors.get(checkpoint.origin) ?? 0;
    if (checkpoint.size < floor) {
      throw new VerificationError(
        'checkpoint_older',
        `The log shows ${checkpoint.size} entries, and has shown ${floor} before. Ask again; if it stays so, keep both checkpoints.`,
        { evidence: [note, (await this.store.read(checkpoint.origin)) ?? ''] },
      );
    }
    for (let race = 1; race <= MAX_RACES; race++) {
      const before = await this.store.read(checkpoint.origin);
      if (before !== undefined) {
        if (before === note) return verified;
        const kept = await this.keptCheckpoint(before, policy);
        const [older, newer] = kept.size <= checkpoint.size ? [kept, checkpoint] : [checkpoint, kept];
        await this.requireContinued(older, newer, [before, note], options);
        if (kept.size >= checkpoint.size) return verified;
      }
      if (await this.store.replace(checkpoint.origin, before, note)) return verified;
    }
    throw new VerificationError('checkpoint', 'The store of checkpoints changes whenever it is written to.');
  }

  /** How many entries each log of the policy has shown. */
  private async floors(): Promise<Floors> {
    const policy = await this.policy;
    const floors = new Map<string, number>();
    for (const { key } of policy.logs) {
      const note = await this.store.read(key.name);
      if (note !== undefined) floors.set(key.name, (await this.keptCheckpoint(note, policy)).size);
    }
    return floors;
  }

  /** Cosignatures were asked for when it was kept. */
  private async keptCheckpoint(note: string, policy: Policy): Promise<Checkpoint> {
    if (this.lastKept?.note === note) return this.lastKept.checkpoint;
    const { checkpoint } = await heldLater('checkpoint', () => verifyCheckpoint(note, { ...policy, quorum: null }));
    this.lastKept = { note, checkpoint };
    return checkpoint;
  }
  private lastKept: { note: string; checkpoint: Checkpoint } | undefined;

  private async requireContinued(
    older: Checkpoint,
    newer: Checkpoint,
    evidence: readonly string[],
    options: CallOptions,
  ): Promise<void> {
    const isProofNeeded = older.size > 0 && older.size < newer.size;
    const query = { from: older.size, to: newer.size };
    const text = isProofNeeded
      ? await this.transport.text({ method: 'GET', path: '/log/consistency', query }, options)
      : null;
    try {
      const proof = text === null ? [] : decode<api.ConsistencyProof>(text).proof;
      verifyConsistency(
        older,
        newer,
        proof.map((hash) => decodeHash(hash, 'hash of the consistency proof')),
      );
    } catch (cause) {
      if (!(cause instanceof TlogError)) throw cause;
      const message = `The log of ${newer.size} entries does not continue that of ${older.size}: ${cause.message}`;
      throw new VerificationError('forked', message, { evidence, cause });
    }
  }

  private requireNotAhead({ logSignatures, cosignatures }: VerifiedCheckpoint): void {
    const latest = this.now() + CLOCK_SKEW_MS;
    for (const { key, time } of [...logSignatures, ...cosignatures.map(({ signature }) => signature)]) {
      if (time === null || time * 1000 <= latest) continue;
      throw new VerificationError(
        'clock',
        `${key.name} says that it signed at ${time} s, which is yet to come. If the clock of this machine is right, that signature is not honest.`,
      );
    }
  }
}

type Floors = ReadonlyMap<string, number>;

/** The owner by the entry, if that is of this version. @throws VerificationError `not_in_log` */
function requireEntry(text: string, version: Link, createdAt: string): string {
  const entry = parseStrictly(text);
  const expected: JsonObject = {
    type: 'snapshot.created',
    subject_type: version.subjectType,
    subject_id: version.subjectId,
    snapshot_id: version.snapshotId,
    snapshot_version: version.version,
    envelope_hash: version.envelopeHash,
    prev_hash: version.prevHash,
    created_at: createdAt,
  };
  if (!isJsonObject(entry) || canonicalize(entry) !== text) {
    throw new VerificationError('not_in_log', 'The entry of the log is not RFC 8785 text.');
  }
  for (const [name, value] of Object.entries(expected)) {
    if (entry[name] === value) continue;
    throw new VerificationError(
      'not_in_log',
      `The entry of the log is of something else: ${name} is ${JSON.stringify(entry[name])} there, not ${JSON.stringify(value)}.`,
    );
  }
  const { tenant_id: tenantId } = entry;
  if (typeof tenantId === 'string') return tenantId;
  throw new VerificationError('not_in_log', 'The entry of the log names no tenant.');
}

function shown(note: string, { checkpoint, cosignatures }: VerifiedCheckpoint): ProvedCheckpoint {
  const { origin, size } = checkpoint;
  return { origin, size, note, cosignedBy: cosignatures.map(({ signature }) => signature.key.name) };
}

/** Says of what the log's library refuses what it was about. */
function held<T>(failure: 'not_in_log', work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof TlogError)) throw cause;
    throw new VerificationError(failure, cause.message, { cause });
  }
}

async function heldLater<T>(failure: 'checkpoint', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof TlogError)) throw cause;
    throw new VerificationError(failure, cause.message, { cause });
  }
}
