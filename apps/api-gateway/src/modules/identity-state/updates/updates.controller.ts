import { type Actor, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Post, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ActorParam } from '../../../http/request/actor.decorator';
import type { Response } from 'express';
import { JsonText } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot-routes';
import { ApiRoute } from '../../../http/describe/openapi';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { SubjectParam, UuidParam } from '../../../http/request/path-params';
import { Trace } from '../../../http/request/request-id';
import type { RequestTrace } from '../../../request-trace';
import { UpdateApplyService } from './update-apply.service';
import type { Proposal } from '../../../runtime/proposal';
import { ProposalBody } from './proposal-body.decorator';
import { UpdateService } from './update.service';
import {
  APPLY,
  APPLY_FOR_SUBJECT,
  AppliedUpdate,
  LIST,
  PROPOSE,
  READ,
  Update,
  UpdateListQuery,
  WITHDRAW,
} from './update.views';

/**
 * Serves both path families of the specification's "Updates". An update from one can be read, applied and withdrawn
 * through either.
 */
@ApiTags('Updates')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class UpdatesController {
  constructor(
    private readonly updates: UpdateService,
    private readonly applications: UpdateApplyService,
  ) {}

  @Hot()
  @Post('entity-state-updates')
  @ApiRoute('Propose a patch to the latest snapshot, with all RFC 6902 operations', RULES.proposeUpdate, PROPOSE)
  proposeUpdate(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @ProposalBody('tenant') proposal: Proposal,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.store(actor, trace, proposal, response);
  }

  @Get('entity-state-updates')
  @ApiRoute('List the updates of the tenant, newest first', RULES.readUpdates, LIST)
  listUpdates(@ActorParam() actor: Actor, @PageOf(UpdateListQuery) paging: Paging<UpdateListQuery>): Promise<JsonText> {
    return this.page(actor, null, paging);
  }

  @Get('entity-state-updates/:update_id')
  @ApiRoute('Read an update', RULES.readUpdates, READ)
  async getUpdate(@ActorParam() actor: Actor, @UuidParam({ name: 'update_id' }) updateId: string): Promise<JsonText> {
    return new JsonText(Update.textOf(await this.updates.find({ ...actor, updateId, subject: null })));
  }

  @Hot()
  @Post('entity-state-updates/:update_id/apply')
  @ApiRoute('Apply an update: write the next snapshot and return its envelope', RULES.applyUpdate, APPLY)
  async applyUpdate(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    const snapshot = await this.applications.apply(actor, trace, updateId, null);
    return new JsonText(snapshot.envelope ?? 'null');
  }

  @Post('entity-state-updates/:update_id/withdraw')
  @ApiRoute('Withdraw an update that is still proposed', RULES.withdrawUpdate, WITHDRAW)
  async withdrawUpdate(
    @ActorParam() actor: Actor,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    return new JsonText(Update.textOf(await this.updates.withdraw({ ...actor, updateId, subject: null }, trace)));
  }

  @Hot()
  @Post('subjects/:subject_type/:subject_id/updates')
  @ApiRoute("Propose a patch to a subject's latest snapshot: add, replace, remove", RULES.proposeUpdate, PROPOSE)
  proposeSubjectUpdate(
    @ActorParam() actor: Actor,
    @Trace() trace: RequestTrace,
    @ProposalBody('subject') proposal: Proposal,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.store(actor, trace, proposal, response);
  }

  @Get('subjects/:subject_type/:subject_id/updates')
  @ApiRoute('List the updates of a subject, newest first', RULES.readSubjectUpdates, LIST)
  listSubjectUpdates(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @PageOf(UpdateListQuery) paging: Paging<UpdateListQuery>,
  ): Promise<JsonText> {
    return this.page(actor, subject, paging);
  }

  @Get('subjects/:subject_type/:subject_id/updates/:update_id')
  @ApiRoute('Read an update of a subject', RULES.readSubjectUpdates, READ)
  async getSubjectUpdate(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: 'update_id' }) updateId: string,
  ): Promise<JsonText> {
    return new JsonText(Update.textOf(await this.updates.find({ ...actor, updateId, subject })));
  }

  @Hot()
  @Post('subjects/:subject_type/:subject_id/updates/:update_id/apply')
  @ApiRoute(
    'Apply an update of a subject: write the next snapshot and return its hashes',
    RULES.applyUpdate,
    APPLY_FOR_SUBJECT,
  )
  async applySubjectUpdate(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<AppliedUpdate> {
    return AppliedUpdate.of(await this.applications.apply(actor, trace, updateId, subject));
  }

  @Post('subjects/:subject_type/:subject_id/updates/:update_id/withdraw')
  @ApiRoute('Withdraw an update of a subject that is still proposed', RULES.withdrawUpdate, WITHDRAW)
  async withdrawSubjectUpdate(
    @ActorParam() actor: Actor,
    @SubjectParam() subject: SubjectRef,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    return new JsonText(Update.textOf(await this.updates.withdraw({ ...actor, updateId, subject }, trace)));
  }

  private async store(actor: Actor, trace: RequestTrace, proposal: Proposal, response: Response): Promise<JsonText> {
    const { update, isNew } = await this.updates.propose(actor, trace, proposal);
    response.status(isNew ? 201 : 200);
    return new JsonText(Update.textOf(update));
  }

  private async page(actor: Actor, subject: SubjectRef | null, paging: Paging<UpdateListQuery>): Promise<JsonText> {
    const { status } = paging.query;
    return paging.answerText(await this.updates.list(actor, subject, status, paging.at()), Update.textOf);
  }
}
