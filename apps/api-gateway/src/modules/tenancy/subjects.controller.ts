import type { Actor, SubjectRef } from '@iss/domain';
import { Controller } from '@nestjs/common';
import { Ownership, type ItemPage, Subject, SubjectListQuery, SUBJECTS } from '@iss/contract';
import { PageOf, type Paging } from '../../http/lists/paging';
import { ActorParam } from '../../http/request/actor.decorator';
import { SubjectParam } from '../../http/request/path-params';
import { SubjectService } from './subject.service';
import { searchSent } from './subject.views';
import { Operation } from '../../http/describe/operation.decorator';

@Controller()
export class SubjectsController {
  constructor(private readonly subjects: SubjectService) {}

  @Operation(SUBJECTS.listSubjects)
  async listSubjects(
    @ActorParam() actor: Actor,
    @PageOf() paging: Paging<SubjectListQuery>,
  ): Promise<ItemPage<Subject>> {
    const filter = { subjectType: paging.query.subject_type ?? null, search: searchSent(paging.query) };
    return paging.answer(await this.subjects.owned(actor, filter, paging.at()), Subject.of);
  }

  @Operation(SUBJECTS.listOwners)
  async listOwners(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf() paging: Paging,
  ): Promise<ItemPage<Ownership>> {
    paging.at();
    const owner = await this.subjects.owner(actor, subject);
    return paging.answer({ items: [owner], next: null }, Ownership.of);
  }
}
