import { type AccessFacts, type Actor, type EvidencePolicy, type Reader, type SubjectRef } from '@iss/domain';
import { ANY_BYTES } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type SubjectDisclosure } from '../facts/access-facts';
import { CopiedTexts } from '../snapshots/copied-texts';
import { type SnapshotRow, type StoredRow } from '../snapshots/snapshot-record';
import { StoredTexts } from '../snapshots/stored-texts';

/** A version with the origins of its leaves, and the facts that decide whether the caller may see it. */
export interface ProvenanceRead {
  facts: AccessFacts;
  /** Null if the owner reads. */
  disclosure: SubjectDisclosure | null;
  snapshot: SnapshotRow | null;
  /** Encoded by `encodeOrigins`; null for a first version, and if they are unknown. */
  origins: Buffer | null;
  /** The ids of revoked attestations that versions of the subject name as evidence. */
  revoked: readonly string[];
  /** Identifies the newest erasure of any of the subject's versions; null if there is none. */
  lastErasure: string | null;
}

/** The version that a direct write follows. */
export interface ParentRead extends Omit<ProvenanceRead, 'disclosure' | 'revoked' | 'lastErasure'> {
  /** The evidence that the tenant demands. */
  evidencePolicy: EvidencePolicy;
}

/** Time and author of a version, from its envelope and from the service. */
export interface VersionFacts {
  snapshotVersion: number;
  createdAt: Date;
  generatedAt: string;
  /** The author as JSON text; null if it is unknown. */
  changedBy: string | null;
  /** Null if an earlier release wrote it. */
  writtenBy: string | null;
  writeRequestId: string | null;
}

/** The newest version up to a given one whose origins are known. The origins of a first version are null. */
export interface NearestOrigins {
  snapshotVersion: number;
  origins: Buffer | null;
}

type StoredProvenance = Omit<ProvenanceRead, 'snapshot'> & { snapshot: StoredRow | null };

type Bounded = Reader & SubjectRef & { maxBytes: number };

const latest = (form: 'tenant' | 'global') => statement<Bounded, StoredProvenance>(`provenance_latest_${form}`);
const ofVersion = (form: 'tenant' | 'global') =>
  statement<Bounded & { version: number }, StoredProvenance>(`provenance_version_${form}`);

const LATEST = { tenant: latest('tenant'), global: latest('global') };
const OF_VERSION = { tenant: ofVersion('tenant'), global: ofVersion('global') };

const PARENT = statement<Actor & SubjectRef, ParentRead>('snapshot_parent');

const VERSIONS = statement<SubjectRef & { versions: readonly number[] }, VersionFacts>('provenance_versions');

const NEAREST = statement<SubjectRef & { version: number }, NearestOrigins>('provenance_nearest');

/** Stored provenance of versions. */
export class ProvenanceStore {
  private readonly copied: CopiedTexts;
  private readonly texts: StoredTexts;

  constructor(private readonly sql: Sql) {
    this.copied = new CopiedTexts(sql.replica);
    this.texts = new StoredTexts(sql.archive);
  }

  /**
   * Returns a version of a subject with the access facts in one statement; the latest if `version` is null. A large envelope
   * comes from a replica if there is one.
   */
  async read(reader: Reader, subject: SubjectRef, version: number | null): Promise<ProvenanceRead> {
    const form = reader.tenantId === null ? 'global' : 'tenant';
    const whose = reader.tenantId ?? reader.principalId;
    const found = async (maxBytes: number): Promise<StoredProvenance> => {
      const [row] = await (version === null
        ? this.sql.runInTurn(whose, LATEST[form], { ...reader, ...subject, maxBytes })
        : this.sql.runInTurn(whose, OF_VERSION[form], { ...reader, ...subject, version, maxBytes }));
      if (row === undefined) throw new Error('a read of provenance answered no row');
      return row;
    };
    const short = await found(this.copied.maxBytes);
    const texts = await this.copied.complete(whose, [short.snapshot]);
    const read = texts === null ? await found(ANY_BYTES) : short;
    const [snapshot = null] = texts ?? [read.snapshot];
    return { ...read, snapshot: await this.texts.bringOne(snapshot) };
  }

  /** Returns the latest version for a write that follows it. Only the owner gets it. */
  async parent(actor: Actor, subject: SubjectRef): Promise<ParentRead> {
    const [row] = await this.sql.runInTurn(actor.tenantId, PARENT, { ...actor, ...subject });
    if (row === undefined) throw new Error('a read of a parent answered no row');
    return row;
  }

  /** Returns time and author of these versions. The caller must have checked the right to see the lineage. */
  versions(subject: SubjectRef, versions: readonly number[]): Promise<VersionFacts[]> {
    return this.sql.run(VERSIONS, { ...subject, versions });
  }

  /** Returns the newest known origins up to this version; null if there are none, so that a trace starts at the first version. */
  async nearest(subject: SubjectRef, version: number): Promise<NearestOrigins | null> {
    const [nearest = null] = await this.sql.run(NEAREST, { ...subject, version });
    return nearest;
  }
}
