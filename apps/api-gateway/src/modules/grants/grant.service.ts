import { randomUUID } from 'node:crypto';
import { DomainError, requireExpiry, requireAccess, rolesFrom, type Scope, SCOPES } from '@iss/domain';
import {
  type AccessibleSubject,
  type GrantRecord,
  GrantStore,
  type Page,
  type PageRequest,
  type SubjectRef,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import type { Principal } from '../../auth/principal';

export interface GrantRequest extends SubjectRef {
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: string | null;
}

const MANAGERS = rolesFrom(RULES.manageGrants.role);

/** Reads that an owner gives to another tenant. */
@Injectable()
export class GrantService {
  constructor(private readonly grants: GrantStore) {}

  /** Throws `validation_error`, `forbidden` unless the tenant owns the subject, or `conflict`. */
  async create({ principalId }: Principal, tenantId: string, request: GrantRequest): Promise<GrantRecord> {
    const expiresAt = requireExpiry(request.expiresAt);
    if (request.granteeTenantId === tenantId) {
      throw invalid('/grantee_tenant_id', 'must be another tenant: the owner needs no grant');
    }
    const grant = { ...request, grantId: randomUUID(), expiresAt };
    const outcome = await this.grants.create({ tenantId, principalId }, grant, MANAGERS);
    if (outcome.kind === 'granted') return outcome.grant;
    requireAccess(outcome.facts, RULES.manageGrants);
    throw new DomainError(
      'conflict',
      outcome.granteeExists
        ? 'An active grant exists for this subject and grantee. Revoke it first.'
        : 'The grantee tenant does not exist.',
    );
  }

  /** Throws `forbidden` unless the caller is an active member. */
  async ofTenant({ principalId }: Principal, tenantId: string, request: PageRequest): Promise<Page<GrantRecord>> {
    const { facts, page } = await this.grants.ofTenant({ tenantId, principalId }, request);
    requireAccess(facts, RULES.readGrants);
    return page;
  }

  /** Throws `forbidden` unless the caller manages the grants of the owner, alike where there is no such subject. */
  async ofSubject(
    { principalId }: Principal,
    tenantId: string,
    subject: SubjectRef,
    request: PageRequest,
  ): Promise<Page<GrantRecord>> {
    const { facts, page } = await this.grants.ofSubject({ tenantId, principalId }, subject, request);
    requireAccess(facts, RULES.manageGrants);
    return page;
  }

  /** Ends a grant; from the answer on its grantee reads nothing. Throws `not_found`, or `conflict` when it is not active. */
  async revoke({ principalId }: Principal, tenantId: string, grantId: string): Promise<GrantRecord> {
    const { facts, grant, isRevoked } = await this.grants.revoke({ tenantId, principalId }, grantId, MANAGERS);
    if (grant === null) {
      requireAccess(facts, { role: RULES.manageGrants.role });
      throw new DomainError('not_found', 'No such grant of this tenant.');
    }
    requireAccess(facts, RULES.manageGrants);
    if (isRevoked) return grant;
    // Found active and yet not revoked: another revocation came first.
    const status = grant.status === 'expired' ? 'expired' : 'revoked';
    throw new DomainError('conflict', `The grant is ${status} already; only an active one can be revoked.`);
  }

  /** Throws `forbidden` unless the caller is an active member whose `allow_counterparty_access` is true. */
  async accessible(
    { principalId }: Principal,
    tenantId: string,
    request: PageRequest,
  ): Promise<Page<AccessibleSubject>> {
    const { facts, page } = await this.grants.accessible(tenantId, principalId, request);
    // Decided as if every scope were held: what is left to decide is whether this caller may use grants at all.
    requireAccess({ ...facts, grantScopes: SCOPES }, { ...RULES.readAccessibleSubjects, subject: SCOPES });
    return page;
  }
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}
