import { type Actor, RULES } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging, SHORT_PAGES } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { subjectSent } from '../../http/request/subject-filter';
import { AuditService } from './audit.service';
import { AUDIT_EXAMPLE, AuditEntry, AuditQuery } from './audit.views';

@ApiTags('Records')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get('audit')
  @ApiRoute('List the audit records of the tenant, newest first', RULES.readAudit, {
    description:
      'The records cover settings, members, webhook subscriptions, transfer offers, grants, erasures and ' +
      'limits. Both the grantor and the grantee have the records of a grant; for a grant on all subjects, the ' +
      'grantee has them from its acceptance on. A change and its record are written together. A request that ' +
      `changes nothing leaves no record. ${SHORT_PAGES}`,
    answers: { 200: pageAnswer('One page.', AuditEntry, [AUDIT_EXAMPLE]) },
  })
  async listAudit(
    @ActorParam() actor: Actor,
    @PageOf(AuditQuery) paging: Paging<AuditQuery>,
  ): Promise<{ items: AuditEntry[] } & PageView> {
    const { action, principal_id: principalId, target_id: targetId, from, to } = paging.query;
    const filter = { action, principalId, targetId, subject: subjectSent(paging.query), from, to };
    return paging.answer(await this.audit.ofTenant(actor, filter, paging.at()), AuditEntry.of);
  }
}
