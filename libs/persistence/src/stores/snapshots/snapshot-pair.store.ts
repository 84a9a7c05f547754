import { type Reader, RULES, type SubjectRef } from '@iss/domain';
import { ANY_BYTES } from '../../sql/coalescer';
import { columns } from '../../sql/columns';
import { ACTOR, inputRows, SUBJECT } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { DISCLOSURE, FACTS, READABLE, readAccess } from '../facts/access-facts';
import { NAMED_SUBJECT, snapshotOfVersion } from '../facts/joins';
import { CopiedTexts, TEXT_IF_SMALL } from './copied-texts';
import type { SnapshotRead } from './snapshot-read.store';
import { snapshotColumns } from './snapshot-record';

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

/**
 * Declares a statement over the two inputs `i`. `toSubject` joins `s`, and `toSnapshot` joins the snapshot `found` after the
 * right `r`.
 */
function pairStatement<Input>(
  by: 'versions' | 'ids',
  form: 'tenant' | 'global',
  { toSubject, toSnapshot }: { toSubject: string; toSnapshot: string },
): Statement<{ inputs: readonly Input[]; maxBytes: number }, SideRead> {
  return statement(
    `snapshot_pair_${by}_${form}`,
    `SELECT ${FACTS},
  ${DISCLOSURE[form]},
  ${columns(snapshotColumns(TEXT_IF_SMALL), 'snapshot?')},
  found.snapshot_id IS NOT NULL AS "isThere"
  FROM ${toSubject}
  ${readAccess(form, RULES.readDiff)}
  ${toSnapshot}
  ${READABLE}
 ORDER BY i.ord`,
  );
}

const VERSIONS = {
  toSubject: `${inputRows({ ...ACTOR, ...SUBJECT, snapshot_version: 'int' })}
  ${NAMED_SUBJECT}`,
  toSnapshot: snapshotOfVersion('r.subject_key', 'i.snapshot_version', 'found'),
};
const IDS = {
  toSubject: `${inputRows({ ...ACTOR, snapshot_id: 'uuid' })}
  LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
  LEFT JOIN subjects s ON s.subject_key = found.subject_key`,
  toSnapshot: '',
};

const BY_VERSIONS = {
  tenant: pairStatement<VersionInput>('versions', 'tenant', VERSIONS),
  global: pairStatement<VersionInput>('versions', 'global', VERSIONS),
};
const BY_IDS = {
  tenant: pairStatement<IdInput>('ids', 'tenant', IDS),
  global: pairStatement<IdInput>('ids', 'global', IDS),
};

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
