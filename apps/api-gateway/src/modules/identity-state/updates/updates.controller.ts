import { Controller, Get, HttpCode, Post, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { RULES } from '../../../access/rules';
import { CurrentPrincipal } from '../../../auth/current-principal.decorator';
import type { Principal } from '../../../auth/principal';
import { JsonBody } from '../../../http/request/json-body';
import { JsonText } from '../../../http/answer/json-text';
import { ApiRoute } from '../../../http/describe/openapi';
import { PageOf, type Paging } from '../../../http/lists/paging';
import { SubjectParam, TenantIdParam, UuidParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type RequestTrace, Trace } from '../../../http/request/request-id';
import {
  proposalOf,
  ProposeSubjectUpdateBody,
  ProposeUpdateBody,
  subjectProposalOf,
  UpdateListQuery,
} from './update.dto';
import {
  ApiUpdate,
  ApiUpdateApply,
  ApiUpdateList,
  ApiUpdatePropose,
  ApiUpdateWithdraw,
  WHO_WITHDRAWS,
} from './update.openapi';
import { UpdateApplyService } from './update-apply.service';
import { type Proposal, UpdateService } from './update.service';
import { type AppliedView, appliedView, updateText } from './update.views';

type Subject = Proposal['subject'];

const PAGE = { default: 50, max: 200 };

/** Both path families of the specification's "Updates". An update of one is read, applied and withdrawn through either. */
@ApiTags('Updates')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class UpdatesController {
  constructor(
    private readonly updates: UpdateService,
    private readonly applications: UpdateApplyService,
  ) {}

  @Post('entity-state-updates')
  @ApiRoute('Propose a patch on the latest snapshot, with all RFC 6902 operations', RULES.proposeUpdate)
  @ApiUpdatePropose('tenant', ProposeUpdateBody)
  propose(
    @TenantIdParam() tenantId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @JsonBody(ProposeUpdateBody) body: ProposeUpdateBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.store({ tenantId, principalId }, proposalOf(body), response);
  }

  @Get('entity-state-updates')
  @ApiRoute('List the updates of the tenant, newest first', RULES.readUpdates)
  @ApiUpdateList('tenant')
  list(
    @TenantIdParam() tenantId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @QueryOf(UpdateListQuery) query: UpdateListQuery,
    @PageOf(PAGE) paging: Paging,
  ): Promise<JsonText> {
    return this.page({ tenantId, principalId }, null, query, paging);
  }

  @Get('entity-state-updates/:update_id')
  @ApiRoute('Read an update', RULES.readUpdates)
  @ApiUpdate('tenant')
  async find(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return new JsonText(updateText(await this.updates.find({ tenantId, principalId, updateId, subject: null })));
  }

  @Post('entity-state-updates/:update_id/apply')
  @ApiRoute('Apply an update: writes the next snapshot and answers its envelope', RULES.applyUpdate)
  @ApiUpdateApply('tenant')
  async apply(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    const snapshot = await this.applications.apply({ tenantId, principalId, ...trace }, updateId, null);
    return new JsonText(snapshot.envelope ?? 'null');
  }

  @Post('entity-state-updates/:update_id/withdraw')
  @HttpCode(200)
  @ApiRoute('Withdraw an update that is still proposed', RULES.withdrawUpdate, { description: WHO_WITHDRAWS })
  @ApiUpdateWithdraw('tenant')
  async withdraw(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return new JsonText(updateText(await this.updates.withdraw({ tenantId, principalId, updateId, subject: null })));
  }

  @Post('subjects/:subject_type/:subject_id/updates')
  @ApiRoute('Propose a patch on the latest snapshot of a subject: add, replace, remove', RULES.proposeUpdate)
  @ApiUpdatePropose('subject', ProposeSubjectUpdateBody)
  proposeForSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @CurrentPrincipal() { principalId }: Principal,
    @JsonBody(ProposeSubjectUpdateBody) body: ProposeSubjectUpdateBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.store({ tenantId, principalId }, subjectProposalOf(subject, body), response);
  }

  @Get('subjects/:subject_type/:subject_id/updates')
  @ApiRoute('List the updates of a subject, newest first', RULES.readSubjectUpdates)
  @ApiUpdateList('subject')
  listOfSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @CurrentPrincipal() { principalId }: Principal,
    @QueryOf(UpdateListQuery) query: UpdateListQuery,
    @PageOf(PAGE) paging: Paging,
  ): Promise<JsonText> {
    return this.page({ tenantId, principalId }, subject, query, paging);
  }

  @Get('subjects/:subject_type/:subject_id/updates/:update_id')
  @ApiRoute('Read an update of a subject', RULES.readSubjectUpdates)
  @ApiUpdate('subject')
  async findForSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return new JsonText(updateText(await this.updates.find({ tenantId, principalId, updateId, subject })));
  }

  @Post('subjects/:subject_type/:subject_id/updates/:update_id/apply')
  @HttpCode(200)
  @ApiRoute('Apply an update of a subject: writes the next snapshot and answers its hashes', RULES.applyUpdate)
  @ApiUpdateApply('subject')
  async applyForSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() { principalId }: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<AppliedView> {
    return appliedView(await this.applications.apply({ tenantId, principalId, ...trace }, updateId, subject));
  }

  @Post('subjects/:subject_type/:subject_id/updates/:update_id/withdraw')
  @HttpCode(200)
  @ApiRoute('Withdraw an update of a subject that is still proposed', RULES.withdrawUpdate, {
    description: WHO_WITHDRAWS,
  })
  @ApiUpdateWithdraw('subject')
  async withdrawForSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() { principalId }: Principal,
  ): Promise<JsonText> {
    return new JsonText(updateText(await this.updates.withdraw({ tenantId, principalId, updateId, subject })));
  }

  private async store(
    caller: { tenantId: string; principalId: string },
    proposal: Proposal,
    response: Response,
  ): Promise<JsonText> {
    const { update, isNew } = await this.updates.propose(caller, proposal);
    response.status(isNew ? 201 : 200);
    return new JsonText(updateText(update));
  }

  private async page(
    caller: { tenantId: string; principalId: string },
    subject: Subject | null,
    { status }: UpdateListQuery,
    paging: Paging,
  ): Promise<JsonText> {
    return paging.answerText(await this.updates.list(caller, subject, status, paging.at({ status })), updateText);
  }
}
