import type { JsonObject } from '@iss/domain/pure';
import {
  type BundleLine,
  type EntryProof,
  type Expected,
  type Floor,
  floorOf,
  LineageProof,
  type LoggedVersion,
  requireCheckpoint,
  requireContinued,
  requireMembers,
  withoutQuorum,
} from '@iss/proof';
import type { Checkpoint, Policy, VerifiedCheckpoint } from '@iss/tlog';
import { ApiError, ConfigurationError, ErasedError, VerificationError } from '../errors.ts';
import { decode, parseAnswer } from '../http/answer.ts';
import { requireLike, type AnswerShape } from '../http/shape.ts';
import { type CallOptions, pathOf, type Query, type Transport } from '../http/transport.ts';
import { VERSION } from '../shapes.ts';
import { hasView, requireNoRefusal } from './snapshot.ts';
import { policyOf, storeOf, type Trust } from './trust.ts';
import type { TrustStore } from './trust-store.ts';

const ENTRY = { log_index: 0, inclusion: [''], entry: '' } as const;
const SIGNED_PROOF = { ...ENTRY, checkpoint: '' } as const;

/** An answer that uses the map. */
interface MapAnswer {
  readonly map: { readonly checkpoint: string };
}

/** @internal A line of a bundle. */
export const BUNDLE_LINE = {
  snapshot: VERSION,
  log_index: 0,
  inclusion: [''],
  entry: null,
  leaf_hash: null,
  erased: { '?': { log_index: 0 } },
} as const;

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

/** The proved end of a stream of facts. */
export interface ProvedAbsence {
  /** The first number that the stream does not have. */
  readonly number: number;
  readonly checkpoint: ProvedCheckpoint;
}

/** The proved newest state of a grant. `live`: nothing happened since it was created. */
export interface ProvedGrantState {
  readonly state: 'live' | 'changed' | 'revoked';
  /** The number of events of the grant. */
  readonly number: number;
  readonly checkpoint: ProvedCheckpoint;
}

/** @internal The facts of a version, also from a receipt or a history header of an erased one. */
export type ErasedFacts = Omit<LoggedVersion, 'written_by' | 'write_request_id'>;

/** @internal The proved index of a version. `place` is null if the version is erased and the entry of the erasure does not name it. */
export interface ProvedIndex {
  readonly logIndex: number;
  readonly place: LogPlace | null;
}

/** The proof of an erasure in a receipt. */
interface ErasureProof extends Omit<EntryProof, 'entry'> {
  readonly leaf_hash: string;
  readonly erasure: EntryProof & { readonly checkpoint: string };
}
const ERASURE_PROOF = { log_index: 0, inclusion: [''], leaf_hash: '', erasure: SIGNED_PROOF };

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
    private readonly trust: Trust,
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
   * Proves that the log has a version, or for an erased one its erasure. With `isNewest`, proves that it has no newer one.
   *
   * @throws VerificationError, `envelope_missing` if an erasure is not proved; NotLoggedYetError if the log is behind for longer than the
   *   call may take
   */
  async prove(
    tenantId: string,
    version: ErasedFacts,
    isErased: boolean,
    options: CallOptions,
    isNewest = false,
  ): Promise<ProvedIndex> {
    const floors = await this.floors();
    const { checkpoint, ...line } = isNewest
      ? await this.#newestOf(tenantId, version, options)
      : await this.#lineOf(tenantId, version, isErased, options);
    const prove = await this.bundle(checkpoint, floors, options);
    // The proof of the newest version does not prove the view of an older entry.
    if (!isNewest || !hasView(version)) return prove({ ...line, snapshot: version });
    const header: ErasedFacts & { view: undefined } = { ...version, view: undefined };
    const { logIndex: at } = await prove({ ...line, snapshot: header });
    const proved = await this.prove(tenantId, version, isErased, options);
    requireMembers('The version', { at: proved.logIndex }, { at }, 'logged_twice');
    return proved;
  }

  async #newestOf(
    tenantId: string,
    { subject: { subject_type = '', subject_id = '' }, snapshot_version }: ErasedFacts,
    options: CallOptions,
  ): Promise<EntryProof & { checkpoint: string }> {
    const path = pathOf('v1', 'tenants', tenantId, 'subjects', subject_type, subject_id, 'latest-proof');
    const { head, checkpoint } = await this.mapped<{ head: EntryProof }>(
      [path],
      { head: ENTRY },
      { subject_type, subject_id, snapshot_version },
      options,
    );
    return { ...head, checkpoint: checkpoint.note };
  }

  /**
   * Requests an answer that uses the map, and verifies it.
   *
   * @param expected members of the answer
   * @throws VerificationError, ConfigurationError without a VRF key
   */
  async mapped<T extends object>(
    [path, query]: readonly [path: string, query?: Query],
    shape: AnswerShape<T>,
    expected: Expected,
    options: CallOptions,
  ): Promise<T & { checkpoint: ProvedCheckpoint }> {
    const floors = await this.floors();
    const text = await this.transport.text({ method: 'GET', path, query: { wait: WAIT_SECONDS, ...query } }, options);
    const answer: unknown = parseAnswer(text);
    requireLike<JsonObject & T & MapAnswer>(answer, { map: { checkpoint: '' }, ...shape });
    requireMembers('The proof', answer, expected, 'not_newest');
    const { checkpoint: note } = answer.map;
    const checkpoint = shown(note, await this.#accept(note, floors, options));
    await this.requireNewest(answer);
    return { ...answer, checkpoint };
  }

  /** Verifies what an answer states about the map. The code is loaded for it. @throws VerificationError */
  async requireNewest(answer: JsonObject): Promise<void> {
    const policy = await this.#policy;
    const { vrfKey } = policy;
    if (vrfKey === null) throw new ConfigurationError('Set trust.vrfKey.');
    const { refusalOf } = await import('./map.ts');
    requireNoRefusal(await refusalOf(answer, { ...this.trust, policy, vrfKey, now: this.now() }));
  }

  async #lineOf(
    tenantId: string,
    { snapshot_id: id, snapshot_version: version }: ErasedFacts,
    isErased: boolean,
    options: CallOptions,
  ): Promise<Omit<BundleLine, 'snapshot'> & { checkpoint: string }> {
    const path = pathOf('v1', 'tenants', tenantId, 'snapshots', id, 'log-proof');
    try {
      const text = await this.transport.text({ method: 'GET', path, query: { wait: WAIT_SECONDS } }, options);
      if (!isErased) return decode<EntryProof & { checkpoint: string }>(text, SIGNED_PROOF);
    } catch (error) {
      if (!isErased || !(error instanceof ErasedError)) throw error;
      const proof: unknown = error.receipt?.proof;
      requireLike<ErasureProof>(proof, ERASURE_PROOF);
      const { erasure } = proof;
      return { ...proof, erased: erasure, checkpoint: erasure.checkpoint };
    }
    throw new VerificationError('envelope_missing', `Version ${version}: the log does not say that it was erased.`);
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
    const lineage = new LineageProof(verified.checkpoint, floors.get(checkpoint.origin) ?? null);
    return async (line) => {
      const { snapshot } = line;
      const { logIndex, tenantId, writtenBy, proved } = lineage.line(`Version ${snapshot.snapshot_version}:`, line);
      if (hasView(snapshot)) {
        const { refusalOfView } = await import('./view.ts');
        requireNoRefusal(refusalOfView(snapshot, line, verified.checkpoint));
      }
      return { logIndex, place: proved === 'place' ? null : { logIndex, tenantId, writtenBy, checkpoint } };
    };
  }

  /**
   * Checks that a checkpoint satisfies the policy and continues the stored one, and stores the newest.
   *
   * @param floors the stored checkpoints before the request. The log must not show an older one
   */
  async #accept(note: string, floors: Floors, options: CallOptions): Promise<VerifiedCheckpoint> {
    const verified = await this.#verify(note, await this.#policy);
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
        const { checkpoint: kept } = await this.#keptCheckpoint(before);
        await this.#requireContinued(kept, checkpoint, [before, note], options);
        if (kept.size >= checkpoint.size) return verified;
      }
      if (await this.#store.replace(checkpoint.origin, before, note)) return verified;
    }
    throw new VerificationError('checkpoint', 'The store is busy.');
  }

  /** Returns the stored checkpoint of each log in the policy. */
  async floors(): Promise<Floors> {
    const floors = new Map<string, Floor>();
    for (const { key } of (await this.#policy).logs) {
      const note = await this.#store.read(key.name);
      if (note !== undefined) floors.set(key.name, floorOf(await this.#keptCheckpoint(note)));
    }
    return floors;
  }

  /** Verifies a stored note without its quorum, which was verified before. */
  async #keptCheckpoint(note: string): Promise<VerifiedCheckpoint> {
    if (this.#lastKept?.note === note) return this.#lastKept.verified;
    const verified = await this.#verify(note, withoutQuorum(await this.#policy));
    this.#lastKept = { note, verified };
    return verified;
  }
  #lastKept: { note: string; verified: VerifiedCheckpoint } | undefined;

  async #requireContinued(
    known: Checkpoint,
    checkpoint: Checkpoint,
    evidence: readonly string[],
    options: CallOptions,
  ): Promise<void> {
    try {
      const where = `The log of ${checkpoint.size} entries does not continue`;
      await requireContinued(where, known, checkpoint, async (from, to) => {
        const request = { method: 'GET', path: '/log/consistency', query: { from, to } } as const;
        return decode<{ proof: string[] }>(await this.transport.text(request, options), { proof: [''] }).proof;
      });
    } catch (cause) {
      // A log that cannot prove consistency counts as forked.
      const isRefused =
        cause instanceof VerificationError || (cause instanceof ApiError && [400, 404].includes(cause.status));
      if (!isRefused) throw cause;
      throw new VerificationError('forked', cause.message, { evidence, cause });
    }
  }

  #verify(note: string, policy: Policy): Promise<VerifiedCheckpoint> {
    return requireCheckpoint(note, policy, 'The checkpoint', this.now());
  }
}

/** @internal The stored checkpoints by log, before a request. */
export type Floors = ReadonlyMap<string, Floor>;

/** @internal Proves a version with its line of a bundle. @throws VerificationError */
export type BundleProof = (line: BundleLine) => Promise<ProvedIndex>;

function shown(note: string, { checkpoint, cosignatures }: VerifiedCheckpoint): ProvedCheckpoint {
  const { origin, size } = checkpoint;
  return { origin, size, note, cosignedBy: cosignatures.map(({ signature }) => signature.key.name) };
}
