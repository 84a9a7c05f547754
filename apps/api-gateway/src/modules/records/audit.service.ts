import { type Actor, type AuditAction, requireAccess, RULES, type SubjectRef } from '@iss/domain';
import { type AuditRecord, AuditStore, type Page, type PageRequest } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { requireWindow, type SentWindow } from './time-window';

/** Selects audit records; undefined selects all. */
export interface SentAuditFilter extends SentWindow {
  action: AuditAction | undefined;
  principalId: string | undefined;
  targetId: string | undefined;
  subject: SubjectRef | null;
}

/** Reads who changed what in a tenant. */
@Injectable()
export class AuditService {
  constructor(private readonly audit: AuditStore) {}

  /** Returns records for the tenant's admins. Throws `validation_error` or `forbidden`. */
  async ofTenant(actor: Actor, sent: SentAuditFilter, request: PageRequest): Promise<Page<AuditRecord>> {
    const { action = null, principalId: byPrincipalId = null, targetId = null, subject } = sent;
    const filter = { ...requireWindow(sent), action, byPrincipalId, targetId, subject };
    const { facts, page } = await this.audit.ofTenant(actor, filter, request);
    requireAccess(facts, RULES.readAudit);
    return page;
  }
}
