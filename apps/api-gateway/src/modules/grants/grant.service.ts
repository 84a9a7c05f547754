import { randomUUID } from 'node:crypto';
import { DomainError, parseDateTime, requireAccess, rolesFrom, type Scope } from '@iss/domain';
import { type GrantRecord, GrantStore, type SubjectRef } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import type { Principal } from '../../auth/principal';

export interface GrantRequest extends SubjectRef {
  granteeTenantId: string;
  scopes: Scope[];
  expiresAt: string | null;
}

/** Reads that an owner gives to another tenant. */
@Injectable()
export class GrantService {
  constructor(private readonly grants: GrantStore) {}

  /** Throws `validation_error`, `forbidden` unless the tenant owns the subject, or `conflict`. */
  async create(principal: Principal, tenantId: string, request: GrantRequest): Promise<GrantRecord> {
    const expiresAt = requireFuture(request.expiresAt);
    if (request.granteeTenantId === tenantId) {
      throw invalid('/grantee_tenant_id', 'must be another tenant: the owner needs no grant');
    }
    const outcome = await this.grants.create(
      { tenantId, principalId: principal.principalId },
      { ...request, grantId: randomUUID(), expiresAt },
      rolesFrom(RULES.manageGrants.role),
    );
    if (outcome.kind === 'granted') return outcome.grant;
    requireAccess(outcome.facts, RULES.manageGrants);
    throw new DomainError(
      'conflict',
      outcome.granteeExists
        ? 'An active grant exists for this subject and grantee. Revoke it first.'
        : 'The grantee tenant does not exist.',
    );
  }

  async ofSubject(principal: Principal, tenantId: string, subject: SubjectRef): Promise<GrantRecord[]> {
    const { facts, grants } = await this.grants.ofSubject({ tenantId, principalId: principal.principalId }, subject);
    requireAccess(facts, RULES.manageGrants);
    return grants;
  }

  /** Ends a grant; from the answer on its grantee reads nothing. Throws `not_found`, or `conflict` when it is not active. */
  async revoke(principal: Principal, tenantId: string, grantId: string): Promise<GrantRecord> {
    const owner = { tenantId, principalId: principal.principalId };
    await this.requireOwn(owner, grantId);
    const isRevoked = await this.grants.revoke(tenantId, grantId);
    const grant = await this.requireOwn(owner, grantId);
    if (isRevoked) return grant;
    throw new DomainError('conflict', `The grant is ${grant.status}; only an active one can be revoked.`);
  }

  private async requireOwn(owner: { tenantId: string; principalId: string }, grantId: string): Promise<GrantRecord> {
    const { facts, grant } = await this.grants.find(owner, grantId);
    if (grant === null) {
      requireAccess(facts, { role: RULES.manageGrants.role });
      throw new DomainError('not_found', 'No such grant of this tenant.');
    }
    requireAccess(facts, RULES.manageGrants);
    return grant;
  }
}

function requireFuture(text: string | null): Date | null {
  if (text === null) return null;
  const date = parseDateTime(text);
  if (date === null) throw invalid('/expires_at', 'must be an RFC 3339 date-time with a timezone');
  if (date.getTime() <= Date.now()) throw invalid('/expires_at', 'must be in the future');
  return date;
}

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [
    { path, message, code: 'invalid_value' },
  ]);
}
