import type { AccessRule } from '@iss/domain';
import {
  type Reader,
  type SnapshotRead,
  type SnapshotRecord,
  SnapshotReadStore,
  type SubjectRef,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import { notFound, ReadAccess } from '../../access/read-access';
import { RULES } from '../../access/rules';
import { placeInChain, type Place, RecentEnvelopes } from './recent-envelopes';
import { SnapshotVerifier, type VerifiedSnapshot, type VerifyOptions } from './snapshot-verifier';

/** What of a snapshot is asked for. */
export interface ReadOptions extends VerifyOptions {
  withEnvelope: boolean;
}

/** Reads of single snapshots, tenant-scoped and global alike. */
@Injectable()
export class SnapshotReadService {
  constructor(
    private readonly snapshots: SnapshotReadStore,
    private readonly access: ReadAccess,
    private readonly verifier: SnapshotVerifier,
    private readonly recent: RecentEnvelopes,
  ) {}

  async latest(reader: Reader, subject: SubjectRef, options: ReadOptions): Promise<VerifiedSnapshot> {
    const read = await this.snapshots.latest(reader, subject, needsEnvelope(options));
    return this.verified(this.requireRead(reader, read, RULES.readLatest), options);
  }

  async byVersion(
    reader: Reader,
    subject: SubjectRef,
    version: number,
    options: ReadOptions,
  ): Promise<VerifiedSnapshot> {
    return this.unchanging(placeInChain(subject, version), options, async (withEnvelope) => {
      const read = await this.snapshots.byVersion(reader, subject, version, withEnvelope);
      return this.requireRead(reader, read, RULES.readVersion);
    });
  }

  async byId(reader: Reader, snapshotId: string, options: ReadOptions): Promise<VerifiedSnapshot> {
    return this.unchanging(snapshotId, options, async (withEnvelope) => {
      const read = await this.snapshots.byId(reader, snapshotId, withEnvelope);
      // An id cannot be guessed, so an unknown one is 404 to any member.
      const rule = read.snapshot === null ? { role: RULES.readById.role } : RULES.readById;
      return this.requireRead(reader, read, rule);
    });
  }

  /** A read of what always gives the same snapshot. What is to be verified is what is stored, not what is kept here. */
  private async unchanging(
    place: Place,
    options: ReadOptions,
    read: (withEnvelope: boolean) => Promise<SnapshotRecord>,
  ): Promise<VerifiedSnapshot> {
    if (options.withEnvelope && options.verify === 'none' && this.recent.has(place)) {
      const snapshot = this.recent.complete(place, await read(false));
      if (snapshot !== null) return { snapshot, verification: undefined };
    }
    const snapshot = await read(needsEnvelope(options));
    this.recent.keep(place, snapshot);
    return this.verified(snapshot, options);
  }

  private requireRead(reader: Reader, read: SnapshotRead, rule: AccessRule): SnapshotRecord {
    this.access.require(reader, read.facts, rule);
    if (read.snapshot === null) throw notFound();
    return read.snapshot;
  }

  private async verified(snapshot: SnapshotRecord, options: ReadOptions): Promise<VerifiedSnapshot> {
    return { snapshot, verification: await this.verifier.verify(snapshot, options) };
  }
}

function needsEnvelope(options: ReadOptions): boolean {
  return options.withEnvelope || options.verify !== 'none';
}
