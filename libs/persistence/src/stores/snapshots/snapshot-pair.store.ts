import { type Reader, type SubjectRef } from '@iss/domain';
import { ANY_BYTES } from '../../sql/coalescer';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { CopiedTexts } from './copied-texts';
import type { SnapshotRead } from './snapshot-read.store';

/** The result of a read of two snapshots. Each has its own facts, because two ids may belong to different subjects. */
export interface SnapshotPairRead {
  from: SideRead;
  to: SideRead;
}

interface SideRead extends SnapshotRead {
  /** True if the snapshot exists. A read by version only tells a caller with the right. */
  isThere: boolean;
}

type VersionInput = Reader & SubjectRef & { snapshotVersion: number };
type IdInput = Reader & { snapshotId: string };

const byVersions = (form: 'tenant' | 'global') =>
  statement<{ inputs: readonly VersionInput[]; maxBytes: number }, SideRead>(`snapshot_pair_versions_${form}`);
const byIds = (form: 'tenant' | 'global') =>
  statement<{ inputs: readonly IdInput[]; maxBytes: number }, SideRead>(`snapshot_pair_ids_${form}`);

const BY_VERSIONS = { tenant: byVersions('tenant'), global: byVersions('global') };
const BY_IDS = { tenant: byIds('tenant'), global: byIds('global') };

const formOf = ({ tenantId }: Reader): 'tenant' | 'global' => (tenantId === null ? 'global' : 'tenant');

/**
 * Reads two snapshots with their envelopes and the access facts in one statement. Large envelopes come from a replica if there is
 * one.
 */
export class SnapshotPairStore {
  private readonly texts: CopiedTexts;

  constructor(private readonly sql: Sql) {
    this.texts = new CopiedTexts(sql.replica);
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
    query: Statement<{ inputs: readonly Input[]; maxBytes: number }, SideRead>,
    inputs: readonly Input[],
  ): Promise<SnapshotPairRead> {
    const whose = tenantId ?? principalId;
    const pair = async (maxBytes: number): Promise<SnapshotPairRead> => {
      const [from, to] = await this.sql.runInTurn(whose, query, { inputs, maxBytes });
      if (from === undefined || to === undefined) throw new Error(`${query.name} answered fewer than two rows`);
      return { from, to };
    };
    const { from, to } = await pair(this.texts.maxBytes);
    const texts = await this.texts.complete(whose, [from.snapshot, to.snapshot]);
    if (texts === null) return pair(ANY_BYTES);
    const [ofFrom = null, ofTo = null] = texts;
    return { from: { ...from, snapshot: ofFrom }, to: { ...to, snapshot: ofTo } };
  }
}
