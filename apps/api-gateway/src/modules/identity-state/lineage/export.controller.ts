import { type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ReaderParam } from '../../../http/request/actor.decorator';
import type { Request } from 'express';
import { Public } from '../../../auth/public.decorator';
import type { TextStream } from '../../../http/answer/json-text';
import { ApiRoute, inAnyTenant } from '../../../http/describe/openapi';
import { SubjectParam } from '../../../http/request/path-params';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { EXPORT } from './lineage.openapi';
import { exportAnswer, exportLines } from './lineage.views';
import { SnapshotListService } from './snapshot-list.service';

const NDJSON = 'application/x-ndjson';

/** Whole lineages: one JSON document, or a stream of lines for any number of snapshots. */
@ApiTags('Snapshot reads')
@ApiBearerAuth()
@Controller('v1')
export class ExportController {
  constructor(
    private readonly lists: SnapshotListService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/export')
  @ApiRoute("Export a subject's whole history", RULES.readLineage, EXPORT)
  exportSnapshots(
    @ReaderParam() reader: Reader,
    @SubjectParam() subject: SubjectRef,
    @Req() request: Request,
  ): Promise<TextStream> {
    return this.export(reader, subject, request);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/export')
  @ApiRoute(
    "Export a subject's whole history, for any tenant of the caller that may",
    inAnyTenant(RULES.readLineage),
    EXPORT,
  )
  exportSnapshotsAcrossTenants(
    @ReaderParam() reader: Reader,
    @SubjectParam() subject: SubjectRef,
    @Req() request: Request,
  ): Promise<TextStream> {
    return this.export(reader, subject, request);
  }

  private async export(reader: Reader, subject: SubjectRef, request: Request): Promise<TextStream> {
    request.res?.vary('Accept');
    const isLines = request.accepts('application/json', NDJSON) === NDJSON;
    const max = isLines ? null : this.settings.limits.exportSnapshots;
    const snapshots = await this.lists.export(reader, subject, max);
    return isLines ? exportLines(snapshots) : exportAnswer(subject, snapshots);
  }
}
