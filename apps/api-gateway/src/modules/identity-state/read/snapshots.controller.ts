import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { RULES } from '../../../access/rules';
import { CurrentPrincipal } from '../../../auth/current-principal.decorator';
import type { Principal } from '../../../auth/principal';
import { Public } from '../../../auth/public.decorator';
import type { JsonText } from '../../../http/answer/json-text';
import { ApiRoute } from '../../../http/describe/openapi';
import { SubjectParam, TenantIdParam, UuidParam, VersionParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { RecentAnswers } from './recent-answers';
import { SnapshotQuery, verifyOptions, VerifyQuery } from '../snapshot/snapshot.dto';
import { ApiSnapshotRead } from '../snapshot/snapshot.openapi';
import { SnapshotReadService, type SnapshotTarget } from './snapshot-read.service';
import { proofAnswer, REUSE, snapshotAnswer, summaryAnswer } from '../snapshot/snapshot.views';

interface Subject {
  subjectType: string;
  subjectId: string;
}

/** Reads of one snapshot; each global form has its tenant-scoped twin behind the same handler. */
@ApiTags('Snapshot reads')
@ApiBearerAuth()
@Controller('v1')
export class SnapshotsController {
  constructor(
    private readonly snapshots: SnapshotReadService,
    private readonly recent: RecentAnswers,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id')
  @ApiRoute("Read a subject's current state", RULES.readLatest)
  @ApiSnapshotRead('latest', 'tenant', 'summary')
  summaryForTenant(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @QueryOf(VerifyQuery) query: VerifyQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.summary(tenantId, subject, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id')
  @ApiRoute("Read a subject's current state, for any tenant of the caller that may", RULES.readLatest)
  @ApiSnapshotRead('latest', 'global', 'summary')
  summaryForAny(
    @SubjectParam() subject: Subject,
    @QueryOf(VerifyQuery) query: VerifyQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.summary(null, subject, query, principal);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiRoute("Read a subject's latest snapshot", RULES.readLatest)
  @ApiSnapshotRead('latest', 'tenant')
  latestForTenant(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.snapshot(tenantId, { kind: 'latest', subject }, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiRoute("Read a subject's latest snapshot, for any tenant of the caller that may", RULES.readLatest)
  @ApiSnapshotRead('latest', 'global')
  latestForAny(
    @SubjectParam() subject: Subject,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.snapshot(null, { kind: 'latest', subject }, query, principal);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/:snapshot_version')
  @ApiRoute('Read one version of a subject', RULES.readVersion)
  @ApiSnapshotRead('version', 'tenant')
  versionForTenant(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @VersionParam() version: number,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.snapshot(tenantId, { kind: 'version', subject, version }, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/:snapshot_version')
  @ApiRoute('Read one version of a subject, for any tenant of the caller that may', RULES.readVersion)
  @ApiSnapshotRead('version', 'global')
  versionForAny(
    @SubjectParam() subject: Subject,
    @VersionParam() version: number,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.snapshot(null, { kind: 'version', subject, version }, query, principal);
  }

  @Get('tenants/:tenant_id/snapshots/:snapshot_id')
  @ApiRoute('Read a snapshot by id', RULES.readById)
  @ApiSnapshotRead('id', 'tenant')
  idForTenant(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.snapshot(tenantId, { kind: 'id', snapshotId }, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('snapshots/:snapshot_id')
  @ApiRoute('Read a snapshot by id, for any tenant of the caller that may', RULES.readById)
  @ApiSnapshotRead('id', 'global')
  idForAny(
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.snapshot(null, { kind: 'id', snapshotId }, query, principal);
  }

  @Get('tenants/:tenant_id/snapshots/:snapshot_id/proof')
  @ApiRoute("Read a snapshot's hashes", RULES.readById)
  @ApiSnapshotRead('id', 'tenant', 'proof')
  proofForTenant(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.proof(tenantId, snapshotId, principal);
  }

  @Public('global_reads_are_public')
  @Get('snapshots/:snapshot_id/proof')
  @ApiRoute("Read a snapshot's hashes, for any tenant of the caller that may", RULES.readById)
  @ApiSnapshotRead('id', 'global', 'proof')
  proofForAny(
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.proof(null, snapshotId, principal);
  }

  private async summary(
    tenantId: string | null,
    subject: Subject,
    query: VerifyQuery,
    { principalId }: Principal,
  ): Promise<JsonText> {
    const target = { kind: 'latest', subject } as const;
    const options = { ...verifyOptions(query, this.settings.limits.verifyDepth), withEnvelope: true };
    const { snapshot, verification } = await this.snapshots.read({ tenantId, principalId }, target, options);
    return summaryAnswer(snapshot, verification);
  }

  private async snapshot(
    tenantId: string | null,
    target: SnapshotTarget,
    query: SnapshotQuery,
    { principalId }: Principal,
  ): Promise<JsonText> {
    const reader = { tenantId, principalId };
    const view = query.view ?? 'full';
    const options = { ...verifyOptions(query, this.settings.limits.verifyDepth), withEnvelope: view === 'full' };
    if (options.verify === 'none' && options.withEnvelope)
      return this.recent.answer(target, (knownHash) => this.snapshots.readUnless(reader, target, knownHash));
    const { snapshot, verification } = await this.snapshots.read(reader, target, options);
    return snapshotAnswer(snapshot, view, REUSE[target.kind], verification);
  }

  private async proof(tenantId: string | null, snapshotId: string, { principalId }: Principal): Promise<JsonText> {
    const target = { kind: 'id', snapshotId } as const;
    const options = { verify: 'none', depth: 1, withEnvelope: false } as const;
    const { snapshot } = await this.snapshots.read({ tenantId, principalId }, target, options);
    return proofAnswer(snapshot);
  }
}
