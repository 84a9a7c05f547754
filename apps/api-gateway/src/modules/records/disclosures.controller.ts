import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging, SHORT_PAGES } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { SubjectParam } from '../../http/request/path-params';
import { subjectSent } from '../../http/request/subject-filter';
import { DisclosureService } from './disclosure.service';
import { Disclosure, DISCLOSURE_EXAMPLE, DisclosuresQuery, SubjectDisclosuresQuery } from './disclosure.views';

const ANSWERS = { 200: pageAnswer('One page.', Disclosure, [DISCLOSURE_EXAMPLE]) };
const WHAT_IS_RECORDED =
  'The service records a disclosure when a principal is shown a version, or a range of versions, in one ' +
  'way. It records each once per UTC day, before it sends the response.';

@ApiTags('Records')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class DisclosuresController {
  constructor(private readonly disclosures: DisclosureService) {}

  @Get('subjects/:subject_type/:subject_id/disclosures')
  @ApiRoute('List the disclosures of a subject to other tenants, newest first', RULES.readDisclosures, {
    description: `${WHAT_IS_RECORDED} ${SHORT_PAGES}`,
    answers: ANSWERS,
  })
  async listSubjectDisclosures(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf(SubjectDisclosuresQuery) paging: Paging<SubjectDisclosuresQuery>,
  ): Promise<{ items: Disclosure[] } & PageView> {
    const { from, to, principal_id: principalId, via, grantee_tenant_id: granteeTenantId } = paging.query;
    const filter = { from, to, principalId, via, granteeTenantId };
    return paging.answer(await this.disclosures.ofSubject(actor, subject, filter, paging.at()), Disclosure.of);
  }

  @Get('disclosures')
  @ApiRoute(
    "List the versions of other tenants' subjects that the tenant's principals were shown, newest first",
    RULES.readOwnDisclosures,
    {
      description: `${WHAT_IS_RECORDED} ${SHORT_PAGES}`,
      answers: ANSWERS,
      examples: { tenant_id: 'beta' },
    },
  )
  async listDisclosures(
    @ActorParam() actor: Actor,
    @PageOf(DisclosuresQuery) paging: Paging<DisclosuresQuery>,
  ): Promise<{ items: Disclosure[] } & PageView> {
    const { from, to, principal_id: principalId, via } = paging.query;
    const filter = { from, to, principalId, via, subject: subjectSent(paging.query) };
    return paging.answer(await this.disclosures.toTenant(actor, filter, paging.at()), Disclosure.of);
  }
}
