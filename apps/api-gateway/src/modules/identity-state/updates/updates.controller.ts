import type { Actor, SubjectRef } from '@iss/domain';
import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AppliedUpdate, Update, UpdateListQuery, UPDATES } from '@iss/contract';
import { ActorParam } from '../../../http/request/actor.decorator';
import { JsonText } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot-routes';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { NamedSubjectParam, SubjectParam, UuidParam } from '../../../http/request/path-params';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import { UpdateApplyService } from './update-apply.service';
import type { Proposal } from '../../../runtime/proposal';
import { ProposalBody } from './proposal-body.decorator';
import { UpdateService } from './update.service';
import { Operation } from '../../../http/describe/operation.decorator';

/**
 * Serves both path families of the specification's "Updates". An update from one can be read, applied and withdrawn
 * through either.
 */
@Controller()
export class UpdatesController {
  constructor(
    private readonly updates: UpdateService,
    private readonly applications: UpdateApplyService,
  ) {}

  @Operation(UPDATES.proposeUpdate, UPDATES.proposeSubjectUpdate)
  @Hot()
  async proposeUpdate(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @ProposalBody() proposal: Proposal,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    const { update, isNew } = await this.updates.propose(actor, trace, proposal);
    response.status(isNew ? 201 : 200);
    return new JsonText(Update.textOf(update));
  }

  @Operation(UPDATES.listUpdates, UPDATES.listSubjectUpdates)
  async listUpdates(
    @ActorParam() actor: Actor,
    @NamedSubjectParam() subject: SubjectRef | null,
    @PageOf() paging: Paging<UpdateListQuery>,
  ): Promise<JsonText> {
    const { status } = paging.query;
    return paging.answerText(await this.updates.list(actor, subject, status, paging.at()), Update.textOf);
  }

  @Operation(UPDATES.getUpdate, UPDATES.getSubjectUpdate)
  async getUpdate(
    @ActorParam() actor: Actor,
    @NamedSubjectParam() subject: SubjectRef | null,
    @UuidParam({ name: 'update_id' }) updateId: string,
  ): Promise<JsonText> {
    return new JsonText(Update.textOf(await this.updates.find({ ...actor, updateId, subject })));
  }

  @Hot()
  @Operation(UPDATES.applyUpdate)
  async applyUpdate(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    const snapshot = await this.applications.apply(actor, trace, updateId, null);
    return new JsonText(snapshot.envelope ?? 'null');
  }

  @Hot()
  @Operation(UPDATES.applySubjectUpdate)
  async applySubjectUpdate(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<AppliedUpdate> {
    return AppliedUpdate.of(await this.applications.apply(actor, trace, updateId, subject));
  }

  @Operation(UPDATES.withdrawUpdate, UPDATES.withdrawSubjectUpdate)
  async withdrawUpdate(
    @ActorParam() actor: Actor,
    @NamedSubjectParam() subject: SubjectRef | null,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    return new JsonText(Update.textOf(await this.updates.withdraw({ ...actor, updateId, subject }, trace)));
  }
}
