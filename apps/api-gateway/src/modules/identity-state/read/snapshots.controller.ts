import { type Reader, RULES, type SubjectRef } from '@iss/domain';
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ReaderParam } from '../../../http/request/actor.decorator';
import { Public } from '../../../auth/public.decorator';
import type { JsonText } from '../../../http/answer/json-text';
import { Hot } from '../../../http/fast/hot.decorator';
import { ApiRoute, inAnyTenant } from '../../../http/describe/openapi';
import { SubjectParam, UuidParam, VersionParam } from '../../../http/request/path-params';
import { QueryOf } from '../../../http/lists/query';
import { type GatewaySettings, SETTINGS } from '../../../settings';
import type { Asker } from '../../../work/asker';
import { RecentAnswers } from '../../../http/fast/recent-answers';
import { IdleQuery, SnapshotQuery, verifyOptions, VerifyQuery } from '../snapshot/snapshot.query';
import { readOf } from '../snapshot/snapshot.openapi';
import { SnapshotReadService, type SnapshotTarget } from './snapshot-read.service';
import { proofAnswer, REUSE, snapshotAnswer, summaryAnswer } from '../snapshot/snapshot.views';

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
  @ApiRoute("Read a subject's current state", RULES.readLatest, readOf('summary'))
  getSubject(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(VerifyQuery) query: VerifyQuery,
  ): Promise<JsonText> {
    return this.summary(reader, subject, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id')
  @ApiRoute(
    "Read a subject's current state, for any tenant of the caller that may",
    inAnyTenant(RULES.readLatest),
    readOf('summary'),
  )
  getSubjectAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(VerifyQuery) query: VerifyQuery,
  ): Promise<JsonText> {
    return this.summary(reader, subject, query);
  }

  @Hot()
  @Get('tenants/:tenant_id/subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiRoute("Read a subject's latest snapshot", RULES.readLatest, readOf('snapshot'))
  getLatestSnapshot(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'latest', subject }, query);
  }

  @Public('global_reads_are_public')
  @Get('subjects/:subject_type/:subject_id/snapshots/latest')
  @ApiRoute(
    "Read a subject's latest snapshot, for any tenant of the caller that may",
    inAnyTenant(RULES.readLatest),
    readOf('snapshot'),
  )
  getLatestSnapshotAcrossTenants(
    @ReaderParam() reader: Reader & Asker,
    @SubjectParam() subject: SubjectRef,
    @QueryOf(SnapshotQuery) query: SnapshotQuery,
  ): Promise<JsonText> {
    return this.snapshot(reader, { kind: 'latest', subject }, query);
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
    'Read one version of a subject, for any tenant of the caller that may',
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
    'Read a snapshot by id, for any tenant of the caller that may',
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
    "Read a snapshot's hashes, for any tenant of the caller that may",
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

  private async summary(reader: Reader & Asker, subject: SubjectRef, query: VerifyQuery): Promise<JsonText> {
    const options = verifyOptions(query, this.settings.limits.verifyDepth);
    const { snapshot, verification, summary } = await this.snapshots.summarize(reader, subject, options);
    return summaryAnswer(snapshot, summary, verification);
  }

  private async snapshot(reader: Reader & Asker, target: SnapshotTarget, query: SnapshotQuery): Promise<JsonText> {
    const view = query.view ?? 'full';
    const withEnvelope = view === 'full';
    const via = withEnvelope ? 'snapshot' : 'headers';
    const options = { ...verifyOptions(query, this.settings.limits.verifyDepth), withEnvelope, via } as const;
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
    const target = { kind: 'id', snapshotId } as const;
    const options = { verify: 'none', depth: 1, withEnvelope: false, via: 'proof' } as const;
    const { snapshot } = await this.snapshots.read(reader, target, options);
    return proofAnswer(snapshot);
  }
}

/** Names what is read, whoever reads it. */
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
