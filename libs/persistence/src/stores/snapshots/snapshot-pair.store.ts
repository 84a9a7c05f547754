import type { Reader, SubjectRef } from '@iss/domain';
import { inputArrays, type InputColumns, inputRows, type Sql, type Statement, statement } from '../../sql/sql';
import {
  ACCESS_COLUMNS,
  type AccessFactsRow,
  ANY_TENANT_ACCESS,
  TENANT_ACCESS,
  toAccessFacts,
} from '../facts/access-facts';
import { NAMED_SUBJECT, snapshotOfVersion } from '../facts/joins';
import type { SnapshotRead } from './snapshot-read.store';
import { SNAPSHOT_HEADER_COLUMNS, type SnapshotRow, toSnapshotRecord } from './snapshot-row';

/** What a read of two snapshots found. Each comes with its own facts: two ids may belong to different subjects. */
export interface SnapshotPairRead {
  from: SnapshotRead;
  to: SnapshotRead;
}

type PairRow = AccessFactsRow & SnapshotRow;

const READER = { principal_id: 'text', tenant_id: 'text' } as const;

/** How each kind of pair finds its two snapshots: the columns of its two input rows, and the joins from there to `s` and `n`. */
const TARGETS = {
  versions: {
    columns: { ...READER, subject_type: 'text', subject_id: 'text', snapshot_version: 'int' },
    joins: `${NAMED_SUBJECT}
${snapshotOfVersion('s.subject_key', 'i.snapshot_version', 'n')}`,
  },
  ids: {
    columns: { ...READER, snapshot_id: 'uuid' },
    joins: `LEFT JOIN snapshots n ON n.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = n.subject_key`,
  },
} as const satisfies Record<string, { columns: InputColumns; joins: string }>;
type TargetName = keyof typeof TARGETS;
type Form = 'tenant' | 'global';

function pairStatement(target: TargetName, form: Form): Statement<PairRow> {
  const { columns, joins } = TARGETS[target];
  return statement<PairRow>(
    `snapshot_pair_${target}_${form}`,
    `SELECT ${ACCESS_COLUMNS}, ${SNAPSHOT_HEADER_COLUMNS}, n.envelope
  FROM ${inputRows(columns)}
${joins}
${form === 'tenant' ? TENANT_ACCESS : ANY_TENANT_ACCESS}
 ORDER BY i.ord`,
  );
}

const STATEMENTS = {
  versions_tenant: pairStatement('versions', 'tenant'),
  versions_global: pairStatement('versions', 'global'),
  ids_tenant: pairStatement('ids', 'tenant'),
  ids_global: pairStatement('ids', 'global'),
} as const;

/** Reads of two snapshots with their envelopes, together with the access facts in one statement. */
export class SnapshotPairStore {
  constructor(private readonly sql: Sql) {}

  /** Two versions of one subject, which may be the same; `snapshot` is null for one that does not exist. */
  byVersions(reader: Reader, subject: SubjectRef, versions: { from: number; to: number }): Promise<SnapshotPairRead> {
    const input = (version: number) => ({
      subject_type: subject.subjectType,
      subject_id: subject.subjectId,
      snapshot_version: version,
    });
    return this.read('versions', reader, input(versions.from), input(versions.to));
  }

  /** Two snapshots by id, of one subject or of two; `snapshot` is null for an id that does not exist. */
  byIds(reader: Reader, ids: { from: string; to: string }): Promise<SnapshotPairRead> {
    return this.read('ids', reader, { snapshot_id: ids.from }, { snapshot_id: ids.to });
  }

  private async read(
    target: TargetName,
    reader: Reader,
    ...pair: Readonly<Record<string, string | number>>[]
  ): Promise<SnapshotPairRead> {
    const query = STATEMENTS[`${target}_${reader.tenantId === null ? 'global' : 'tenant'}`];
    const columns: InputColumns = TARGETS[target].columns;
    const rows = pair.map((input) => ({ ...input, principal_id: reader.principalId, tenant_id: reader.tenantId }));
    const [from, to] = await this.sql.run(query, inputArrays(columns, rows));
    if (from === undefined || to === undefined) throw new Error(`${query.name} answered fewer than two rows`);
    return { from: toRead(from), to: toRead(to) };
  }
}

function toRead(row: PairRow): SnapshotRead {
  return { facts: toAccessFacts(row), snapshot: toSnapshotRecord(row) };
}
