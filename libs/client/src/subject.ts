import { patchOf, requireWritten } from './versions/compare.ts';
import { ConflictError, StaleBaseError, VerificationError, type VerificationFailure } from './errors.ts';
import type * as api from './generated/types.ts';
import { bundleLinesOf, exportOf, headersOf, historyOf, type HistoryOptions, type Lineage } from './history.ts';
import { call } from './http/call.ts';
import type { Filter } from './http/operation.ts';
import { type CallOptions, pathOf, queryText, type Transport } from './http/transport.ts';
import { timeText } from './json.ts';
import { MAX_CHANGE_ROUNDS } from './limits.ts';
import { readSnapshot, type ReadOptions } from './versions/read.ts';
import { type DisclosureFilter, type ProvenanceFilter, RefreshRequests, Resource } from './resources.ts';
import { CREATED_GRANT, DISCLOSURE, ERASURE, GRANT, HEADER, LEAF, OPERATION, PERIOD, UPDATE } from './shapes.ts';
import type { Envelope, Evidence, Snapshot, SnapshotHeader, SubjectType, Version } from './types.ts';
import type { ProvedAbsence } from './verify/log.ts';
import { linkOf } from './verify/snapshot.ts';
import type { AnswerVerifier } from './verify/verifier.ts';

/** Selects the newest version at a time: by storage time (`recorded`) or by the time that its writer set (`effective`). */
export interface AsOf {
  asOf?: Date | string | undefined;
  basis?: 'recorded' | 'effective' | undefined;
}

export interface ChangeOptions extends ReadOptions {
  /** Evidence to add. It is linked to each changed value for which the draft names no evidence. */
  evidence?: readonly Evidence[] | undefined;
  /** The initiator, if it is not the caller. */
  initiatedBy?: string | undefined;
}

/** Attempts to read the latest version if an answer is older than a seen version. */
const LATEST_ATTEMPTS = 4;
const LATEST_PAUSE_MS = 250;
/** The failures of an answer that a newer one can follow. */
const OLDER: readonly VerificationFailure[] = ['rolled_back', 'not_newest'];

/** A subject that the tenant owns or may read. `A` is the type of its attributes, which is not checked. */
export class Subject<A extends object> extends Resource {
  readonly refreshRequests: RefreshRequests;
  private readonly asked: { readonly subjectType: SubjectType; readonly subjectId: string };

  /** @internal Created by `Tenant`. */
  constructor(
    transport: Transport,
    private readonly verifier: AnswerVerifier,
    private readonly tenantId: string,
    readonly subjectType: SubjectType,
    readonly subjectId: string,
  ) {
    super(transport, pathOf('v1', 'tenants', tenantId, 'subjects', subjectType, subjectId));
    this.asked = { subjectType, subjectId };
    this.refreshRequests = new RefreshRequests(
      transport,
      `${pathOf('v1', 'subjects', subjectType, subjectId)}/refresh-requests`,
    );
  }

  /**
   * Reads the latest version, or the version that was the latest at a time (`asOf`).
   *
   * @throws VerificationError, NotFoundError, ErasedError, ForbiddenError
   */
  async latest({ asOf, basis, ...options }: ReadOptions & AsOf = {}): Promise<Snapshot<A>> {
    const seen = asOf === undefined ? this.verifier.known.headOf(this.subjectType, this.subjectId) : 0;
    for (let attempt = 1; ; attempt++) {
      try {
        const query = { as_of: timeText(asOf), basis };
        const snapshot = await this.#read('snapshots/latest', query, {}, options, asOf === undefined);
        // Unverified versions are not remembered.
        if (this.verifier.modeOf(options.verify) === false) return snapshot;
        if (asOf !== undefined) this.verifier.known.requireNewestAt(linkOf(snapshot, ''), asOf, basis ?? 'recorded');
        if (snapshot.snapshot_version >= seen) return snapshot;
        throw new VerificationError('rolled_back', `Version ${snapshot.snapshot_version} is older than ${seen}.`);
      } catch (error) {
        const isOlder = error instanceof VerificationError && OLDER.includes(error.failure);
        if (!isOlder || attempt === LATEST_ATTEMPTS) throw error;
      }
      await this.transport.pause(LATEST_PAUSE_MS, options.signal);
    }
  }

  /**
   * Proves how many versions (`v`), changes of access (`a`), grants to the tenant (`p`) or disclosures (`r`) the log has. The result has the
   * first number that it does not have: 1 means none. Needs `trust` with a VRF key.
   *
   * @throws VerificationError
   */
  async absence(stream: 'v' | 'a' | 'p' | 'r', options: CallOptions = {}): Promise<ProvedAbsence> {
    return this.verifier.absence(this.path, stream, { tenant_id: this.tenantId, ...this.#ref }, options);
  }

  /** Reads a version by its number. @throws VerificationError, NotFoundError, ErasedError, ForbiddenError */
  async version(version: number, options: ReadOptions = {}): Promise<Snapshot<A>> {
    return this.#read(`snapshots/${version}`, {}, { version }, options);
  }

  /** Lists all versions with their content, newest first by default. */
  history(options: HistoryOptions = {}): AsyncGenerator<Version<A>, void, undefined> {
    return historyOf(this.#lineage(), options);
  }

  /** Lists all versions without their content. */
  headers(options: HistoryOptions = {}): AsyncGenerator<SnapshotHeader, void, undefined> {
    return headersOf(this.#lineage(), options);
  }

  /** Streams all versions with their content, oldest first. With `log`, one checkpoint proves them all. */
  export(options: ReadOptions = {}): AsyncGenerator<Version<A>, void, undefined> {
    return exportOf(this.#lineage(), options);
  }

  /**
   * Streams the unverified lines of a bundle with the whole history and its proofs. `iss verify` or the page Verify of the console verifies it
   * offline.
   */
  bundle(options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return bundleLinesOf(this.#lineage(), options);
  }

  /**
   * Changes the subject. `edit` changes a draft of the latest version. The differences are proposed and applied as a minimal patch
   * (RFC 6902). If another writer was faster, `edit` runs again on the new latest version.
   *
   * @returns the new version, or the latest one if the draft has no changes
   * @throws StaleBaseError if other writers were faster each time; ValidationError; VerificationError `written` if the new version differs
   *   from the base with the patch
   */
  async change(
    edit: (draft: Envelope<A>, base: Snapshot<A>) => void | Promise<void>,
    { evidence = [], initiatedBy, ...options }: ChangeOptions = {},
  ): Promise<Snapshot<A>> {
    for (let round = 1; ; round++) {
      const base = await this.latest(options);
      const draft = structuredClone(base.envelope);
      await edit(draft, base);
      const patch = patchOf(base.envelope, draft, evidence);
      if (patch.length === 0) return base;
      try {
        return await this.#applyPatch(base, patch, initiatedBy, options);
      } catch (error) {
        if (!(error instanceof StaleBaseError) || round === MAX_CHANGE_ROUNDS) throw error;
      }
    }
  }

  /** Proposes a patch of the latest version. Nothing changes until `apply`. */
  async propose(
    proposal: Omit<api.ProposeSubjectUpdateBody, 'subject_id'>,
    options: CallOptions = {},
  ): Promise<api.Update> {
    return this.call('POST', '/updates', UPDATE, options, { subject_id: this.subjectId, ...proposal });
  }

  /** Lists the updates, newest first. */
  updates(
    filter: Filter<'/v1/tenants/{tenant_id}/entity-state-updates'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Update, void, undefined> {
    return this.items('/updates', UPDATE, filter, options);
  }

  async update(updateId: string, options: CallOptions = {}): Promise<api.Update> {
    return this.call('GET', `/updates${pathOf(updateId)}`, UPDATE, options, undefined, { update_id: updateId });
  }

  /** Applies an update as the next version. @throws StaleBaseError if another version was written meanwhile */
  async apply(updateId: string, options: CallOptions = {}): Promise<api.AppliedUpdate> {
    return this.call('POST', `/updates${pathOf(updateId)}/apply`, HEADER, options);
  }

  async withdraw(updateId: string, options: CallOptions = {}): Promise<api.Update> {
    return this.call('POST', `/updates${pathOf(updateId)}/withdraw`, UPDATE, options, undefined, {
      update_id: updateId,
      status: 'withdrawn',
    });
  }

  /** Returns the diff of the service, with evidence. It is not verified. For a verified diff, use `compare` on verified versions. */
  async diff(versions: { from: number; to: number }, options: CallOptions = {}): Promise<api.VersionDiffResult> {
    const query = queryText({ from_version: versions.from, to_version: versions.to });
    const says = { from_version: versions.from, to_version: versions.to, subject: this.#ref };
    return this.call('GET', `/diff${query}`, { ops: [OPERATION] }, options, undefined, says);
  }

  /** Lists when, by whom and from what evidence each value was set. The service reports it, and nothing is verified. */
  provenance(
    filter: ProvenanceFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Provenance['items'][number], void, undefined> {
    return this.items('/provenance', LEAF, { ...filter }, options);
  }

  /** Grants another tenant read access to the subject. */
  async share(
    grant: Omit<api.CreateGrantBody, 'subject_type' | 'subject_id'>,
    options: CallOptions = {},
  ): Promise<api.CreatedGrant> {
    const path = pathOf('v1', 'tenants', this.tenantId, 'grants');
    return call(this.transport, ['POST', path], CREATED_GRANT, options, { ...grant, ...this.#ref });
  }

  /** Lists all grants on the subject, including ended ones. */
  grants(options: CallOptions = {}): AsyncGenerator<api.Grant, void, undefined> {
    return this.items('/grants', GRANT, {}, options);
  }

  /** Lists who could read the subject, and when. */
  accessHistory(options: CallOptions = {}): AsyncGenerator<api.AccessPeriod, void, undefined> {
    return this.items('/access-history', PERIOD, {}, options);
  }

  /** Lists the erasures of the subject, newest first, including pending and cancelled ones. */
  erasures(options: CallOptions = {}): AsyncGenerator<api.Erasure, void, undefined> {
    return this.items('/erasures', ERASURE, {}, options);
  }

  /** Lists who was shown which versions. */
  disclosures(
    filter: DisclosureFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Disclosure, void, undefined> {
    return this.items('/disclosures', DISCLOSURE, { ...filter }, options);
  }

  async #applyPatch(
    base: Snapshot<A>,
    patch: api.ProposeSubjectUpdateBody['patch_ops'],
    initiatedBy: string | undefined,
    options: ReadOptions,
  ): Promise<Snapshot<A>> {
    const { update_id: updateId } = await this.propose(
      {
        base_snapshot_version: base.snapshot_version,
        patch_ops: patch,
        // Makes a repeated request return the first result.
        request_id: crypto.randomUUID(),
        ...(initiatedBy === undefined ? {} : { initiated_by: initiatedBy }),
      },
      options,
    );
    const version = base.snapshot_version + 1;
    const applied = await this.#versionOf(updateId, version, options);
    if (applied !== version) {
      throw new VerificationError('written', `Version ${version} was stored as ${applied}.`);
    }
    const written = await this.version(version, options);
    if (this.verifier.modeOf(options.verify) !== false) requireWritten(base.envelope, patch, written.envelope);
    return written;
  }

  /** Applies an update and returns its version, even if the answer to an earlier attempt was lost. */
  async #versionOf(updateId: string, version: number, options: CallOptions): Promise<number> {
    try {
      return (await this.apply(updateId, options)).snapshot_version;
    } catch (error) {
      if (error instanceof StaleBaseError) {
        // A stale update stays proposed and counts towards the limit.
        await this.withdraw(updateId, options).catch(() => undefined);
        throw error;
      }
      if (error instanceof ConflictError && (await this.update(updateId, options)).status === 'applied') return version;
      throw error;
    }
  }

  get #ref(): api.SubjectRef {
    return { subject_type: this.subjectType, subject_id: this.subjectId };
  }

  #lineage(): Lineage {
    const { transport, verifier, tenantId, path, asked } = this;
    return { transport, verifier, tenantId, path, ...asked };
  }

  async #read(
    below: string,
    query: Record<string, string | undefined>,
    asked: { version?: number },
    options: ReadOptions,
    isNewest = false,
  ): Promise<Snapshot<A>> {
    return readSnapshot(
      this.transport,
      this.verifier,
      { tenantId: this.tenantId, path: `${this.path}/${below}`, query, asked: { ...this.asked, ...asked }, isNewest },
      options,
    );
  }
}
