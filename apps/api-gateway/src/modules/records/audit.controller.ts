import type { Actor } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { AUDIT, AuditEntry, AuditQuery, type ItemPage } from '@iss/contract';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { subjectSent } from '../../http/request/subject-filter';
import { AuditService } from './audit.service';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Operation(AUDIT.listAudit)
  async listAudit(@ActorParam() actor: Actor, @PageOf() paging: Paging<AuditQuery>): Promise<ItemPage<AuditEntry>> {
    const { action, principal_id: principalId, target_id: targetId, from, to } = paging.query;
    const filter = { action, principalId, targetId, subject: subjectSent(paging.query), from, to };
    return paging.answer(await this.audit.ofTenant(actor, filter, paging.at()), AuditEntry.of);
  }
}
