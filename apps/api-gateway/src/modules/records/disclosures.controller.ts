import type { Actor, SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { Disclosure, DISCLOSURES, DisclosuresQuery, type ItemPage, SubjectDisclosuresQuery } from '@iss/contract';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { SubjectParam } from '../../http/request/path-params';
import { subjectSent } from '../../http/request/subject-filter';
import { DisclosureService } from './disclosure.service';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class DisclosuresController {
  constructor(private readonly disclosures: DisclosureService) {}

  @Operation(DISCLOSURES.listSubjectDisclosures)
  async listSubjectDisclosures(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging<SubjectDisclosuresQuery>,
  ): Promise<ItemPage<Disclosure>> {
    const { from, to, principal_id: principalId, via, grantee_tenant_id: granteeTenantId } = paging.query;
    const filter = { from, to, principalId, via, granteeTenantId };
    return paging.answer(await this.disclosures.ofSubject(actor, subject, filter, paging.at()), Disclosure.of);
  }

  @Operation(DISCLOSURES.listDisclosures)
  async listDisclosures(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging<DisclosuresQuery>,
  ): Promise<ItemPage<Disclosure>> {
    const { from, to, principal_id: principalId, via } = paging.query;
    const filter = { from, to, principalId, via, subject: subjectSent(paging.query) };
    return paging.answer(await this.disclosures.toTenant(actor, filter, paging.at()), Disclosure.of);
  }
}
