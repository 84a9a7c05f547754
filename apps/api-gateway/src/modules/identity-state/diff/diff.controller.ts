import type { Reader, SubjectRef } from '@iss/domain';
import { Controller, Inject } from '@nestjs/common';
import { DiffQuery, DIFFS, VersionDiffQuery } from '@iss/contract';
import { ReaderParam } from '../../../http/request/actor.decorator';
import type { JsonText } from '../../../http/answer/json-text';
import { SubjectParam, UuidParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../runtime/asker';
import { includedRoots, requireSides } from './diff.query';
import { type DiffOptions, DiffService } from './diff.service';
import { diffAnswer } from './diff.views';
import { verifyOptions } from '../snapshot/snapshot.query';
import { Operation } from '../../../http/describe/operation.decorator';

/** Compares two snapshots. Each global form shares its handler with a tenant-scoped form. */
@Controller()
export class DiffController {
  constructor(
    private readonly diffs: DiffService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Operation(DIFFS.diffVersions, DIFFS.diffVersionsAcrossTenants)
  async diffVersions(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() query: VersionDiffQuery,
  ): Promise<JsonText> {
    const sides = requireSides(query);
    const diff = await this.diffs.betweenVersions(reader, subject, sides, this.options(query));
    // The newest version at a moment may still change.
    const areNamed = typeof sides.from === 'number' && typeof sides.to === 'number';
    return diffAnswer(diff, 'versions', areNamed ? 'immutable' : 'revalidate');
  }

  @Operation(DIFFS.diffSnapshots, DIFFS.diffSnapshotsAcrossTenants)
  async diffSnapshots(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'from_snapshot_id' }) from: string,
    @UuidParam({ name: 'to_snapshot_id' }) to: string,
    @QueryOf() query: DiffQuery,
  ): Promise<JsonText> {
    return diffAnswer(await this.diffs.betweenIds(reader, { from, to }, this.options(query)), 'ids', 'immutable');
  }

  private options(query: DiffQuery): DiffOptions {
    return {
      include: includedRoots(query.include),
      withAttribution: (query.include_attribution ?? 'changed_only') === 'changed_only',
      ...verifyOptions(query, this.settings.limits.verifyDepth),
    };
  }
}
