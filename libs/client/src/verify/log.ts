import {
  type Checkpoint,
  decodeHash,
  type Policy,
  TlogError,
  type VerifiedCheckpoint,
  verifyCheckpoint,
  verifyConsistency,
} from '@iss/tlog';
import { ApiError, ErasedError, VerificationError } from '../errors.ts';
import { decode } from '../http/answer.ts';
import { requireLike } from '../http/shape.ts';
import { type CallOptions, pathOf, type Transport } from '../http/transport.ts';
import { CLOCK_SKEW_MS } from '../limits.ts';
import { type Floor, floorOf, requireNotBackdated, signaturesOf } from './floor.ts';
import { type BundleLine, LineageProof, LOG_PROOF, type LoggedVersion, type LogProof } from './lineage-proof.ts';
import { policyOf, storeOf, type Trust } from './trust.ts';
import type { TrustStore } from './trust-store.ts';

/** A checkpoint that satisfies the policy and continues the stored one. */
export interface ProvedCheckpoint {
  readonly origin: string;
  readonly size: number;
  /** The signed note. Keep it to prove later changes of the log. */
  readonly note: string;
  /** The key names of the witnesses that cosigned it. */
  readonly cosignedBy: readonly string[];
}

/** The place of a version in the log. */
export interface LogPlace {
  readonly logIndex: number;
  /** The owner of the subject according to the entry. */
  readonly tenantId: string;
  /** The writer according to the entry. Null if the entry does not name it. `written_by` is then not proved. */
  readonly writtenBy: string | null;
  readonly checkpoint: ProvedCheckpoint;
}

/** @internal The facts of a version, also from a receipt or a history header of an erased one. */
export type ErasedVersion = Omit<LoggedVersion, 'written_by' | 'write_request_id'>;

/** @internal The proved index of a version. `place` is null if the version is erased and the entry of the erasure does not name it. */
export interface ProvedPlace {
  readonly logIndex: number;
  readonly place: LogPlace | null;
}

/** The proof of an erasure in a receipt. */
interface ErasureProof extends Omit<LogProof, 'entry'> {
  readonly leaf_hash: string;
  readonly erasure: LogProof & { readonly checkpoint: string };
}
const ERASURE_PROOF = { log_index: 0, inclusion: [''], leaf_hash: '', erasure: { ...LOG_PROOF, checkpoint: '' } };

/** How long the service waits until a new version is in the log. */
const WAIT_SECONDS = 10;

/** Attempts to store a note while other writers replace it. */
const MAX_RACES = 20;

/** @internal Verifies proofs of the transparency log. */
export class LogTrust {
  readonly #store: TrustStore;
  readonly #policy: Promise<Policy>;

  constructor(
    private readonly transport: Transport,
    trust: Trust,
    private readonly now: () => number,
  ) {
    this.#store = storeOf(trust);
    this.#policy = policyOf(trust);
    // Avoids an unhandled rejection. Each proof awaits the policy.
    this.#policy.catch(() => undefined);
  }

  /** Verifies the newest checkpoint of the log, or a given one, which may be older. @throws VerificationError */
  async checkpoint(options: CallOptions, given?: string): Promise<ProvedCheckpoint> {
    const floors = given === undefined ? await this.floors() : new Map<string, Floor>();
    const request = { method: 'GET', path: '/log/checkpoint', accept: 'text/plain' } as const;
    const note = given ?? (await this.transport.text(request, options));
    return shown(note, await this.#accept(note, floors, options));
  }

  /**
   * Proves that the log has a version, or for an erased one its erasure.
   *
   * @throws VerificationError, `envelope_missing` if an erasure is not proved; NotLoggedYetError if the log is behind for longer than the
   *   call may take
   */
  async prove(tenantId: string, version: ErasedVersion, isErased: boolean, options: CallOptions): Promise<ProvedPlace> {
    const floors = await this.floors();
    const { checkpoint, ...line } = isErased
      ? await this.#erasureLine(tenantId, version, options)
      : decode<LogProof & { checkpoint: string }>(await this.#proofText(tenantId, version, options), {
          ...LOG_PROOF,
          checkpoint: '',
        });
    const prove = await this.bundle(checkpoint, floors, options);
    return prove(version, { ...line, snapshot: version });
  }

  async #erasureLine(
    tenantId: string,
    version: ErasedVersion,
    options: CallOptions,
  ): Promise<Omit<BundleLine, 'snapshot'> & { checkpoint: string }> {
    try {
      await this.#proofText(tenantId, version, options);
    } catch (error) {
      if (!(error instanceof ErasedError)) throw error;
      const proof: unknown = error.receipt?.proof;
      requireLike<ErasureProof>(proof, ERASURE_PROOF);
      const { erasure } = proof;
      return { ...proof, erased: erasure, checkpoint: erasure.checkpoint };
    }
    throw new VerificationError('envelope_missing', `${whereOf(version)} the log does not say that it was erased.`);
  }

  #proofText(tenantId: string, { snapshot_id: id }: ErasedVersion, options: CallOptions): Promise<string> {
    const path = pathOf('v1', 'tenants', tenantId, 'snapshots', id, 'log-proof');
    return this.transport.text({ method: 'GET', path, query: { wait: WAIT_SECONDS } }, options);
  }

  /**
   * Verifies the checkpoint of a bundle and returns a function that proves its lines. It refuses an entry after a stored checkpoint whose time
   * is before that checkpoint.
   *
   * @throws VerificationError
   */
  async bundle(note: string, floors: Floors, options: CallOptions): Promise<BundleProof> {
    const verified = await this.#accept(note, floors, options);
    const checkpoint = shown(note, verified);
    const floor = floors.get(checkpoint.origin);
    const lineage = new LineageProof(verified.checkpoint);
    return (version, line) => {
      const where = whereOf(version);
      const { logIndex, tenantId, writtenBy, proved } = lineage.line(where, line);
      if (proved === 'place') return { logIndex, place: null };
      const { created_at: at } = version;
      if (floor !== undefined && at !== undefined) requireNotBackdated(where, logIndex, at, floor);
      return { logIndex, place: { logIndex, tenantId, writtenBy, checkpoint } };
    };
  }

  /**
   * Checks that a checkpoint satisfies the policy and continues the stored one, and stores the newest.
   *
   * @param floors the stored checkpoints before the request. The log must not show an older one
   */
  async #accept(note: string, floors: Floors, options: CallOptions): Promise<VerifiedCheckpoint> {
    const policy = await this.#policy;
    const verified = await held(() => verifyCheckpoint(note, policy));
    this.#requireNotAhead(verified);
    const { checkpoint } = verified;
    const floor = floors.get(checkpoint.origin)?.size ?? 0;
    if (checkpoint.size < floor) {
      throw new VerificationError('checkpoint_older', `The log shows ${checkpoint.size} entries after ${floor}.`, {
        evidence: [note, (await this.#store.read(checkpoint.origin)) ?? ''],
      });
    }
    for (let race = 1; race <= MAX_RACES; race++) {
      const before = await this.#store.read(checkpoint.origin);
      if (before !== undefined) {
        if (before === note) return verified;
        const { checkpoint: kept } = await this.#keptCheckpoint(before, policy);
        const [older, newer] = kept.size <= checkpoint.size ? [kept, checkpoint] : [checkpoint, kept];
        await this.#requireContinued(older, newer, [before, note], options);
        if (kept.size >= checkpoint.size) return verified;
      }
      if (await this.#store.replace(checkpoint.origin, before, note)) return verified;
    }
    throw new VerificationError('checkpoint', 'The store is busy.');
  }

  /** Returns the stored checkpoint of each log in the policy. */
  async floors(): Promise<Floors> {
    const policy = await this.#policy;
    const floors = new Map<string, Floor>();
    for (const { key } of policy.logs) {
      const note = await this.#store.read(key.name);
      if (note !== undefined) floors.set(key.name, floorOf(await this.#keptCheckpoint(note, policy)));
    }
    return floors;
  }

  /** Verifies a stored note without its quorum, which was verified before. */
  async #keptCheckpoint(note: string, policy: Policy): Promise<VerifiedCheckpoint> {
    if (this.#lastKept?.note === note) return this.#lastKept.verified;
    const verified = await held(() => verifyCheckpoint(note, { ...policy, quorum: null }));
    this.#lastKept = { note, verified };
    return verified;
  }
  #lastKept: { note: string; verified: VerifiedCheckpoint } | undefined;

  async #requireContinued(
    older: Checkpoint,
    newer: Checkpoint,
    evidence: readonly string[],
    options: CallOptions,
  ): Promise<void> {
    const isProofNeeded = older.size > 0 && older.size < newer.size;
    const query = { from: older.size, to: newer.size };
    try {
      const { proof } = isProofNeeded
        ? decode<{ proof: string[] }>(
            await this.transport.text({ method: 'GET', path: '/log/consistency', query }, options),
            { proof: [''] },
          )
        : { proof: [] };
      const hashes = proof.map((hash) => decodeHash(hash, 'hash of the consistency proof'));
      verifyConsistency(older, newer, hashes);
    } catch (cause) {
      // A log that cannot prove consistency counts as forked.
      const isRefused = cause instanceof TlogError || (cause instanceof ApiError && [400, 404].includes(cause.status));
      if (!isRefused) throw cause;
      const message = `The log of ${newer.size} entries does not continue: ${cause.message}`;
      throw new VerificationError('forked', message, { evidence, cause });
    }
  }

  #requireNotAhead(verified: VerifiedCheckpoint): void {
    const latest = this.now() + CLOCK_SKEW_MS;
    for (const { key, time } of signaturesOf(verified)) {
      if (time === null || time * 1000 <= latest) continue;
      throw new VerificationError('clock', `${key.name} signed in the future, ${time} s.`);
    }
  }
}

/** @internal The stored checkpoints by log, before a request. */
export type Floors = ReadonlyMap<string, Floor>;

/** @internal Proves a version with its line of a bundle. @throws VerificationError */
export type BundleProof = (version: ErasedVersion, line: BundleLine) => ProvedPlace;

function whereOf({ snapshot_version: version }: ErasedVersion): string {
  return `Version ${version}:`;
}

function shown(note: string, { checkpoint, cosignatures }: VerifiedCheckpoint): ProvedCheckpoint {
  const { origin, size } = checkpoint;
  return { origin, size, note, cosignedBy: cosignatures.map(({ signature }) => signature.key.name) };
}

/** Turns a TlogError into a VerificationError `checkpoint`. */
async function held<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof TlogError)) throw cause;
    throw new VerificationError('checkpoint', cause.message, { cause });
  }
}
