import type { AccessFacts, Reader, SubjectRef } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { type InputColumns, inputArrays, inputRows, type Sql, type Statement, statement } from '../../sql/sql';
import {
  ACCESS_COLUMNS,
  type AccessFactsRow,
  ANY_TENANT_ACCESS,
  TENANT_ACCESS,
  toAccessFacts,
} from '../facts/access-facts';
import { latestSnapshot, NAMED_SUBJECT, snapshotOfVersion } from '../facts/joins';
import { SNAPSHOT_HEADER_COLUMNS, type SnapshotRecord, type SnapshotRow, toSnapshotRecord } from './snapshot-row';

export type { SnapshotRecord, SubjectRef };

/** What a read found, and the facts by which it is decided whether the caller may see it. */
export interface SnapshotRead {
  facts: AccessFacts;
  snapshot: SnapshotRecord | null;
}

/** Which snapshot is read. */
export type SnapshotTarget =
  | { kind: 'latest'; subject: SubjectRef }
  | { kind: 'version'; subject: SubjectRef; version: number }
  | { kind: 'id'; snapshotId: string };

/** What of a snapshot is wanted. */
export interface Wanted {
  envelope: boolean;
  /** Nothing is wanted of a snapshot with this hash. */
  unlessHash?: Buffer | undefined;
}

/** `snapshot` is null where there is none, and where there is one with the hash that is known. */
export interface ConditionalRead extends SnapshotRead {
  isKnown: boolean;
}

type ReadRow = AccessFactsRow & SnapshotRow & { is_known: boolean | null };

/** A request as the input row of its statement. */
type ReadInput = {
  principal_id: string;
  tenant_id: string | null;
  with_envelope: boolean;
  known_hash: Buffer | undefined;
  subject_type?: string;
  subject_id?: string;
  snapshot_version?: number;
  snapshot_id?: string;
};

const ENVELOPE = `CASE WHEN i.with_envelope THEN n.envelope END AS envelope`;

const READER = { principal_id: 'text', tenant_id: 'text', with_envelope: 'boolean', known_hash: 'bytea' } as const;

type TargetName = SnapshotTarget['kind'];

/** How each kind of read finds its snapshot: its input columns, and the joins from the input `i` to `s` and `found`. */
const TARGETS = {
  latest: {
    columns: { ...READER, subject_type: 'text', subject_id: 'text' },
    joins: `${NAMED_SUBJECT} ${latestSnapshot('s.subject_key', 'found')}`,
  },
  version: {
    columns: { ...READER, subject_type: 'text', subject_id: 'text', snapshot_version: 'int' },
    joins: `${NAMED_SUBJECT} ${snapshotOfVersion('s.subject_key', 'i.snapshot_version', 'found')}`,
  },
  id: {
    columns: { ...READER, snapshot_id: 'uuid' },
    joins: `LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key`,
  },
} as const satisfies Record<TargetName, { columns: InputColumns; joins: string }>;
type Form = 'tenant' | 'global';

function readStatement(target: TargetName, form: Form): Statement<ReadRow> {
  const { columns, joins } = TARGETS[target];
  return statement<ReadRow>(
    `snapshot_${target}_${form}`,
    `SELECT ${ACCESS_COLUMNS}, ${SNAPSHOT_HEADER_COLUMNS}, ${ENVELOPE}, found.envelope_hash = i.known_hash AS is_known
  FROM ${inputRows(columns)}
${joins}
LEFT JOIN LATERAL (SELECT found.* WHERE (found.envelope_hash = i.known_hash) IS NOT TRUE) n ON true
${form === 'tenant' ? TENANT_ACCESS : ANY_TENANT_ACCESS}
 ORDER BY i.ord`,
  );
}

const MAX_ROWS = 64;
const MAX_RUNNING = 3;

/** Reads of single snapshots, each together with its access facts in one statement; concurrent ones share it. */
export class SnapshotReadStore {
  private readonly readers: Record<`${TargetName}_${Form}`, Coalescer<ReadInput, ConditionalRead>>;

  constructor(private readonly sql: Sql) {
    this.readers = {
      latest_tenant: this.reader('latest', 'tenant'),
      latest_global: this.reader('latest', 'global'),
      version_tenant: this.reader('version', 'tenant'),
      version_global: this.reader('version', 'global'),
      id_tenant: this.reader('id', 'tenant'),
      id_global: this.reader('id', 'global'),
    };
  }

  /** The snapshot, as far as it is wanted, and whether the reader may see it. */
  read(reader: Reader, target: SnapshotTarget, wanted: Wanted): Promise<ConditionalRead> {
    return this.readers[`${target.kind}_${reader.tenantId === null ? 'global' : 'tenant'}`].submit({
      principal_id: reader.principalId,
      tenant_id: reader.tenantId,
      with_envelope: wanted.envelope,
      known_hash: wanted.unlessHash,
      ...columnsOf(target),
    });
  }

  private reader(target: TargetName, form: Form): Coalescer<ReadInput, ConditionalRead> {
    const query = readStatement(target, form);
    const columns: InputColumns = TARGETS[target].columns;
    return new Coalescer<ReadInput, ConditionalRead>(
      async (inputs) => {
        const rows = await this.sql.run(query, inputArrays(columns, inputs));
        return rows.map((row) => ({ value: toRead(row) }));
      },
      { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING },
    );
  }
}

function columnsOf(target: SnapshotTarget): Partial<ReadInput> {
  switch (target.kind) {
    case 'latest':
      return { subject_type: target.subject.subjectType, subject_id: target.subject.subjectId };
    case 'version':
      return {
        subject_type: target.subject.subjectType,
        subject_id: target.subject.subjectId,
        snapshot_version: target.version,
      };
    case 'id':
      return { snapshot_id: target.snapshotId };
  }
}

function toRead(row: ReadRow): ConditionalRead {
  return { facts: toAccessFacts(row), snapshot: toSnapshotRecord(row), isKnown: row.is_known === true };
}
