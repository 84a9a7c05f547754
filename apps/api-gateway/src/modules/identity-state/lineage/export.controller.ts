import { DomainError, type Reader, type SubjectRef } from '@iss/domain';
import { Controller, Inject, Req } from '@nestjs/common';
import type { Request } from 'express';
import { ExportLinesQuery, ExportQuery, EXPORTS, NDJSON } from '@iss/contract';
import { ReaderParam } from '../../../http/request/actor.decorator';
import type { TextStream } from '../../../http/answer/json-text';
import { NotAcceptable } from '../../../http/errors/not-acceptable';
import { QueryOf } from '../../../http/lists/query';
import { SubjectParam } from '../../../http/request/path-params';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import { asOfSent } from '../snapshot/snapshot.query';
import type { Asker } from '../../../runtime/asker';
import { BundleService } from './bundle.service';
import { bodsAnswer, bundleLines, exportAnswer, exportLines } from './lineage.views';
import { SnapshotListService } from './snapshot-list.service';
import { Operation } from '../../../http/describe/operation.decorator';

/** Exports whole lineages: as one JSON document, or as a stream of lines for any number of snapshots. */
@Controller()
export class ExportController {
  constructor(
    private readonly lists: SnapshotListService,
    private readonly bundles: BundleService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Operation(EXPORTS.exportSnapshots, EXPORTS.exportSnapshotsAcrossTenants)
  async exportSnapshots(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @Req() request: Request,
    @QueryOf() query: ExportQuery,
  ): Promise<TextStream> {
    request.res?.vary('Accept');
    const takesLines = request.accepts('application/json', NDJSON) === NDJSON;
    if (query.proofs !== undefined) {
      if (query.as_of !== undefined) throw notOfBundle('as_of', 'a bundle always has the newest version');
      if (query.format !== undefined) throw notOfBundle('format', 'a bundle has snapshots');
      if (!takesLines) throw new NotAcceptable(`A bundle is sent as lines: send Accept: ${NDJSON}.`);
      return bundleLines(subject, await this.bundles.bundle(reader, subject));
    }
    const { exportSnapshots } = this.settings.limits;
    if (query.format !== undefined) {
      const lineage = await this.lists.exportAsOf(
        reader,
        subject,
        takesLines ? null : exportSnapshots,
        asOfSent(query),
      );
      return bodsAnswer(subject, lineage, takesLines);
    }
    if (takesLines) return this.exportSnapshotLines(reader, subject, query);
    return exportAnswer(subject, await this.lists.exportAsOf(reader, subject, exportSnapshots, asOfSent(query)));
  }

  @Operation(EXPORTS.exportSnapshotLines, EXPORTS.exportSnapshotLinesAcrossTenants)
  async exportSnapshotLines(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() query: ExportLinesQuery,
  ): Promise<TextStream> {
    return exportLines(await this.lists.exportAsOf(reader, subject, null, asOfSent(query)));
  }
}

/** Refuses a parameter beside `proofs`. Verifiers rely on a bundle to contain the newest version. */
function notOfBundle(name: string, why: string): DomainError {
  const message = `must not be sent with proofs: ${why}`;
  return new DomainError('validation_error', `${name} ${message}.`, [
    { path: `/query/${name}`, message, code: 'mismatch' },
  ]);
}
