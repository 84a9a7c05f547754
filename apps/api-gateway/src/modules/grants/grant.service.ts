import { randomUUID } from 'node:crypto';
import {
  type AccessFacts,
  type Actor,
  ALL_SUBJECTS,
  DomainError,
  requireAccess,
  requireExpiry,
  rolesFrom,
  RULES,
  type Scope,
  SCOPES,
  type SubjectRef,
} from '@iss/domain';
import { type AccessibleSubject, type GrantRecord, GrantStore, type Page, type PageRequest } from '@iss/persistence';
import { limitReached } from '@iss/platform';
import { Injectable } from '@nestjs/common';

export interface GrantRequest extends SubjectRef {
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: string | null;
  purpose: string | null;
}

/** What of a grant is to change; what is undefined stays. */
export interface GrantChangeRequest {
  scopes: readonly Scope[] | undefined;
  expiresAt: string | null | undefined;
  purpose: string | null | undefined;
  reason: string | null;
}

const MANAGERS = rolesFrom(RULES.manageGrants.role);

/** Reads that an owner gives to another tenant. */
@Injectable()
export class GrantService {
  constructor(private readonly grants: GrantStore) {}

  /** Throws `validation_error`, `forbidden` unless the tenant owns the subject, `conflict`, or `limit_reached`. */
  async create(actor: Actor, request: GrantRequest): Promise<GrantRecord> {
    const expiresAt = requireExpiry(request.expiresAt);
    if (request.granteeTenantId === actor.tenantId) {
      throw invalid('/grantee_tenant_id', 'must be another tenant: the owner needs no grant');
    }
    const grant = { ...request, grantId: randomUUID(), expiresAt };
    const [outcome] = await this.grants.create(actor, [grant], MANAGERS);
    if (outcome === undefined) throw new Error('a grant came without an outcome');
    if (outcome.kind === 'granted') return outcome.grant;
    requireAccess(outcome.facts, RULES.manageGrants);
    if (!outcome.granteeExists) {
      throw granteeConflict('The grantee tenant does not exist. Check its tenant_id.', 'names no tenant');
    }
    if (outcome.isGranted) {
      throw granteeConflict(
        'An active grant exists for this subject and grantee. Revoke it first, or change it.',
        'has an active grant',
      );
    }
    throw limitReached(isToAll(request) ? 'live_grants_per_tenant_to_all' : 'live_grants_per_subject', outcome.cap);
  }

  /** Throws `forbidden` unless the caller is an active member. */
  async ofTenant(actor: Actor, request: PageRequest): Promise<Page<GrantRecord>> {
    const { facts, page } = await this.grants.ofTenant(actor, request);
    requireAccess(facts, RULES.readGrants);
    return page;
  }

  /** Throws `forbidden` unless the caller manages the grants of the owner, alike where there is no such subject. */
  async ofSubject(actor: Actor, subject: SubjectRef, request: PageRequest): Promise<Page<GrantRecord>> {
    const { facts, page } = await this.grants.ofSubject(actor, subject, request);
    requireAccess(facts, RULES.manageGrants);
    return page;
  }

  /** Ends a grant; from the answer on its grantee reads nothing. Throws `not_found`, or `conflict` when it is not active. */
  async revoke(actor: Actor, grantId: string): Promise<GrantRecord> {
    const revoked = await this.grants.revoke(actor, grantId, MANAGERS);
    const grant = requireOwn(revoked);
    if (!revoked.isRevoked) throw notActive(grant, 'revoked');
    return grant;
  }

  /**
   * Changes a live grant; from the answer on its grantee reads by what it became. Throws `validation_error`, `not_found`, or
   * `conflict` when it is not active.
   */
  async change(actor: Actor, grantId: string, { expiresAt, ...change }: GrantChangeRequest): Promise<GrantRecord> {
    const until = expiresAt === undefined ? undefined : requireExpiry(expiresAt);
    const changed = await this.grants.change(actor, grantId, { ...change, expiresAt: until }, MANAGERS);
    const grant = requireOwn(changed);
    if (!changed.isDone) throw notActive(grant, 'changed');
    return grant;
  }

  /** Throws `forbidden` unless the caller is an active member whose `allow_counterparty_access` is true. */
  async accessible(actor: Actor, request: PageRequest): Promise<Page<AccessibleSubject>> {
    const { facts, page } = await this.grants.accessible(actor, request);
    // Decided as if every scope were held: what is left to decide is whether this caller may use grants at all.
    requireAccess({ ...facts, grantScopes: SCOPES }, { ...RULES.readAccessibleSubjects, subject: SCOPES });
    return page;
  }
}

function isToAll({ subjectType }: SubjectRef): boolean {
  return subjectType === ALL_SUBJECTS.subjectType;
}

/** Throws `forbidden` unless the caller manages the tenant's grants; `not_found` where the grant is none of them. */
function requireOwn({ facts, grant }: { facts: AccessFacts; grant: GrantRecord | null }): GrantRecord {
  if (grant === null) {
    requireAccess(facts, { role: RULES.manageGrants.role });
    throw new DomainError('not_found', 'No such grant of this tenant.');
  }
  requireAccess(facts, RULES.manageGrants);
  return grant;
}

/** Found active and yet not done: a revocation came first. */
function notActive({ status }: GrantRecord, done: 'changed' | 'revoked'): DomainError {
  const what = status === 'expired' ? 'expired' : 'revoked';
  return new DomainError('conflict', `The grant is ${what} already; only an active one can be ${done}.`);
}

function granteeConflict(message: string, problem: string): DomainError {
  return new DomainError('conflict', message, [{ path: '/grantee_tenant_id', message: problem, code: 'conflict' }]);
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}
