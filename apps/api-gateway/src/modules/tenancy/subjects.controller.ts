import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { SPECIFIED_LISTS } from '@iss/contract';
import { ApiRoute } from '../../http/describe/openapi';
import { pageAnswer, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { SubjectParam } from '../../http/request/path-params';
import { SubjectService } from './subject.service';
import { Ownership, OWNERSHIP_EXAMPLE, searchSent, Subject, SUBJECT_EXAMPLE, SubjectListQuery } from './subject.views';

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/subjects')
export class SubjectsController {
  constructor(private readonly subjects: SubjectService) {}

  @Get()
  @ApiRoute(
    'List the subjects that the tenant owns, by type and id, or search them by name or identifier',
    RULES.readSubjects,
    {
      description:
        'Use it to see if a subject exists: a read of a subject that does not exist returns 403, like a read of ' +
        'another tenant’s subject.',
      answers: { 200: pageAnswer('One page.', Subject, [SUBJECT_EXAMPLE], SPECIFIED_LISTS.tenantSubjects) },
    },
  )
  async listSubjects(
    @ActorParam() actor: Actor,
    @PageOf(SubjectListQuery, SPECIFIED_LISTS.tenantSubjects) paging: Paging<SubjectListQuery>,
  ): Promise<{ items: Subject[] } & PageView> {
    const filter = { subjectType: paging.query.subject_type ?? null, search: searchSent(paging.query) };
    return paging.answer(await this.subjects.owned(actor, filter, paging.at()), Subject.of);
  }

  @Get(':subject_type/:subject_id/owners')
  @ApiRoute('Read the tenant that owns a subject', RULES.readOwners, {
    answers: { 200: pageAnswer('The owner.', Ownership, [OWNERSHIP_EXAMPLE]) },
  })
  async listOwners(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging,
  ): Promise<{ items: Ownership[] } & PageView> {
    paging.at();
    const owner = await this.subjects.owner(actor, subject);
    return paging.answer({ items: [owner], next: null }, Ownership.of);
  }
}
