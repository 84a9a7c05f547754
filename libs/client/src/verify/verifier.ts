import type { JsonValue } from '@iss/domain/pure';
import type { BundleLine, Expected } from '@iss/proof';
import { ConfigurationError, type ErasureReceipt, VerificationError } from '../errors.ts';
import type * as api from '../generated/types.ts';
import { pageLike, pagesOf } from '../http/pages.ts';
import { type CallOptions, pathOf, type Transport } from '../http/transport.ts';
import { HEADER } from '../shapes.ts';
import type { SnapshotHeader, Verify, Version } from '../types.ts';
import { KnownVersions, type VersionLink } from './known-versions.ts';
import { gap } from './gap.ts';
import type { HashContent } from './hash.ts';
import type { Floors, LogPlace, LogTrust, ProvedAbsence } from './log.ts';
import { type Asked, linkOf, requireAsked, requireVersion, verifySnapshot } from './snapshot.ts';

/** The verification of a returned snapshot. */
export interface Verification {
  readonly mode: Exclude<Verify, false>;
  /** The place in the log; null without a log proof. */
  readonly log: LogPlace | null;
}

const verifications = new WeakMap<object, Verification>();

/** Returns how a snapshot was verified; undefined if `verify` was false. */
export function verificationOf(snapshot: object): Verification | undefined {
  return verifications.get(snapshot);
}

/** @internal Returns whether the mode needs proofs of the log. */
export function usesLog(mode: Verify): boolean {
  return mode === 'log' || mode === 'complete';
}

/** The page size of chain proofs in the service. */
const CHAIN_PAGE = 200;

/** @internal Verifies answers in the requested mode and remembers the versions. */
export class AnswerVerifier {
  readonly known = new KnownVersions();
  /** By subject, the version from which the links are known to lead to version 1. */
  readonly #rooted = new Map<string, number>();

  constructor(
    private readonly transport: Transport,
    private readonly log: LogTrust | null,
    private readonly usual: Verify,
    private readonly hash: HashContent | undefined,
  ) {}

  /**
   * Returns the mode of a call. `complete` is `log` for answers that need not be the newest.
   *
   * @throws ConfigurationError for `log` without `trust`
   */
  modeOf(wanted: Verify | undefined, isNewest = false): Verify {
    const mode = wanted ?? this.usual;
    if (usesLog(mode)) this.requireLog();
    return mode === 'complete' && !isNewest ? 'log' : mode;
  }

  /** @throws ConfigurationError without `trust` */
  requireLog(): LogTrust {
    if (this.log !== null) return this.log;
    throw new ConfigurationError('Set `trust`.');
  }

  /** Verifies a version of an answer. @throws VerificationError */
  async version<A>(
    tenantId: string,
    value: JsonValue | undefined,
    asked: Asked,
    mode: Verify,
    options: CallOptions,
  ): Promise<Version<A>> {
    const version = requireVersion<A>(value);
    if (mode === false) return version;
    const link = await verifySnapshot(version, asked, this.hash);
    this.known.note(link);
    if (mode === 'chain') await this.#root(tenantId, link, options);
    const log = usesLog(mode) ? await this.#place(tenantId, link, version, options, mode === 'complete') : null;
    verifications.set(version, { mode, log });
    return version;
  }

  /** Returns the stored checkpoints. Call it before the request for a {@link bundle}. */
  async floors(): Promise<Floors> {
    return this.requireLog().floors();
  }

  /** Verifies the checkpoint of a bundle and returns a function that proves its lines. @throws VerificationError */
  async bundle(
    checkpoint: string,
    floors: Floors,
    options: CallOptions,
  ): Promise<(version: Version<unknown>, line: BundleLine) => Promise<void>> {
    const prove = await this.requireLog().bundle(checkpoint, floors, options);
    return async (version, line) => {
      const proved = await prove(line);
      this.known.noteEntry(linkOf(version, ''), proved.logIndex);
      verifications.set(version, { mode: 'log', log: proved.place });
    };
  }

  /** Proves the first number that a stream does not have. @throws VerificationError */
  async absence(path: string, stream: string, holder: Expected, options: CallOptions): Promise<ProvedAbsence> {
    const { number, checkpoint } = await this.requireLog().mapped<{ number: number }>(
      [`${path}/absence-proof`, { stream }],
      { number: 0 },
      { ...holder, stream },
      options,
    );
    return { number, checkpoint };
  }

  /** Checks that a version without content is consistent with seen versions. @throws VerificationError */
  claim(
    claimed: Pick<SnapshotHeader, 'snapshot_id' | 'snapshot_version' | 'envelope_hash' | 'prev_hash'>,
    subject: api.SubjectRef,
  ): void {
    if (claimed.envelope_hash !== null) this.known.note(linkOf({ ...claimed, subject }, claimed.envelope_hash));
  }

  /** Proves the erasure that a 410 reports for the requested version. @throws VerificationError */
  async erased(tenantId: string, receipt: ErasureReceipt, asked: Asked, options: CallOptions): Promise<void> {
    const { subjectType, subjectId } = asked;
    requireAsked('The erasure', receipt, asked, 'other_version');
    const isNamed = subjectType !== undefined && subjectId !== undefined;
    const subject = isNamed ? { subject_type: subjectType, subject_id: subjectId } : {};
    const { place } = await this.requireLog().prove(tenantId, { ...receipt, subject }, true, options);
    if (place !== null && isNamed) this.claim(receipt, { subject_type: subjectType, subject_id: subjectId });
  }

  /** Follows the links of a version to version 1, or to a version that was followed before. */
  async #root(tenantId: string, link: VersionLink, options: CallOptions): Promise<void> {
    const { subjectType, subjectId, version } = link;
    const subject = `${subjectType}\n${subjectId}`;
    const rooted = this.#rooted.get(subject) ?? 0;
    const keep = (): void => void this.#rooted.set(subject, Math.max(version, this.#rooted.get(subject) ?? 0));
    // The link of this version was already checked.
    if (version <= rooted + 1) {
      keep();
      return;
    }
    const path = pathOf('v1', 'tenants', tenantId, 'subjects', subjectType, subjectId, 'chain-proof');
    let before: number | null = null;
    for await (const { items } of pagesOf(
      this.transport,
      path,
      { limit: CHAIN_PAGE },
      options,
      pageLike<api.ChainItem>(HEADER),
    )) {
      for (const item of items) {
        const { snapshot_version: at, chain_valid: isValid } = item;
        if (before === null ? at < version : at !== before - 1) throw gap(subjectId, before ?? version + 1, at);
        if (isValid === false) throw new VerificationError('chain', `Version ${at} is invalid.`);
        this.claim(item, { subject_type: subjectType, subject_id: subjectId });
        before = at;
        if (at <= version && (at === 1 || at <= rooted + 1)) {
          keep();
          return;
        }
      }
    }
    throw gap(subjectId, before ?? version + 1, 0);
  }

  async #place(
    tenantId: string,
    link: VersionLink,
    version: Version<unknown>,
    options: CallOptions,
    isNewest: boolean,
  ): Promise<LogPlace | null> {
    const isErased = version.envelope === undefined;
    const { logIndex, place } = await this.requireLog().prove(tenantId, version, isErased, options, isNewest);
    this.known.noteEntry(link, logIndex);
    return place;
  }
}
