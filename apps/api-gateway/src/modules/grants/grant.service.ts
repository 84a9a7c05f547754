import { randomUUID } from 'node:crypto';
import {
  type AccessFacts,
  type Acting,
  type Actor,
  ALL_SUBJECTS,
  DomainError,
  type GrantDirection,
  type JsonValue,
  requireAccess,
  requireExpiry,
  requireFuture,
  requireStorablePaths,
  RULES,
  type Scope,
  SCOPES,
  type SubjectRef,
} from '@iss/domain';
import {
  type AccessibleFilter,
  type AccessibleSubject,
  AccessibleSubjectStore,
  type ContentSearch,
  type GrantFilter,
  type GrantOutcome,
  type GrantRecord,
  GRANTS_AT_ONCE,
  GrantStore,
  type GrantToCreate,
  type ListedGrant,
  type Page,
  type PageRequest,
  type PendingGrantRecord,
} from '@iss/persistence';
import { limitReached } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { AccessService } from '../../access/access.service';
import { Disclosures } from '../../access/disclosures';
import { EventHandOver } from '../../events/event-hand-over';
import type { RequestTrace } from '../../request-trace';
import { type GatewaySettings, SETTINGS } from '../../settings';

export interface GrantRequest extends SubjectRef {
  granteeTenantId: string;
  scopes: readonly Scope[];
  /** As sent. */
  paths: readonly JsonValue[] | null;
  startsAt: string | null;
  expiresAt: string | null;
  purpose: string | null;
}

/** The requested changes of a grant; undefined leaves a field unchanged. */
export interface GrantChangeRequest {
  scopes: readonly Scope[] | undefined;
  /** As sent. */
  paths: readonly JsonValue[] | null | undefined;
  startsAt: string | null | undefined;
  expiresAt: string | null | undefined;
  purpose: string | null | undefined;
  reason: string | null;
}

/** The outcome of one of many grants. */
export type GrantResultRecord = GrantRecord | PendingGrantRecord | DomainError;

/** Creates, changes, revokes and lists grants. */
@Injectable()
export class GrantService {
  constructor(
    private readonly grants: GrantStore,
    private readonly subjects: AccessibleSubjectStore,
    private readonly access: AccessService,
    private readonly disclosures: Disclosures,
    private readonly handOver: EventHandOver,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Creates a grant, or a pending one if a second human must confirm it. Throws `validation_error`, `forbidden` unless
   * the tenant owns the subject, `conflict`, or `limit_reached`.
   */
  async create(actor: Acting, trace: RequestTrace, request: GrantRequest): Promise<GrantRecord | PendingGrantRecord> {
    const grant = toCreate(actor, request);
    const [outcome] = await this.store(actor, trace, [grant]);
    return outcome?.kind === 'pending' ? outcome.pending : requireGranted(outcome, grant);
  }

  /**
   * Creates many grants in batches, each as if it had been sent alone. Returns the grant or the error of each, in their
   * order; some errors are already known. If the database fails later, created grants stay, and the remaining results
   * say so. Throws `forbidden` unless the caller may manage grants, and `validation_error` for too many.
   */
  async createMany(
    actor: Acting,
    trace: RequestTrace,
    requests: readonly (GrantRequest | DomainError)[],
  ): Promise<GrantResultRecord[]> {
    await this.access.require(actor, { role: RULES.manageGrants.role });
    requireCount(requests.length, this.settings.limits.grantBatch);
    const pairs = new Set<string>();
    const results = requests.map((request, index): GrantToCreate | DomainError => {
      if (request instanceof DomainError) return request;
      return settled(index, () => {
        const grant = toCreate(actor, request);
        const pair = JSON.stringify([grant.granteeTenantId, grant.subjectType, grant.subjectId]);
        if (pairs.has(pair)) {
          throw granteeConflict(
            'The request contains this pair of subject and grantee twice.',
            'is already in this request',
          );
        }
        pairs.add(pair);
        return grant;
      });
    });
    return this.createInLots(actor, trace, results);
  }

  /** Stores grants and announces the events of pending ones. */
  private async store(actor: Acting, trace: RequestTrace, grants: readonly GrantToCreate[]): Promise<GrantOutcome[]> {
    const outcomes = await this.grants.create(actor, grants, trace);
    const eventIds = outcomes.flatMap((outcome) => (outcome.kind === 'pending' ? outcome.eventIds : []));
    if (eventIds.length > 0) this.handOver.announce(eventIds);
    return outcomes;
  }

  private async createInLots(
    actor: Acting,
    trace: RequestTrace,
    sent: readonly (GrantToCreate | DomainError)[],
  ): Promise<GrantResultRecord[]> {
    const valid = sent.flatMap((grant, index) => (grant instanceof DomainError ? [] : [{ grant, index }]));
    const results = new Map<number, GrantResultRecord>();
    for (let at = 0; at < valid.length; at += GRANTS_AT_ONCE) {
      const lot = valid.slice(at, at + GRANTS_AT_ONCE);
      try {
        const grants = lot.map(({ grant }) => grant);
        const outcomes = await this.store(actor, trace, grants);
        for (const [place, { grant, index }] of lot.entries()) {
          const outcome = outcomes[place];
          const result =
            outcome?.kind === 'pending' ? outcome.pending : settled(index, () => requireGranted(outcome, grant));
          results.set(index, result);
        }
      } catch (error) {
        if (at === 0 || !(error instanceof DomainError)) throw error;
        for (const { index } of valid.slice(at)) results.set(index, error);
        break;
      }
    }
    return sent.map((one, index) => {
      const result = one instanceof DomainError ? one : results.get(index);
      if (result === undefined) throw new Error('a grant has no outcome');
      return result;
    });
  }

  /** Returns the tenant's grants. Throws `forbidden` unless the caller is an active member. */
  async ofTenant(
    actor: Actor,
    direction: GrantDirection,
    filter: GrantFilter,
    request: PageRequest,
  ): Promise<Page<ListedGrant>> {
    const { facts, page } = await this.grants.ofTenant(actor, direction, filter, request);
    requireAccess(facts, RULES.readGrants);
    return page;
  }

  /** Returns a grant that the tenant issued or received. Throws `forbidden` or `not_found`. */
  async find(actor: Actor, grantId: string): Promise<GrantRecord> {
    const { facts, grant } = await this.grants.find(actor, grantId);
    requireAccess(facts, RULES.readGrants);
    if (grant === null)
      throw new DomainError('not_found', 'No such grant from or to this tenant. List its grants for their ids.');
    return grant;
  }

  /** Accepts a grant to the tenant. Throws `not_found`, or `conflict` if it is not active. */
  async accept(actor: Acting, grantId: string): Promise<GrantRecord> {
    const { facts, grant } = await this.grants.accept(actor, grantId);
    requireAccess(facts, RULES.acceptGrants);
    if (grant === null)
      throw new DomainError('not_found', 'No such grant to this tenant. List its received grants for their ids.');
    if (grant.acceptedAt === null) throw notActive(grant, 'accepted');
    return grant;
  }

  /**
   * Returns the grants on a subject. Throws `forbidden` unless the caller manages the owner's grants, also if the
   * subject does not exist.
   */
  async ofSubject(actor: Actor, subject: SubjectRef, request: PageRequest): Promise<Page<ListedGrant>> {
    const { facts, page } = await this.grants.ofSubject(actor, subject, request);
    requireAccess(facts, RULES.manageGrants);
    return page;
  }

  /** Revokes a grant with immediate effect. Throws `not_found`, or `conflict` if it is not active. */
  async revoke(actor: Acting, grantId: string): Promise<GrantRecord> {
    const revoked = await this.grants.revoke(actor, grantId);
    const grant = requireOwn(revoked);
    if (!revoked.isRevoked) throw notActive(grant, 'revoked');
    return grant;
  }

  /**
   * Changes a live or scheduled grant with immediate effect. Throws `validation_error`, `not_found`, or `conflict` if it
   * has ended, or if a second human would have to confirm the change.
   */
  async change(
    actor: Acting,
    grantId: string,
    { paths, startsAt, expiresAt, ...change }: GrantChangeRequest,
  ): Promise<GrantRecord> {
    const changed = await this.grants.change(actor, grantId, {
      ...change,
      paths: paths === undefined ? undefined : requireStorablePaths(paths),
      startsAt: startsAt === undefined ? undefined : requireStart(startsAt),
      expiresAt: expiresAt === undefined ? undefined : requireExpiry(expiresAt),
    });
    const grant = requireOwn(changed);
    if (changed.isReversed) throw startsTooLate();
    if (changed.needsConfirmation) {
      throw new DomainError(
        'conflict',
        'A second human must confirm a wider grant on all subjects. Revoke this grant and create a new one.',
      );
    }
    if (!changed.isDone) throw notActive(grant, 'changed');
    return grant;
  }

  /**
   * Returns subjects of other tenants. Throws `forbidden` unless the caller is an active member whose
   * `allow_counterparty_access` is true. A hit of a search reveals a name or an identifier in the latest version, so it
   * is recorded as a disclosure.
   */
  async accessible(
    actor: Acting,
    search: ContentSearch | AccessibleFilter | null,
    request: PageRequest,
  ): Promise<Page<AccessibleSubject>> {
    const { facts, page } = await this.subjects.list(actor, request, search);
    // Decided as if all scopes were granted, because only the caller's right to use grants at all is in question.
    requireAccess({ ...facts, grantScopes: SCOPES }, { ...RULES.readAccessibleSubjects, subject: SCOPES });
    if (search !== null && 'by' in search) await Promise.all(page.items.map((item) => this.recordHit(actor, item)));
    return page;
  }

  private async recordHit(actor: Acting, { grant, subjectKey, latest }: AccessibleSubject): Promise<void> {
    // A search only finds subjects whose latest version the caller may read.
    if (latest === null) throw new Error('a search found a subject without its latest version');
    const { snapshotVersion } = latest;
    const { grantId, paths } = grant;
    const disclosure = { subjectKey, granteeTenantId: actor.tenantId, grantId, paths };
    await this.disclosures.record(actor, disclosure, { from: snapshotVersion, to: snapshotVersion }, 'search');
  }
}

const requireStart = (startsAt: string | null): Date | null => requireFuture(startsAt, 'starts_at');

const startsTooLate = (): DomainError => invalid('/starts_at', 'must be before expires_at');

function toCreate(actor: Actor, request: GrantRequest): GrantToCreate {
  const paths = requireStorablePaths(request.paths);
  const startsAt = requireStart(request.startsAt);
  const expiresAt = requireExpiry(request.expiresAt);
  if (startsAt !== null && expiresAt !== null && startsAt >= expiresAt) throw startsTooLate();
  if (request.granteeTenantId === actor.tenantId) {
    throw invalid('/grantee_tenant_id', 'must be another tenant: the owner needs no grant');
  }
  return { ...request, grantId: randomUUID(), paths, startsAt, expiresAt };
}

/** Returns the created grant. Throws `forbidden`, `conflict`, or `limit_reached`. */
export function requireGranted(
  outcome: GrantOutcome | undefined,
  { subjectType }: Pick<GrantToCreate, 'subjectType'>,
): GrantRecord {
  if (outcome === undefined || outcome.kind === 'pending') throw new Error('a grant has no outcome');
  if (outcome.kind === 'granted') return outcome.grant;
  requireAccess(outcome.facts, RULES.manageGrants);
  if (!outcome.granteeExists) {
    throw granteeConflict('The grantee tenant does not exist. Check its tenant_id.', 'is not an existing tenant');
  }
  if (outcome.isGranted) {
    throw granteeConflict(
      'The grantee already has an active or scheduled grant on this subject. Change that grant, or revoke it first.',
      'already has an active or scheduled grant',
    );
  }
  const isToAll = subjectType === ALL_SUBJECTS.subjectType;
  throw limitReached(isToAll ? 'live_grants_per_tenant_to_all' : 'live_grants_per_subject', outcome.cap);
}

/** Returns the result of `work` for the grant at this index, or its error with paths below that index. */
function settled<T>(index: number, work: () => T): T | DomainError {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const details = error.details?.map(({ path, ...detail }) => ({ path: `/grants/${index}${path}`, ...detail }));
    return new DomainError(error.code, error.message, details);
  }
}

function requireCount(count: number, max: number): void {
  if (count >= 1 && count <= max) return;
  const message = `must contain 1 to ${max.toLocaleString('en')} grants`;
  throw new DomainError('validation_error', `grants ${message}.`, [{ path: '/grants', message, code: 'out_of_range' }]);
}

/**
 * Returns the grant. Throws `forbidden` unless the caller manages the tenant's grants, and `not_found` if the grant is
 * not one of them.
 */
function requireOwn({ facts, grant }: { facts: AccessFacts; grant: GrantRecord | null }): GrantRecord {
  if (grant === null) {
    requireAccess(facts, { role: RULES.manageGrants.role });
    throw new DomainError('not_found', 'No such grant of this tenant. List its issued grants for their ids.');
  }
  requireAccess(facts, RULES.manageGrants);
  return grant;
}

/**
 * Creates the error for a grant that has expired or was revoked, or that cannot be accepted yet. A grant that was just
 * found active has been revoked since.
 */
function notActive({ status }: GrantRecord, done: 'accepted' | 'changed' | 'revoked'): DomainError {
  if (status === 'scheduled') {
    return new DomainError('conflict', `The grant has not started. It can be ${done} once it is active.`);
  }
  const what = status === 'expired' ? 'expired' : 'revoked';
  return new DomainError('conflict', `The grant is already ${what}. Only an active grant can be ${done}.`);
}

function granteeConflict(message: string, problem: string): DomainError {
  return new DomainError('conflict', message, [{ path: '/grantee_tenant_id', message: problem, code: 'conflict' }]);
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}
