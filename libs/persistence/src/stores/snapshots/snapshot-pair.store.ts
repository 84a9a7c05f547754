import { type Reader, type SubjectRef } from '@iss/domain';
import { ANY_BYTES } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { CopiedTexts } from './copied-texts';
import type { StoredRow } from './snapshot-record';
import type { SnapshotRead } from './snapshot-read.store';
import { StoredTexts } from './stored-texts';

/** The result of a read of two snapshots. Each has its own facts, because two ids may belong to different subjects. */
export interface SnapshotPairRead {
  from: SideRead;
  to: SideRead;
}

interface SideRead extends SnapshotRead {
  /** True if the snapshot exists. A read by version only tells a caller with the right. */
  isThere: boolean;
}

type StoredSide = Omit<SideRead, 'snapshot'> & { snapshot: StoredRow | null };

type VersionInput = Reader & SubjectRef & { snapshotVersion: number };
type IdInput = Reader & { snapshotId: string };

const byVersions = (form: 'tenant' | 'global') =>
  statement<{ inputs: readonly VersionInput[]; maxBytes: number }, StoredSide>(`snapshot_pair_versions_${form}`);
const byIds = (form: 'tenant' | 'global') =>
  statement<{ inputs: readonly IdInput[]; maxBytes: number }, StoredSide>(`snapshot_pair_ids_${form}`);

const BY_VERSIONS = { tenant: byVersions('tenant'), global: byVersions('global') };
const BY_IDS = { tenant: byIds('tenant'), global: byIds('global') };

const formOf = ({ tenantId }: Reader): 'tenant' | 'global' => (tenantId === null ? 'global' : 'tenant');

/**
 * Reads two snapshots with their envelopes and the access facts in one statement. Large envelopes come from a replica if there is
 * one.
 */
export class SnapshotPairStore {
  private readonly copied: CopiedTexts;
  private readonly texts: StoredTexts;

  constructor(private readonly sql: Sql) {
    this.copied = new CopiedTexts(sql.replica);
    this.texts = new StoredTexts(sql.archive);
  }

  /** Reads two versions of one subject, which may be the same. `snapshot` is null for one that does not exist. */
  byVersions(reader: Reader, subject: SubjectRef, versions: { from: number; to: number }): Promise<SnapshotPairRead> {
    const input = (snapshotVersion: number): VersionInput => ({ ...reader, ...subject, snapshotVersion });
    return this.read(reader, BY_VERSIONS[formOf(reader)], [input(versions.from), input(versions.to)]);
  }

  /** Reads two snapshots by id, of one subject or of two. `snapshot` is null for an id that does not exist. */
  byIds(reader: Reader, ids: { from: string; to: string }): Promise<SnapshotPairRead> {
    const input = (snapshotId: string): IdInput => ({ ...reader, snapshotId });
    return this.read(reader, BY_IDS[formOf(reader)], [input(ids.from), input(ids.to)]);
  }

  private async read<Input>(
    { tenantId, principalId }: Reader,
    query: Statement<{ inputs: readonly Input[]; maxBytes: number }, StoredSide>,
    inputs: readonly Input[],
  ): Promise<SnapshotPairRead> {
    const whose = tenantId ?? principalId;
    const pair = async (maxBytes: number): Promise<{ from: StoredSide; to: StoredSide }> => {
      const [from, to] = await this.sql.runInTurn(whose, query, { inputs, maxBytes });
      if (from === undefined || to === undefined) throw new Error(`${query.name} answered fewer than two rows`);
      return { from, to };
    };
    const short = await pair(this.copied.maxBytes);
    const texts = await this.copied.complete(whose, [short.from.snapshot, short.to.snapshot]);
    const { from, to } = texts === null ? await pair(ANY_BYTES) : short;
    const [ofFrom = null, ofTo = null] = texts ?? [from.snapshot, to.snapshot];
    // Both at once, because they are often neighbours in one pack.
    const [broughtFrom, broughtTo] = await this.texts.bringAll([ofFrom, ofTo]);
    return { from: { ...from, snapshot: broughtFrom ?? null }, to: { ...to, snapshot: broughtTo ?? null } };
  }
}
