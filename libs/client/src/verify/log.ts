import { canonicalize, isJsonObject, type JsonObject, type JsonValue } from '@iss/domain/pure';
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
import { ApiError, VerificationError } from '../errors.ts';
import { type CallOptions, pathOf, type Transport } from '../http/transport.ts';
import { CLOCK_SKEW_MS } from '../limits.ts';
import type { Link } from './known-versions.ts';
import type { Version } from '../types.ts';
import { linkOf, parseStrictly } from './snapshot.ts';
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

/** @internal what a client proves by the transparency log */
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
    const proof = parseStrictly(
      await this.transport.text({ method: 'GET', path, query: { wait: WAIT_SECONDS } }, options),
    );
    const note = memberOf(proof, 'checkpoint');
    if (typeof note !== 'string') throw new VerificationError('malformed', 'The answer is not a proof of the log.');
    const verified = await this.accept(note, floors, options);
    const logIndex = requireIncluded(proof, leafOf(proof), verified.checkpoint);
    const owner = requireEntry(memberOf(proof, 'entry'), version, createdAt);
    return { logIndex, tenantId: owner, checkpoint: shown(note, verified) };
  }

  /** Proves lines of a bundle, all by the one checkpoint that it begins with. @throws VerificationError */
  async bundle(note: string, floors: Floors, options: CallOptions): Promise<BundleProof> {
    const verified = await this.accept(note, floors, options);
    const checkpoint = shown(note, verified);
    return (version, line) => {
      const logIndex = requireIncluded(line, leafOf(line), verified.checkpoint);
      if (version.envelope === undefined) {
        requireErased(memberOf(line, 'erased'), logIndex, version, verified.checkpoint);
        return null;
      }
      const link = linkOf(version, version.envelope_hash ?? '');
      return { logIndex, tenantId: requireEntry(memberOf(line, 'entry'), link, version.created_at), checkpoint };
    };
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
  async floors(): Promise<Floors> {
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
    try {
      const text = isProofNeeded
        ? await this.transport.text({ method: 'GET', path: '/log/consistency', query }, options)
        : null;
      const proof = text === null ? [] : memberOf(parseStrictly(text), 'proof');
      const hashes = Array.isArray(proof) ? proof : [];
      verifyConsistency(
        older,
        newer,
        hashes.map((hash) => decodeHash(textOf(hash), 'hash of the consistency proof')),
      );
    } catch (cause) {
      // A log that cannot prove that it continues is taken at its word.
      const isRefused = cause instanceof TlogError || (cause instanceof ApiError && [400, 404].includes(cause.status));
      if (!isRefused) throw cause;
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

/** @internal how many entries each log had shown when something was asked for */
export type Floors = ReadonlyMap<string, number>;

/** @internal proves a version by its line of a bundle; of an erased one, that it was erased: null. @throws VerificationError */
export type BundleProof = (version: Version<unknown>, line: JsonValue) => LogPlace | null;

/** The leaf that a proof is about: its entry's, or of an erased one what is left. */
function leafOf(proof: JsonValue): Uint8Array {
  const entry = memberOf(proof, 'entry');
  if (typeof entry === 'string') return leafHash(new TextEncoder().encode(entry));
  const hex = textOf(memberOf(proof, 'leaf_hash'));
  return Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (byte) => parseInt(byte, 16));
}

/** Where the leaf is in the tree of a checkpoint. */
function requireIncluded(proof: JsonValue, leaf: Uint8Array, checkpoint: Checkpoint): number {
  const logIndex = Number(memberOf(proof, 'log_index'));
  const inclusion = memberOf(proof, 'inclusion');
  if (!Array.isArray(inclusion)) throw new VerificationError('malformed', 'The answer is not a proof of the log.');
  held('not_in_log', () => {
    const hashes = inclusion.map((hash) => decodeHash(textOf(hash), 'hash of the inclusion proof'));
    verifyInclusion(leaf, logIndex, checkpoint, hashes);
  });
  return logIndex;
}

/** That the log says of the version at this place that it was erased. */
function requireErased(
  proof: JsonValue | undefined,
  logIndex: number,
  { subject }: Version<unknown>,
  checkpoint: Checkpoint,
): void {
  if (proof === undefined)
    throw new VerificationError('envelope_missing', 'Content is left out, and no erasure is proved.');
  requireIncluded(proof, leafOf(proof), checkpoint);
  const entry = parseStrictly(textOf(memberOf(proof, 'entry')));
  const indexes = memberOf(entry, 'erased_indexes');
  const isOfIt =
    memberOf(entry, 'type') === 'subject.erased' &&
    memberOf(entry, 'subject_type') === subject.subject_type &&
    memberOf(entry, 'subject_id') === subject.subject_id &&
    Array.isArray(indexes) &&
    indexes.includes(logIndex);
  if (!isOfIt)
    throw new VerificationError('not_in_log', 'The entry of the log says of another version that it was erased.');
}

/** What is no text is no proof of anything: the empty one is refused as such. */
function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

/** The owner by the entry, if that is of this version. @throws VerificationError `not_in_log` */
function requireEntry(text: JsonValue | undefined, version: Link, createdAt: string): string {
  if (typeof text !== 'string') throw new VerificationError('malformed', 'The proof has no entry.');
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
