import { DomainError } from '@iss/domain';
import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { oneOf } from '../../http/aliases';
import { JsonBody } from '../../http/json-body';
import { JsonText } from '../../http/json-text';
import { SubjectParam, TenantIdParam, UuidParam } from '../../http/path-params';
import { type RequestTrace, Trace } from '../../http/request-id';
import { ApiUpdateApply, ApiUpdatePropose } from './update.openapi';
import { ProposeSubjectUpdateBody, ProposeUpdateBody } from './update.dto';
import { UpdateService } from './update.service';
import { type AppliedView, appliedView, type UpdateView, updateView } from './update.views';

/** Both path families of the specification's "Updates". A proposal made through one is applied through either. */
@ApiTags('Updates')
@ApiBearerAuth()
@Controller('v1/tenants/:tenant_id')
export class UpdatesController {
  constructor(private readonly updates: UpdateService) {}

  @Post('entity-state-updates')
  @ApiOperation({ summary: 'Propose a patch on the latest snapshot (all RFC 6902 operations). Role: tenant_proposer' })
  @ApiUpdatePropose('tenant', ProposeUpdateBody)
  async propose(
    @TenantIdParam() tenantId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(ProposeUpdateBody) body: ProposeUpdateBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UpdateView> {
    const { update, isNew } = await this.updates.propose(
      { tenantId, principalId: principal.principalId, ...trace },
      {
        subject: { subjectType: body.subject_type, subjectId: body.subject_id },
        baseSnapshotId: body.base_snapshot_id,
        baseSnapshotVersion: body.base_snapshot_version,
        patchOps: oneOf(body, ['patch_ops', 'operations', 'ops']) ?? null,
        requestId: body.request_id ?? null,
        initiatedBy: oneOf(body, ['initiated_by', 'initiator']) ?? null,
      },
    );
    response.status(isNew ? 201 : 200);
    return updateView(update);
  }

  @Post('entity-state-updates/:update_id/apply')
  @ApiOperation({ summary: 'Apply a proposal: writes the next snapshot and answers its envelope. Role: tenant_editor' })
  @ApiUpdateApply('tenant')
  async apply(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<JsonText> {
    const writer = { tenantId, principalId: principal.principalId, ...trace };
    const snapshot = await this.updates.apply(writer, updateId, null);
    return new JsonText(snapshot.envelope ?? 'null');
  }

  @Post('subjects/:subject_type/:subject_id/updates')
  @ApiOperation({ summary: 'Propose a patch on the latest snapshot (add, replace, remove). Role: tenant_proposer' })
  @ApiUpdatePropose('subject', ProposeSubjectUpdateBody)
  async proposeForSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: { subjectType: string; subjectId: string },
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
    @JsonBody(ProposeSubjectUpdateBody) body: ProposeSubjectUpdateBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UpdateView> {
    if (body.subject_id !== subject.subjectId) {
      throw new DomainError('validation_error', "subject_id must equal the path's.", [
        { path: '/subject_id', message: "must equal the path's subject_id", code: 'mismatch' },
      ]);
    }
    const { update, isNew } = await this.updates.propose(
      { tenantId, principalId: principal.principalId, ...trace },
      {
        subject,
        baseSnapshotId: null,
        baseSnapshotVersion: body.base_snapshot_version,
        patchOps: body.patch_ops ?? null,
        requestId: body.request_id ?? null,
        initiatedBy: null,
        allowedOps: ['add', 'replace', 'remove'],
      },
    );
    response.status(isNew ? 201 : 200);
    return updateView(update);
  }

  @Post('subjects/:subject_type/:subject_id/updates/:update_id/apply')
  @HttpCode(200)
  @ApiOperation({ summary: 'Apply a proposal: writes the next snapshot and answers its hashes. Role: tenant_editor' })
  @ApiUpdateApply('subject')
  async applyForSubject(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: { subjectType: string; subjectId: string },
    @UuidParam({ name: 'update_id' }) updateId: string,
    @CurrentPrincipal() principal: Principal,
    @Trace() trace: RequestTrace,
  ): Promise<AppliedView> {
    const writer = { tenantId, principalId: principal.principalId, ...trace };
    return appliedView(await this.updates.apply(writer, updateId, subject));
  }
}
