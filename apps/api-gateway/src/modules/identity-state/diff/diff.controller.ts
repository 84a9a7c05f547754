import { type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ReaderParam } from '../../../http/request/actor.decorator';
import { Public } from '../../../auth/public.decorator';
import type { JsonText } from '../../../http/answer/json-text';
import { ApiRoute, inAnyTenant } from '../../../http/describe/openapi';
import { SubjectParam, UuidParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../runtime/asker';
import { BETWEEN_IDS, BETWEEN_VERSIONS } from './diff.openapi';
import { DiffQuery, includedRoots, requireSides, VersionDiffQuery } from './diff.query';
import { type DiffOptions, DiffService } from './diff.service';
import { diffAnswer } from './diff.views';
import { verifyOptions } from '../snapshot/snapshot.query';

/** Compares two snapshots. Each global form shares its handler with a tenant-scoped form. */
@ApiTags('Diff')
@ApiBearerAuth()
@Controller('v1')
export class DiffController {
  constructor(
    private readonly diffs: DiffService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/diff')
  @ApiRoute('Compare two versions of a subject', RULES.readDiff, BETWEEN_VERSIONS)
  diffVersions(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(VersionDiffQuery) query: VersionDiffQuery,
  ): Promise<JsonText> {
    return this.versions(reader, subject, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/diff')
  @ApiRoute(
    'Compare two versions of a subject, through any tenant of the caller that may',
    inAnyTenant(RULES.readDiff),
    BETWEEN_VERSIONS,
  )
  diffVersionsAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(VersionDiffQuery) query: VersionDiffQuery,
  ): Promise<JsonText> {
    return this.versions(reader, subject, query);
  }

  @Get('tenants/:tenant_id/snapshots/:from_snapshot_id/diff/:to_snapshot_id')
  @ApiRoute('Compare two snapshots of one subject by their ids', RULES.readDiff, BETWEEN_IDS)
  diffSnapshots(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'from_snapshot_id' }) from: string,
    @UuidParam({ name: 'to_snapshot_id' }) to: string,
    @QueryOf(DiffQuery) query: DiffQuery,
  ): Promise<JsonText> {
    return this.ids(reader, { from, to }, query);
  }

  @Public('global_reads_are_public')
  @Get('snapshots/:from_snapshot_id/diff/:to_snapshot_id')
  @ApiRoute(
    'Compare two snapshots by their ids, through any tenant of the caller that may',
    inAnyTenant(RULES.readDiff),
    BETWEEN_IDS,
  )
  diffSnapshotsAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'from_snapshot_id' }) from: string,
    @UuidParam({ name: 'to_snapshot_id' }) to: string,
    @QueryOf(DiffQuery) query: DiffQuery,
  ): Promise<JsonText> {
    return this.ids(reader, { from, to }, query);
  }

  private async versions(reader: Reader & Asker, subject: SubjectRef, query: VersionDiffQuery): Promise<JsonText> {
    const sides = requireSides(query);
    const diff = await this.diffs.betweenVersions(reader, subject, sides, this.options(query));
    // The version of a moment may still change.
    const areNamed = typeof sides.from === 'number' && typeof sides.to === 'number';
    return diffAnswer(diff, 'versions', areNamed ? 'immutable' : 'revalidate');
  }

  private async ids(reader: Reader & Asker, ids: { from: string; to: string }, query: DiffQuery): Promise<JsonText> {
    return diffAnswer(await this.diffs.betweenIds(reader, ids, this.options(query)), 'ids', 'immutable');
  }

  private options(query: DiffQuery): DiffOptions {
    return {
      include: includedRoots(query.include),
      withAttribution: (query.include_attribution ?? 'changed_only') === 'changed_only',
      ...verifyOptions(query, this.settings.limits.verifyDepth),
    };
  }
}
