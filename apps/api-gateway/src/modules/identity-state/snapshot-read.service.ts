import {
  type AccessRule,
  decideAccess,
  DomainError,
  requireAccess,
  type StoredSnapshot,
  type Verification,
  type VerifyMode,
  verifySnapshot,
} from '@iss/domain';
import {
  type Reader,
  type SnapshotRead,
  type SnapshotRecord,
  SnapshotReadStore,
  type SubjectRef,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { RULES } from '../../access/rules';
import { type GatewaySettings, SETTINGS } from '../../settings';

/** What of a snapshot is asked for. */
export interface ReadOptions {
  withEnvelope: boolean;
  verify: VerifyMode;
  /** Hops up the chain with `verify: 'chain'`. */
  depth: number;
}

export interface VerifiedSnapshot {
  snapshot: SnapshotRecord;
  verification: Verification | undefined;
}

/** Reads of single snapshots, tenant-scoped and global alike. */
@Injectable()
export class SnapshotReadService {
  constructor(
    private readonly snapshots: SnapshotReadStore,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
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
    const read = await this.snapshots.byVersion(reader, subject, version, needsEnvelope(options));
    return this.verified(this.requireRead(reader, read, RULES.readVersion), options);
  }

  async byId(reader: Reader, snapshotId: string, options: ReadOptions): Promise<VerifiedSnapshot> {
    const read = await this.snapshots.byId(reader, snapshotId, needsEnvelope(options));
    // An id cannot be guessed, so an unknown one is 404 to any member.
    const rule = read.snapshot === null ? { role: RULES.readById.role } : RULES.readById;
    return this.verified(this.requireRead(reader, read, rule), options);
  }

  /** Global forms answer 404 alike for what does not exist and for what the caller may not see. */
  private requireRead(reader: Reader, read: SnapshotRead, rule: AccessRule): SnapshotRecord {
    if (reader.tenantId !== null) requireAccess(read.facts, rule);
    if (read.snapshot === null || !this.maySee(reader, read, rule)) {
      throw new DomainError('not_found', 'No such snapshot. Check the subject, the version or the id.');
    }
    return read.snapshot;
  }

  private maySee(reader: Reader, read: SnapshotRead, rule: AccessRule): boolean {
    const isAllowed = decideAccess(read.facts, rule).allowed;
    if (reader.tenantId !== null) return isAllowed;
    switch (this.settings.globalReads) {
      case 'off':
        return false;
      case 'public':
        return true;
      case 'authorized':
        return isAllowed;
    }
  }

  private async verified(snapshot: SnapshotRecord, options: ReadOptions): Promise<VerifiedSnapshot> {
    if (options.verify === 'none') return { snapshot, verification: undefined };
    const parents =
      options.verify === 'chain' ? await this.snapshots.parents(snapshot, snapshot.snapshotVersion, options.depth) : [];
    return {
      snapshot,
      verification: verifySnapshot(options.verify, toStored(snapshot), parents.map(toStored), options.depth),
    };
  }
}

function needsEnvelope(options: ReadOptions): boolean {
  return options.withEnvelope || options.verify !== 'none';
}

function toStored(snapshot: SnapshotRecord): StoredSnapshot {
  return {
    snapshotId: snapshot.snapshotId,
    snapshotVersion: snapshot.snapshotVersion,
    envelopeText: snapshot.envelope ?? '',
    envelopeHash: snapshot.envelopeHash,
    prevHash: snapshot.prevHash,
  };
}
