import type { JsonValue } from '@iss/domain/pure';
import { ConfigurationError, type ErasureReceipt, VerificationError } from '../errors.ts';
import type * as api from '../generated/types.ts';
import { pageLike, pagesOf } from '../http/pages.ts';
import { type CallOptions, pathOf, type Transport } from '../http/transport.ts';
import { HEADER } from '../shapes.ts';
import type { SnapshotHeader, Verify, Version } from '../types.ts';
import { KnownVersions, type Link } from './known-versions.ts';
import { gap } from './gap.ts';
import type { BundleLine } from './lineage-proof.ts';
import type { Floors, LogPlace, LogTrust } from './log.ts';
import { type Asked, linkOf, requireVersion, verifySnapshot } from './snapshot.ts';

/** What was verified of a snapshot that was handed over. */
export interface Verification {
  readonly mode: Exclude<Verify, false>;
  /** Where the log has it; null where it was not asked. */
  readonly log: LogPlace | null;
}

const verifications = new WeakMap<object, Verification>();

/** What was verified of a snapshot before it was handed over; undefined where `verify` was false. */
export function verificationOf(snapshot: object): Verification | undefined {
  return verifications.get(snapshot);
}

/** Items of a page of a chain proof: as many as the service gives. */
const CHAIN_PAGE = 200;

/** @internal verifies what was answered, in one of the ways that there are, and remembers it */
export class Verifier {
  readonly known = new KnownVersions();
  /** Up to which version a subject's links are known to lead down to version 1. */
  readonly #rooted = new Map<string, number>();

  constructor(
    private readonly transport: Transport,
    private readonly log: LogTrust | null,
    private readonly usual: Verify,
  ) {}

  /** @throws ConfigurationError for `log` without anybody to trust */
  modeOf(wanted: Verify | undefined): Verify {
    const mode = wanted ?? this.usual;
    if (mode === 'log') this.requireLog();
    return mode;
  }

  /** @throws ConfigurationError where nobody is trusted */
  requireLog(): LogTrust {
    if (this.log !== null) return this.log;
    throw new ConfigurationError('Nobody is trusted: give `trust`.');
  }

  /** A version of an answer, verified. @throws VerificationError */
  async version<A>(
    tenantId: string,
    value: JsonValue | undefined,
    asked: Asked,
    mode: Verify,
    options: CallOptions,
  ): Promise<Version<A>> {
    const version = requireVersion<A>(value);
    if (mode === false) return version;
    const link = await verifySnapshot(version, asked);
    this.known.note(link);
    if (mode === 'chain') await this.#root(tenantId, link, options);
    const log = mode === 'log' ? await this.#place(tenantId, link, version, options) : null;
    verifications.set(version, { mode, log });
    return version;
  }

  /** For {@link bundle}: what the log had shown before the bundle was asked for. */
  async floors(): Promise<Floors> {
    return this.requireLog().floors();
  }

  /** Proves the lines of a bundle. @throws VerificationError */
  async bundle(
    checkpoint: string,
    floors: Floors,
    options: CallOptions,
  ): Promise<(version: Version<unknown>, line: BundleLine) => void> {
    const prove = await this.requireLog().bundle(checkpoint, floors, options);
    return (version, line) => {
      const proved = prove(version, line);
      this.known.noteEntry(linkOf(version, ''), proved.logIndex);
      verifications.set(version, { mode: 'log', log: proved.place });
    };
  }

  /** What an answer claims of a version without its content: it must fit what was seen. @throws VerificationError */
  claim(
    claimed: Pick<SnapshotHeader, 'snapshot_id' | 'snapshot_version' | 'envelope_hash' | 'prev_hash'>,
    subject: api.SubjectRef,
  ): void {
    if (claimed.envelope_hash !== null) this.known.note(linkOf({ ...claimed, subject }, claimed.envelope_hash));
  }

  /** Proves what a 410 says instead of a version: that it is the one that was asked for, and was erased. @throws VerificationError */
  async erased(
    tenantId: string,
    receipt: ErasureReceipt,
    { subjectType, subjectId, version, snapshotId }: Asked,
    options: CallOptions,
  ): Promise<void> {
    const { snapshot_version: found, snapshot_id: id } = receipt;
    if ((version ?? found) !== found || (snapshotId ?? id).toLowerCase() !== id.toLowerCase()) {
      throw new VerificationError('other_version', `The erasure is that of version ${found}.`);
    }
    const isNamed = subjectType !== undefined && subjectId !== undefined;
    const subject = isNamed ? { subject_type: subjectType, subject_id: subjectId } : {};
    const erased = { ...receipt, subject };
    const { place } = await this.requireLog().prove(tenantId, erased, true, options);
    if (place !== null && isNamed) this.claim(receipt, { subject_type: subjectType, subject_id: subjectId });
  }

  /** Follows the links of a version down to version 1, or to where they were followed before. */
  async #root(tenantId: string, link: Link, options: CallOptions): Promise<void> {
    const { subjectType, subjectId, version } = link;
    const subject = `${subjectType}\n${subjectId}`;
    const rooted = this.#rooted.get(subject) ?? 0;
    const keep = (): void => void this.#rooted.set(subject, Math.max(version, this.#rooted.get(subject) ?? 0));
    // Its own link was compared when it was noted.
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
        if (isValid === false) {
          throw new VerificationError('chain', `Version ${at} does not hold, says the service.`);
        }
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
    link: Link,
    version: Version<unknown>,
    options: CallOptions,
  ): Promise<LogPlace | null> {
    const isErased = version.envelope === undefined;
    const { logIndex, place } = await this.requireLog().prove(tenantId, version, isErased, options);
    this.known.noteEntry(link, logIndex);
    return place;
  }
}
