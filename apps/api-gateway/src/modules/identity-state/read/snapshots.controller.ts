import { type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ReaderParam } from '../../../http/request/actor.decorator';
import { Public } from '../../../auth/public.decorator';
import type { JsonText } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot-routes';
import { ApiRoute, inAnyTenant } from '../../../http/describe/openapi';
import { SubjectParam, UuidParam, VersionParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../runtime/asker';
import { RecentAnswers } from './recent-answers';
import {
  asOfSent,
  IdleQuery,
  LatestQuery,
  SnapshotQuery,
  SummaryQuery,
  verifyOptions,
} from '../snapshot/snapshot.query';
import { readOf } from '../snapshot/snapshot.openapi';
import { type ReadOptions, SnapshotReadService, type SnapshotTarget } from './snapshot-read.service';
import { proofAnswer, REUSE, snapshotAnswer, summaryAnswer, type View } from '../snapshot/snapshot.views';

/** Reads one snapshot. Each global form shares its handler with a tenant-scoped form. */
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
  @ApiRoute("Read a subject's current state", RULES.readLatest, readOf('summary'))
  getSubject(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(SummaryQuery) query: SummaryQuery,
  ): Promise<JsonText> {
    return this.summary(reader, subject, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id')
  @ApiRoute(
    "Read a subject's current state, through any tenant of the caller that may",
    inAnyTenant(RULES.readLatest),
    readOf('summary'),
  )
  getSubjectAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(SummaryQuery) query: SummaryQuery,
  ): Promise<JsonText> {
    return this.summary(reader, subject, query);
  }

  @Hot()
  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiRoute("Read a subject's latest snapshot", RULES.readLatest, readOf('snapshot'))
  getLatestSnapshot(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(LatestQuery) query: LatestQuery,
  ): Promise<JsonText> {
    return this.latest(reader, subject, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiRoute(
    "Read a subject's latest snapshot, through any tenant of the caller that may",
    inAnyTenant(RULES.readLatest),
    readOf('snapshot'),
  )
  getLatestSnapshotAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(LatestQuery) query: LatestQuery,
  ): Promise<JsonText> {
    return this.latest(reader, subject, query);
  }

  @Hot()
  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/:snapshot_version')
  @ApiRoute('Read one version of a subject', RULES.readVersion, readOf('snapshot'))
  getSnapshotVersion(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @VersionParam() version: number,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'version', subject, version }, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/:snapshot_version')
  @ApiRoute(
    'Read one version of a subject, through any tenant of the caller that may',
    inAnyTenant(RULES.readVersion),
    readOf('snapshot'),
  )
  getSnapshotVersionAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @VersionParam() version: number,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'version', subject, version }, query);
  }

  @Hot()
  @Get('tenants/:tenant_id/snapshots/:snapshot_id')
  @ApiRoute('Read a snapshot by id', RULES.readById, readOf('snapshot'))
  getSnapshot(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'id', snapshotId }, query);
  }

  @Public('global_reads_are_public')
  @Get('snapshots/:snapshot_id')
  @ApiRoute(
    'Read a snapshot by id, through any tenant of the caller that may',
    inAnyTenant(RULES.readById),
    readOf('snapshot'),
  )
  getSnapshotAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'id', snapshotId }, query);
  }

  @Get('tenants/:tenant_id/snapshots/:snapshot_id/proof')
  @ApiRoute("Read a snapshot's hashes", RULES.readById, readOf('proof'))
  getSnapshotProof(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(IdleQuery) _query: object,
  ): Promise<JsonText> {
    return this.proof(reader, snapshotId);
  }

  @Public('global_reads_are_public')
  @Get('snapshots/:snapshot_id/proof')
  @ApiRoute(
    "Read a snapshot's hashes, through any tenant of the caller that may",
    inAnyTenant(RULES.readById),
    readOf('proof'),
  )
  getSnapshotProofAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @UuidParam({ name: 'snapshot_id' }) snapshotId: string,
    @QueryOf(IdleQuery) _query: object,
  ): Promise<JsonText> {
    return this.proof(reader, snapshotId);
  }

  private async summary(reader: Reader & Asker, subject: SubjectRef, query: SummaryQuery): Promise<JsonText> {
    const options = verifyOptions(query, this.settings.limits.verifyDepth);
    const asOf = asOfSent(query);
    const { snapshot, verification, summary } = await this.snapshots.summarize(reader, subject, asOf, options);
    return summaryAnswer(snapshot, summary, verification);
  }

  private async latest(reader: Reader & Asker, subject: SubjectRef, query: LatestQuery): Promise<JsonText> {
    const asOf = asOfSent(query);
    if (asOf === null) return this.snapshot(reader, { kind: 'latest', subject }, query);
    const { view, ...options } = this.readOptions(query);
    const { snapshot, verification } = await this.snapshots.readAsOf(reader, subject, asOf, options);
    // The version may still change: the moment may be in the future, or a later version may be dated before it.
    return snapshotAnswer(snapshot, view, 'revalidate', verification);
  }

  private readOptions(query: SnapshotQuery): ReadOptions & { view: View } {
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

  private async proof(reader: Reader & Asker, snapshotId: string): Promise<JsonText> {
    return proofAnswer(await this.snapshots.header(reader, { kind: 'id', snapshotId }, { envelope: false }, 'proof'));
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
