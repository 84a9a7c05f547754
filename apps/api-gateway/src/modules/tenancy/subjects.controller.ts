import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../http/request/actor.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, ApiSubjectParams, ApiTenantParam, object } from '../../http/describe/openapi';
import { listExample, listSchema, PageOf, type PageView, type Paging } from '../../http/lists/paging';
import { SubjectParam } from '../../http/request/path-params';
import { QueryOf } from '../../http/lists/query';
import { SubjectListQuery } from './subject.dto';
import { SubjectService } from './subject.service';
import {
  OWNERSHIP,
  OWNERSHIP_EXAMPLE,
  type OwnershipView,
  ownershipView,
  SUBJECT,
  SUBJECT_EXAMPLE,
  type SubjectView,
  subjectView,
} from './subject.views';

@ApiTags('Tenants, members, principals')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id/subjects')
export class SubjectsController {
  constructor(private readonly subjects: SubjectService) {}

  @Get()
  @ApiRoute('Subjects that the tenant owns, by type and id', RULES.readSubjects)
  @ApiTenantParam()
  @ApiAnswer(200, 'One page.', listSchema(SUBJECT), listExample([SUBJECT_EXAMPLE], 50))
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async list(
    @ActorParam() actor: Actor,
    @QueryOf(SubjectListQuery) { subject_type, subject_id_prefix }: SubjectListQuery,
    @PageOf({ default: 50, max: 200 }) paging: Paging,
  ): Promise<{ items: SubjectView[] } & PageView> {
    const filter = { subjectType: subject_type ?? null, subjectIdPrefix: subject_id_prefix ?? '' };
    const request = paging.at({ subject_type, subject_id_prefix });
    return paging.answer(await this.subjects.owned(actor, filter, request), subjectView);
  }

  @Get(':subject_type/:subject_id/owners')
  @ApiRoute('The tenant that owns a subject, which is one', RULES.readOwners)
  @ApiTenantParam()
  @ApiSubjectParams()
  @ApiAnswer(200, 'The owner.', object({ items: { type: 'array', items: OWNERSHIP } }), { items: [OWNERSHIP_EXAMPLE] })
  @ApiErrors('validation_error', 'unauthorized', 'forbidden')
  async owners(@ActorParam() actor: Actor, @SubjectParam() subject: SubjectRef): Promise<{ items: OwnershipView[] }> {
    return { items: [ownershipView(await this.subjects.owner(actor, subject))] };
  }
}
