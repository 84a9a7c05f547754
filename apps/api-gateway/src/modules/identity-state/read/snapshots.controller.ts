import type { Reader, SubjectRef } from '@iss/domain';
import { Controller, Inject } from '@nestjs/common';
import { LatestQuery, SnapshotQuery, SNAPSHOTS, type SnapshotView, SummaryQuery } from '@iss/contract';
import { ReaderParam } from '../../../http/request/actor.decorator';
import type { JsonText } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot-routes';
import { SubjectParam, UuidParam, VersionParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../runtime/asker';
import { RecentAnswers } from './recent-answers';
import { asOfSent, verifyOptions } from '../snapshot/snapshot.query';
import { type SnapshotReadOptions, SnapshotReadService, type SnapshotTarget } from './snapshot-read.service';
import { proofAnswer, REUSE, snapshotAnswer, summaryAnswer } from '../snapshot/snapshot.views';
import { Operation } from '../../../http/describe/operation.decorator';

/** Reads one snapshot. Each global form shares its handler with a tenant-scoped form. */
@Controller()
export class SnapshotsController {
  constructor(
    private readonly snapshots: SnapshotReadService,
    private readonly recent: RecentAnswers,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Operation(SNAPSHOTS.getSubject, SNAPSHOTS.getSubjectAcrossTenants)
  async getSubject(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() query: SummaryQuery,
  ): Promise<JsonText> {
    const options = verifyOptions(query, this.settings.limits.verifyDepth);
    const asOf = asOfSent(query);
    const { snapshot, verification, summary } = await this.snapshots.summarize(reader, subject, asOf, options);
    return summaryAnswer(snapshot, summary, verification);
  }

  @Hot()
  @Operation(SNAPSHOTS.getLatestSnapshot, SNAPSHOTS.getLatestSnapshotAcrossTenants)
  async getLatestSnapshot(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf() query: LatestQuery,
  ): Promise<JsonText> {
    const asOf = asOfSent(query);
    if (asOf === null) return this.snapshot(reader, { kind: 'latest', subject }, query);
    const { view, ...options } = this.readOptions(query);
    const { snapshot, verification } = await this.snapshots.readAsOf(reader, subject, asOf, options);
    // The version may still change: the moment may be in the future, or a later version may be dated before it.
    return snapshotAnswer(snapshot, view, 'revalidate', verification);
  }

  @Hot()
  @Operation(SNAPSHOTS.getSnapshotVersion, SNAPSHOTS.getSnapshotVersionAcrossTenants)
  getSnapshotVersion(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @VersionParam() version: number,
    @QueryOf() query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'version', subject, version }, query);
  }

  @Hot()
  @Operation(SNAPSHOTS.getSnapshot, SNAPSHOTS.getSnapshotAcrossTenants)
  getSnapshot(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf() query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'id', snapshotId }, query);
  }

  @Operation(SNAPSHOTS.getSnapshotProof, SNAPSHOTS.getSnapshotProofAcrossTenants)
  async getSnapshotProof(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf() _query: object,
  ): Promise<JsonText> {
    return proofAnswer(await this.snapshots.header(reader, { kind: 'id', snapshotId }, { envelope: false }, 'proof'));
  }

  private readOptions(query: SnapshotQuery): SnapshotReadOptions & { view: SnapshotView } {
    const view = query.view ?? 'full';
    const withEnvelope = view === 'full';
    const via = withEnvelope ? 'snapshot' : 'headers';
    return { ...verifyOptions(query, this.settings.limits.verifyDepth), withEnvelope, via, view };
  }

  private async snapshot(reader: Reader & Asker, target: SnapshotTarget, query: SnapshotQuery): Promise<JsonText> {
    const { view, ...options } = this.readOptions(query);
    if (options.verify === 'none' && options.withEnvelope) {
      return this.recent.answer(
        keyOf(target),
        (knownHash) => this.snapshots.readUnless(reader, target, knownHash),
        (snapshot) => snapshotAnswer(snapshot, view, REUSE[target.kind]),
      );
    }
    const { snapshot, verification } = await this.snapshots.read(reader, target, options);
    return snapshotAnswer(snapshot, view, REUSE[target.kind], verification);
  }
}

/** Returns a key that depends on what is read, and not on the reader. */
function keyOf(target: SnapshotTarget): string {
  switch (target.kind) {
    case 'latest':
      return `latest/${target.subject.subjectType}/${target.subject.subjectId}`;
    case 'version':
      return `${target.version}/${target.subject.subjectType}/${target.subject.subjectId}`;
    case 'id':
      return target.snapshotId;
  }
}
