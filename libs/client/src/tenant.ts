import { canonicalize } from '@iss/domain/pure';
import { changesOf, type ChangesOptions } from './versions/changes.ts';
import type * as api from './generated/types.ts';
import { parseAnswer } from './http/answer.ts';
import { requireSays } from './http/call.ts';
import type { Filter } from './http/operation.ts';
import { type CallOptions, pathOf, type Transport } from './http/transport.ts';
import { type ImportOptions, type ImportRecord, type ImportReport, importRecords } from './versions/import.ts';
import { jsonOf } from './json.ts';
import { readSnapshot, type ReadOptions } from './versions/read.ts';
import { Grants, Membership, PendingGrants, type RefreshRequestFilter, Resource, Webhooks } from './resources.ts';
import { ACCESSIBLE, ERASURE, HEADER, PRINCIPAL, REFRESH_REQUEST, SUBJECT, UPDATE } from './shapes.ts';
import { Subject } from './subject.ts';
import type {
  Change,
  EntityAttributes,
  IndividualAttributes,
  OrganizationAttributes,
  Snapshot,
  SnapshotHeader,
  SubjectType,
} from './types.ts';
import { hashText } from './verify/hash.ts';
import type { ProvedAbsence, ProvedGrantState } from './verify/log.ts';
import { requireVersion } from './verify/snapshot.ts';
import type { AnswerVerifier } from './verify/verifier.ts';

/** A tenant that the caller acts for. */
export class Tenant extends Resource {
  readonly grants: Grants;
  readonly pendingGrants: PendingGrants;
  readonly webhooks: Webhooks;
  readonly membership: Membership;

  /** @internal Created by `IdentityState`. */
  constructor(
    transport: Transport,
    private readonly verifier: AnswerVerifier,
    readonly tenantId: string,
  ) {
    super(transport, pathOf('v1', 'tenants', tenantId));
    this.grants = new Grants(transport, `${this.path}/grants`);
    this.pendingGrants = new PendingGrants(transport, `${this.path}/pending-grants`);
    this.membership = new Membership(transport, `${this.path}/membership`);
    this.webhooks = new Webhooks(transport, tenantId);
  }

  organization<A extends object = OrganizationAttributes>(subjectId: string): Subject<A> {
    return this.subject('organization', subjectId);
  }

  individual<A extends object = IndividualAttributes>(subjectId: string): Subject<A> {
    return this.subject('individual', subjectId);
  }

  entity<A extends object = EntityAttributes>(subjectId: string): Subject<A> {
    return this.subject('entity', subjectId);
  }

  subject<A extends object = EntityAttributes>(subjectType: SubjectType, subjectId: string): Subject<A> {
    return new Subject(this.transport, this.verifier, this.tenantId, subjectType, subjectId);
  }

  /** Reads a snapshot by its id. */
  async snapshot<A extends object = EntityAttributes>(
    snapshotId: string,
    options: ReadOptions = {},
  ): Promise<Snapshot<A>> {
    const path = this.path + pathOf('snapshots', snapshotId);
    return readSnapshot(
      this.transport,
      this.verifier,
      { tenantId: this.tenantId, path, asked: { snapshotId } },
      options,
    );
  }

  /**
   * Writes a version. Version 1 makes the tenant the owner of the subject. A later version must follow the latest one. Compares the
   * stored hash with the sent content.
   *
   * @throws ConflictError that names the next version; VerificationError `written`
   */
  async write(envelope: api.Envelope, options: CallOptions = {}): Promise<SnapshotHeader> {
    const body = canonicalize(jsonOf(envelope));
    const path = `${this.path}/entity-states`;
    const written = requireVersion(parseAnswer(await this.transport.text({ method: 'POST', path, body }, options)));
    const { snapshot_id, snapshot_version, subject } = envelope;
    requireSays({ snapshot_id, snapshot_version, envelope_hash: await hashText(body) }, written);
    requireSays(Object(subject), written.subject);
    this.verifier.claim(written, written.subject);
    return written;
  }

  /** Imports many versions in order, such as a whole archive. */
  async import(
    records: Iterable<ImportRecord> | AsyncIterable<ImportRecord>,
    options: ImportOptions = {},
  ): Promise<ImportReport> {
    return importRecords(this.transport, `${this.path}/entity-states/batch`, records, options);
  }

  /** Streams the changes of all subjects that the tenant owns or may read, in log order. */
  changes(options: ChangesOptions = {}): AsyncGenerator<Change, void, undefined> {
    return changesOf(this.transport, this.verifier, `${this.path}/changes`, options);
  }

  /** Lists the subjects that the tenant owns. */
  subjects(filter: SubjectFilter = {}, options: CallOptions = {}): AsyncGenerator<api.Subject, void, undefined> {
    return this.items('/subjects', { ...SUBJECT, latest_snapshot: HEADER }, { ...filter }, options);
  }

  /** Lists the subjects of other tenants that the tenant may read. */
  accessibleSubjects(
    filter: AccessibleFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.AccessibleSubject, void, undefined> {
    return this.items('/accessible-subjects', ACCESSIBLE, { ...filter }, options);
  }

  /** Lists the erasures of all subjects of the tenant, newest first. */
  erasures(
    filter: Filter<'/v1/tenants/{tenant_id}/erasures'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Erasure, void, undefined> {
    return this.items('/erasures', ERASURE, filter, options);
  }

  /**
   * Proves how many audit records (`d`), changes of the owner (`o`), received grants on all subjects of an owner (`p`), or changes of
   * own grants on all subjects (`w`) of the tenant the log has. The result has the first number that it does not have. Needs `trust`
   * with a VRF key.
   *
   * @throws VerificationError
   */
  async absence(stream: 'd' | 'o' | 'p' | 'w', options: CallOptions = {}): Promise<ProvedAbsence> {
    return this.verifier.absence(this.path, stream, { tenant_id: this.tenantId }, options);
  }

  /** Proves the newest state of a grant. Needs `trust` with a VRF key. @throws VerificationError */
  async grantState(grantId: string, options: CallOptions = {}): Promise<ProvedGrantState> {
    const path = `${this.path}/grants${pathOf(grantId)}/state-proof`;
    const { state, number, checkpoint } = await this.verifier
      .requireLog()
      .mapped<Omit<ProvedGrantState, 'checkpoint'>>([path], { state: '', number: 0 }, { grant_id: grantId }, options);
    return { state, number, checkpoint };
  }

  /** Lists the members. */
  principals(options: CallOptions = {}): AsyncGenerator<api.Principal, void, undefined> {
    return this.items('/principals', PRINCIPAL, {}, options);
  }

  /** Lists the updates of all subjects, newest first. */
  updates(
    filter: Filter<'/v1/tenants/{tenant_id}/entity-state-updates'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Update, void, undefined> {
    return this.items('/entity-state-updates', UPDATE, filter, options);
  }

  /** Reads an update by its id. */
  async update(updateId: string, options: CallOptions = {}): Promise<api.Update> {
    const says = { update_id: updateId };
    return this.call('GET', pathOf('entity-state-updates', updateId), UPDATE, options, undefined, says);
  }

  /** Lists refresh requests to the tenant, or its own requests. */
  refreshRequests(
    filter: RefreshRequestFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.RefreshRequest, void, undefined> {
    return this.items('/refresh-requests', REFRESH_REQUEST, { ...filter }, options);
  }
}

/** Selects subjects of other tenants. A search (`identifier` or `q`) must be the only member. */
export type AccessibleFilter = Filter<'/v1/tenants/{tenant_id}/accessible-subjects'>;

/** Selects subjects. */
export type SubjectFilter = Filter<'/v1/tenants/{tenant_id}/subjects'>;
