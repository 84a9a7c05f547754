import { DomainError } from '@iss/domain';
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.decorator';
import type { Principal } from '../../auth/principal';
import { Public } from '../../auth/public.decorator';
import { SubjectParam, TenantIdParam, UuidParam, VersionParam } from '../../http/path-params';
import type { JsonText } from '../../http/json-text';
import { QueryOf } from '../../http/query';
import { SETTINGS, type GatewaySettings } from '../../settings';
import { ApiSnapshotAnswers } from './snapshot.openapi';
import { SnapshotQuery } from './snapshot.dto';
import { type ReadOptions, SnapshotReadService } from './snapshot-read.service';
import { snapshotAnswer } from './snapshot.views';

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
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiOperation({ summary: "Read a subject's latest snapshot, as owner or by grant (read_latest)" })
  @ApiSnapshotAnswers({ subject: true, tenant: true })
  latestForTenant(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.latest(tenantId, subject, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiOperation({ summary: "Read a subject's latest snapshot, for any tenant of the caller that may" })
  @ApiSnapshotAnswers({ subject: true, tenant: false })
  latestForAny(
    @SubjectParam() subject: Subject,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.latest(null, subject, query, principal);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/:snapshot_version')
  @ApiOperation({
    summary: 'Read one version of a subject, as owner or by grant (read_snapshot_by_id or read_lineage)',
  })
  @ApiParam({ name: 'snapshot_version', schema: { type: 'integer', minimum: 1 }, example: 1 })
  @ApiSnapshotAnswers({ subject: true, tenant: true })
  versionForTenant(
    @TenantIdParam() tenantId: string,
    @SubjectParam() subject: Subject,
    @VersionParam() version: number,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.version(tenantId, subject, version, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/:snapshot_version')
  @ApiOperation({ summary: 'Read one version of a subject, for any tenant of the caller that may' })
  @ApiParam({ name: 'snapshot_version', schema: { type: 'integer', minimum: 1 }, example: 1 })
  @ApiSnapshotAnswers({ subject: true, tenant: false })
  versionForAny(
    @SubjectParam() subject: Subject,
    @VersionParam() version: number,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.version(null, subject, version, query, principal);
  }

  @Get('tenants/:tenant_id/snapshots/:snapshot_id')
  @ApiOperation({ summary: 'Read a snapshot by id, as owner or by grant (read_snapshot_by_id)' })
  @ApiParam({ name: 'snapshot_id', schema: { type: 'string', format: 'uuid' } })
  @ApiSnapshotAnswers({ subject: false, tenant: true })
  idForTenant(
    @TenantIdParam() tenantId: string,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.id(tenantId, snapshotId, query, principal);
  }

  @Public('global_reads_are_public')
  @Get('snapshots/:snapshot_id')
  @ApiOperation({ summary: 'Read a snapshot by id, for any tenant of the caller that may' })
  @ApiParam({ name: 'snapshot_id', schema: { type: 'string', format: 'uuid' } })
  @ApiSnapshotAnswers({ subject: false, tenant: false })
  idForAny(
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<JsonText> {
    return this.id(null, snapshotId, query, principal);
  }

  private async latest(
    tenantId: string | null,
    subject: Subject,
    query: SnapshotQuery,
    principal: Principal,
  ): Promise<JsonText> {
    const reader = { tenantId, principalId: principal.principalId };
    const { snapshot, verification } = await this.snapshots.latest(reader, subject, this.options(query));
    return snapshotAnswer(snapshot, query.view ?? 'full', 'revalidate', verification);
  }

  private async version(
    tenantId: string | null,
    subject: Subject,
    version: number,
    query: SnapshotQuery,
    principal: Principal,
  ): Promise<JsonText> {
    const reader = { tenantId, principalId: principal.principalId };
    const { snapshot, verification } = await this.snapshots.byVersion(reader, subject, version, this.options(query));
    return snapshotAnswer(snapshot, query.view ?? 'full', 'immutable', verification);
  }

  private async id(
    tenantId: string | null,
    snapshotId: string,
    query: SnapshotQuery,
    principal: Principal,
  ): Promise<JsonText> {
    const reader = { tenantId, principalId: principal.principalId };
    const { snapshot, verification } = await this.snapshots.byId(reader, snapshotId, this.options(query));
    return snapshotAnswer(snapshot, query.view ?? 'full', 'immutable', verification);
  }

  private options(query: SnapshotQuery): ReadOptions {
    const depth = Number(query.depth ?? 1);
    const { verifyDepth } = this.settings.limits;
    if (depth > verifyDepth) {
      throw new DomainError('validation_error', `depth may be at most ${verifyDepth}.`, [
        { path: '/query/depth', message: `must be at most ${verifyDepth}`, code: 'too_large' },
      ]);
    }
    return { withEnvelope: (query.view ?? 'full') === 'full', verify: query.verify ?? 'none', depth };
  }
}
