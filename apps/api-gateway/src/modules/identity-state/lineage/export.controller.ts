import { DomainError, type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ReaderParam } from '../../../http/request/actor.decorator';
import type { Request } from 'express';
import { Public } from '../../../auth/public.decorator';
import type { TextStream } from '../../../http/answer/json-text';
import { ApiRoute, inAnyTenant } from '../../../http/describe/openapi';
import { NotAcceptable } from '../../../http/errors/not-acceptable';
import { QueryOf } from '../../../http/lists/query';
import { SubjectParam } from '../../../http/request/path-params';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { asOfSent, ExportLinesQuery, ExportQuery } from '../snapshot/snapshot.query';
import type { Asker } from '../../../runtime/asker';
import { EXPORT, EXPORT_LINES } from './lineage.openapi';
import { BundleService } from './bundle.service';
import { bundleLines, exportAnswer, exportLines } from './lineage.views';
import { SnapshotListService } from './snapshot-list.service';

const NDJSON = 'application/x-ndjson';

/** Exports whole lineages: as one JSON document, or as a stream of lines for any number of snapshots. */
@ApiTags('Snapshot reads')
@ApiBearerAuth()
@Controller('v1')
export class ExportController {
  constructor(
    private readonly lists: SnapshotListService,
    private readonly bundles: BundleService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/export')
  @ApiRoute("Export a subject's whole history", RULES.readLineage, EXPORT)
  exportSnapshots(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @Req() request: Request,
    @QueryOf(ExportQuery) query: ExportQuery,
  ): Promise<TextStream> {
    return this.export(reader, subject, query, request);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/export')
  @ApiRoute(
    "Export a subject's whole history, through any tenant of the caller that may",
    inAnyTenant(RULES.readLineage),
    EXPORT,
  )
  exportSnapshotsAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @Req() request: Request,
    @QueryOf(ExportQuery) query: ExportQuery,
  ): Promise<TextStream> {
    return this.export(reader, subject, query, request);
  }

  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/export.ndjson')
  @ApiRoute("Export a subject's whole history as NDJSON", RULES.readLineage, EXPORT_LINES)
  exportSnapshotLines(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(ExportLinesQuery) query: ExportLinesQuery,
  ): Promise<TextStream> {
    return this.exportLines(reader, subject, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/export.ndjson')
  @ApiRoute(
    "Export a subject's whole history as NDJSON, through any tenant of the caller that may",
    inAnyTenant(RULES.readLineage),
    EXPORT_LINES,
  )
  exportSnapshotLinesAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(ExportLinesQuery) query: ExportLinesQuery,
  ): Promise<TextStream> {
    return this.exportLines(reader, subject, query);
  }

  private async export(
    reader: Reader & Asker,
    subject: SubjectRef,
    query: ExportQuery,
    request: Request,
  ): Promise<TextStream> {
    request.res?.vary('Accept');
    const takesLines = request.accepts('application/json', NDJSON) === NDJSON;
    if (query.proofs !== undefined) {
      if (query.as_of !== undefined) throw olderBundle();
      if (!takesLines) throw new NotAcceptable(`A bundle is sent as lines: send Accept: ${NDJSON}.`);
      return bundleLines(subject, await this.bundles.bundle(reader, subject));
    }
    if (takesLines) return this.exportLines(reader, subject, query);
    const { exportSnapshots } = this.settings.limits;
    return exportAnswer(subject, await this.lists.exportAsOf(reader, subject, exportSnapshots, asOfSent(query)));
  }

  private async exportLines(reader: Reader & Asker, subject: SubjectRef, query: ExportLinesQuery): Promise<TextStream> {
    return exportLines(await this.lists.exportAsOf(reader, subject, null, asOfSent(query)));
  }
}

/** Refuses older bundles, because verifiers rely on a bundle to contain the newest version. */
function olderBundle(): DomainError {
  const message = 'must not be sent with proofs: a bundle always has the newest version';
  return new DomainError('validation_error', `as_of ${message}.`, [
    { path: '/query/as_of', message, code: 'mismatch' },
  ]);
}
