import { type Reader, type SubjectRef } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { LineageCopy } from './lineage-copy';
import { type LineageOrder, type LineageRange, type LineageRead, type StoredLineage } from './lineage-range';
import { type SnapshotRow, type StoredRow } from '../snapshots/snapshot-record';
import { StoredTexts } from '../snapshots/stored-texts';

export {
  ENVELOPE_BYTES,
  LINEAGE_ORDERS,
  type LineageOrder,
  type LineageRange,
  type LineageRead,
} from './lineage-range';

type Form = 'tenant' | 'global';
const formOf = ({ tenantId }: Reader): Form => (tenantId === null ? 'global' : 'tenant');

interface LineageRow extends Omit<LineageRead, 'snapshots' | 'found'> {
  snapshot: StoredRow | null;
  found: number | null;
}
type LineageStatement = Statement<Reader & SubjectRef & Omit<LineageRange, 'order'>, LineageRow>;

const lineageStatement = (order: LineageOrder, form: Form): LineageStatement =>
  statement(`snapshot_lineage_${order}_${form}`);

const LINEAGE = {
  asc: { tenant: lineageStatement('asc', 'tenant'), global: lineageStatement('asc', 'global') },
  desc: { tenant: lineageStatement('desc', 'tenant'), global: lineageStatement('desc', 'global') },
};

const listedStatement = (form: Form) =>
  statement<Reader & SubjectRef & { versions: readonly number[]; withEnvelopes: boolean }, LineageRow>(
    `snapshot_lineage_listed_${form}`,
  );

const LISTED = { tenant: listedStatement('tenant'), global: listedStatement('global') };

const BELOW = statement<SubjectRef & { version: number; limit: number }, StoredRow>('snapshot_lineage_below');

const ABOVE = statement<SubjectRef & { version: number; limit: number }, StoredRow>('snapshot_lineage_above');

/** Reads many snapshots of one subject, with a limit on the bytes per read. */
export class SnapshotListStore {
  private readonly copy: LineageCopy | null;
  private readonly texts: StoredTexts;

  constructor(private readonly sql: Sql) {
    this.texts = new StoredTexts(sql.archive);
    this.copy = sql.replica === null ? null : new LineageCopy(sql, sql.replica);
  }

  /**
   * Returns a range of a subject's snapshots with the access facts, in one statement. With a replica, the facts come from the
   * primary, and the snapshots from the replica.
   */
  async read(reader: Reader, subject: SubjectRef, range: LineageRange): Promise<LineageRead> {
    const copied = await this.copy?.read(reader, subject, range);
    if (copied) return this.brought(copied);
    const query = LINEAGE[range.order][formOf(reader)];
    const whose = reader.tenantId ?? reader.principalId;
    return this.brought(toRead(query, await this.sql.runInTurn(whose, query, { ...reader, ...subject, ...range })));
  }

  /** Returns these versions of a subject, in the order of the list. */
  async listed(
    reader: Reader,
    subject: SubjectRef,
    list: { versions: readonly number[]; withEnvelopes: boolean },
  ): Promise<LineageRead> {
    const query = LISTED[formOf(reader)];
    const whose = reader.tenantId ?? reader.principalId;
    return this.brought(toRead(query, await this.sql.runInTurn(whose, query, { ...reader, ...subject, ...list })));
  }

  /**
   * Returns the next snapshots below a version with their envelopes, newest first: at most `limit`, as many as fit into
   * {@link ENVELOPE_BYTES}, at least one if it exists. The caller must have checked the right to the version.
   */
  async below(subject: SubjectRef, version: number, limit: number): Promise<SnapshotRow[]> {
    const copied = await this.copy?.below(subject, version, limit);
    if (copied) return this.texts.bring(copied);
    const whose = `${subject.subjectType}/${subject.subjectId}`;
    return this.texts.bring(await this.sql.runInTurn(whose, BELOW, { ...subject, version, limit }));
  }

  /** Returns the same above a version, oldest first. */
  async above(subject: SubjectRef, version: number, limit: number): Promise<SnapshotRow[]> {
    const whose = `${subject.subjectType}/${subject.subjectId}`;
    return this.texts.bring(await this.sql.runInTurn(whose, ABOVE, { ...subject, version, limit }));
  }

  private async brought(read: StoredLineage): Promise<LineageRead> {
    return { ...read, snapshots: await this.texts.bring(read.snapshots) };
  }
}

function toRead({ name }: { name: string }, rows: readonly LineageRow[]): StoredLineage {
  const [first] = rows;
  if (first === undefined) throw new Error(`${name} answered no row`);
  const snapshots = rows.map(({ snapshot }) => snapshot).filter((snapshot) => snapshot !== null);
  const { facts, disclosure, headVersion, found } = first;
  return { facts, disclosure, headVersion, snapshots, found: found ?? 0 };
}
