import { patchOf, requireWritten } from './compare.ts';
import { ConflictError, StaleBaseError, VerificationError } from './errors.ts';
import type * as api from './generated/types.ts';
import { bundleLinesOf, exportOf, headersOf, historyOf, type HistoryOptions, type Lineage } from './history.ts';
import { call } from './http/call.ts';
import { type CallOptions, pathOf, queryText, type Transport } from './http/transport.ts';
import { timeText } from './json.ts';
import { MAX_CHANGE_ROUNDS } from './limits.ts';
import { readSnapshot, type ReadOptions } from './read.ts';
import { type DisclosureFilter, type ProvenanceFilter, RefreshRequests, Resource, type Scope } from './resources.ts';
import { CREATED_GRANT, DISCLOSURE, ERASURE, GRANT, HEADER, LEAF, OPERATION, PERIOD, UPDATE } from './shapes.ts';
import type { Envelope, Evidence, Snapshot, SnapshotHeader, SubjectType, Version } from './types.ts';
import { linkOf } from './verify/snapshot.ts';
import type { Verifier } from './verify/verifier.ts';

/** Which version was the newest at a moment: by when it was stored, or by what its writer said (`effective`). */
export interface AsOf {
  asOf?: Date | string | undefined;
  basis?: 'recorded' | 'effective' | undefined;
}

export interface ChangeOptions extends ReadOptions {
  /** From where what changed is known: it is added, and named for each value that the draft changed and says nothing of. */
  evidence?: readonly Evidence[] | undefined;
  /** Who wanted it, where that is somebody else than the caller. */
  initiatedBy?: string | undefined;
}

/** How often the latest version is asked for anew where it is older than one that was seen. */
const LATEST_ATTEMPTS = 4;
const LATEST_PAUSE_MS = 250;

/** A subject as a tenant sees it, which owns it or may read it. `A` is the type of its attributes: the caller's word. */
export class Subject<A extends object> extends Resource {
  readonly refreshRequests: RefreshRequests;
  private readonly asked: { readonly subjectType: SubjectType; readonly subjectId: string };

  /** @internal made by `Tenant` */
  constructor(
    transport: Transport,
    private readonly verifier: Verifier,
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
   * The latest version, or the one that was it at a moment (`asOf`).
   *
   * @throws VerificationError for what does not hold; NotFoundError, ErasedError, ForbiddenError
   */
  async latest({ asOf, basis, ...options }: ReadOptions & AsOf = {}): Promise<Snapshot<A>> {
    const seen = asOf === undefined ? this.verifier.known.headOf(this.subjectType, this.subjectId) : 0;
    for (let attempt = 1; ; attempt++) {
      const snapshot = await this.#read('snapshots/latest', { as_of: timeText(asOf), basis }, {}, options);
      // What was verified by nobody was not seen either.
      if (this.verifier.modeOf(options.verify) === false) return snapshot;
      if (asOf !== undefined) this.verifier.known.requireNewestAt(linkOf(snapshot, ''), asOf, basis ?? 'recorded');
      if (snapshot.snapshot_version >= seen) return snapshot;
      if (attempt === LATEST_ATTEMPTS) {
        throw new VerificationError('rolled_back', `Version ${seen} came before version ${snapshot.snapshot_version}.`);
      }
      await this.transport.pause(LATEST_PAUSE_MS, options.signal);
    }
  }

  /** A version by its number. @throws VerificationError, NotFoundError, ErasedError, ForbiddenError */
  async version(version: number, options: ReadOptions = {}): Promise<Snapshot<A>> {
    return this.#read(`snapshots/${version}`, {}, { version }, options);
  }

  /** Every version with its content, newest first unless said otherwise. */
  history(options: HistoryOptions = {}): AsyncGenerator<Version<A>, void, undefined> {
    return historyOf(this.#lineage(), options);
  }

  /** Every version without its content. */
  headers(options: HistoryOptions = {}): AsyncGenerator<SnapshotHeader, void, undefined> {
    return headersOf(this.#lineage(), options);
  }

  /** Every version with its content from the first one on, in one stream; by the log all are proved against one checkpoint. */
  export(options: ReadOptions = {}): AsyncGenerator<Version<A>, void, undefined> {
    return exportOf(this.#lineage(), options);
  }

  /**
   * The whole history as a bundle to take away: its lines as they came, nothing of them verified. Whoever has it verifies it
   * with no service: `iss verify`, or the console's page for it.
   */
  bundle(options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return bundleLinesOf(this.#lineage(), options);
  }

  /**
   * Changes the subject: the draft is the latest version's content, what becomes of it is made a minimal patch (RFC 6902),
   * proposed and applied. Where somebody else was faster, `edit` runs again on what is the latest then. Gives the version
   * that was written, or the latest one where the draft was left as it was.
   *
   * @throws StaleBaseError where others were faster again and again; ValidationError; VerificationError `written` where the
   *   version that was written is not its base and the patch
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

  /** Proposes a patch on a version, which must be the latest. Nothing is changed before it is applied. */
  async propose(
    proposal: Omit<api.ProposeSubjectUpdateBody, 'subject_id'>,
    options: CallOptions = {},
  ): Promise<api.Update> {
    return this.call('POST', '/updates', UPDATE, options, { subject_id: this.subjectId, ...proposal });
  }

  /** Updates, newest first. */
  updates(
    filter: { status?: api.Update['status'] } = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Update, void, undefined> {
    return this.items('/updates', UPDATE, filter, options);
  }

  async update(updateId: string, options: CallOptions = {}): Promise<api.Update> {
    return this.call('GET', `/updates${pathOf(updateId)}`, UPDATE, options, undefined, { update_id: updateId });
  }

  /** Writes the next version. @throws StaleBaseError where another one was written meanwhile */
  async apply(updateId: string, options: CallOptions = {}): Promise<api.AppliedUpdate> {
    return this.call('POST', `/updates${pathOf(updateId)}/apply`, HEADER, options);
  }

  async withdraw(updateId: string, options: CallOptions = {}): Promise<api.Update> {
    return this.call('POST', `/updates${pathOf(updateId)}/withdraw`, UPDATE, options, undefined, {
      update_id: updateId,
      status: 'withdrawn',
    });
  }

  /** What the service says changed, with the evidence behind it. It is not verified: `compare` is, of verified versions. */
  async diff(versions: { from: number; to: number }, options: CallOptions = {}): Promise<api.VersionDiffResult> {
    const query = queryText({ from_version: versions.from, to_version: versions.to });
    const says = { from_version: versions.from, to_version: versions.to, subject: this.#ref };
    return this.call('GET', `/diff${query}`, { ops: [OPERATION] }, options, undefined, says);
  }

  /** Of each value since when, by whom and from which evidence it stands, as the service says. */
  provenance(
    filter: ProvenanceFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Provenance['items'][number], void, undefined> {
    return this.items('/provenance', LEAF, { ...filter }, options);
  }

  /** Lets another tenant read the subject. */
  async share(
    grant: { grantee_tenant_id: string; scopes: Scope[]; expires_at?: string | null; purpose?: string | null },
    options: CallOptions = {},
  ): Promise<api.CreatedGrant> {
    const path = pathOf('v1', 'tenants', this.tenantId, 'grants');
    return call(this.transport, ['POST', path], CREATED_GRANT, options, { ...grant, ...this.#ref });
  }

  /** Every grant on the subject, also those that are over. */
  grants(options: CallOptions = {}): AsyncGenerator<api.Grant, void, undefined> {
    return this.items('/grants', GRANT, {}, options);
  }

  /** Who could read it, from when to when. */
  accessHistory(options: CallOptions = {}): AsyncGenerator<api.AccessPeriod, void, undefined> {
    return this.items('/access-history', PERIOD, {}, options);
  }

  /** Erasures of it, newest first: asked for, cancelled and done. */
  erasures(options: CallOptions = {}): AsyncGenerator<api.Erasure, void, undefined> {
    return this.items('/erasures', ERASURE, {}, options);
  }

  /** Lists who was shown which versions. */
  disclosures(
    filter: DisclosureFilter & { grantee_tenant_id?: string } = {},
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
        // Asked twice, it answers the first one.
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

  /** Applies an update, whether or not the answer to an earlier attempt was lost; its version. */
  async #versionOf(updateId: string, version: number, options: CallOptions): Promise<number> {
    try {
      return (await this.apply(updateId, options)).snapshot_version;
    } catch (error) {
      if (error instanceof StaleBaseError) {
        // What is stale stays proposed, and counts.
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
  ): Promise<Snapshot<A>> {
    return readSnapshot(
      this.transport,
      this.verifier,
      { tenantId: this.tenantId, path: `${this.path}/${below}`, query, asked: { ...this.asked, ...asked } },
      options,
    );
  }
}
