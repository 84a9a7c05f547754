import type { AccessFacts } from '@iss/domain';
import { Coalescer } from '../coalescer';
import { type InputColumns, inputArrays, inputRows, type Sql, type Statement, statement } from '../sql';
import { ACCESS_COLUMNS, type AccessFactsRow, ANY_TENANT_ACCESS, TENANT_ACCESS, toAccessFacts } from './access-facts';
import {
  SNAPSHOT_HEADER_COLUMNS,
  type SnapshotRecord,
  type SnapshotRow,
  type SubjectRef,
  toSnapshotRecord,
} from './snapshot-row';

export type { SnapshotRecord, SubjectRef };

/** Who reads. `tenantId` null: for whichever of the principal's tenants may (the global forms). */
export interface Reader {
  tenantId: string | null;
  principalId: string;
}

/** What a read found, and the facts by which it is decided whether the caller may see it. */
export interface SnapshotRead {
  facts: AccessFacts;
  snapshot: SnapshotRecord | null;
}

type ReadRow = AccessFactsRow & SnapshotRow;

/** A request as the input row of its statement. */
type ReadInput = {
  principal_id: string;
  tenant_id: string | null;
  with_envelope: boolean;
  subject_type?: string;
  subject_id?: string;
  snapshot_version?: number;
  snapshot_id?: string;
};

const ENVELOPE = `CASE WHEN i.with_envelope THEN n.envelope END AS envelope`;

const SUBJECT = 'LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id';

const READER = { principal_id: 'text', tenant_id: 'text', with_envelope: 'boolean' } as const;

/** How each kind of read finds its snapshot: its input columns, and the joins from the input `i` to `s` and `n`. */
const TARGETS = {
  latest: {
    columns: { ...READER, subject_type: 'text', subject_id: 'text' },
    joins: `${SUBJECT}
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
                    ORDER BY n.snapshot_version DESC LIMIT 1) n ON true`,
  },
  version: {
    columns: { ...READER, subject_type: 'text', subject_id: 'text', snapshot_version: 'int' },
    joins: `${SUBJECT}
LEFT JOIN snapshots n ON n.subject_key = s.subject_key AND n.snapshot_version = i.snapshot_version`,
  },
  id: {
    columns: { ...READER, snapshot_id: 'uuid' },
    joins: `LEFT JOIN snapshots n ON n.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = n.subject_key`,
  },
} as const satisfies Record<string, { columns: InputColumns; joins: string }>;
type TargetName = keyof typeof TARGETS;
type Form = 'tenant' | 'global';

function readStatement(target: TargetName, form: Form): Statement<ReadRow> {
  const { columns, joins } = TARGETS[target];
  return statement<ReadRow>(
    `snapshot_${target}_${form}`,
    `SELECT ${ACCESS_COLUMNS}, ${SNAPSHOT_HEADER_COLUMNS}, ${ENVELOPE}
  FROM ${inputRows(columns)}
${joins}
${form === 'tenant' ? TENANT_ACCESS : ANY_TENANT_ACCESS}
 ORDER BY i.ord`,
  );
}

const MAX_ROWS = 64;
const MAX_RUNNING = 3;

/** Reads of single snapshots, each together with its access facts in one statement; concurrent ones share it. */
export class SnapshotReadStore {
  private readonly readers: Record<`${TargetName}_${Form}`, Coalescer<ReadInput, SnapshotRead>>;

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

  /** The subject's newest snapshot; `snapshot` is null when the subject does not exist. */
  latest(reader: Reader, subject: SubjectRef, withEnvelope: boolean): Promise<SnapshotRead> {
    return this.read('latest', reader, withEnvelope, {
      subject_type: subject.subjectType,
      subject_id: subject.subjectId,
    });
  }

  /** One version of a subject; `snapshot` is null when there is none. */
  byVersion(reader: Reader, subject: SubjectRef, version: number, withEnvelope: boolean): Promise<SnapshotRead> {
    return this.read('version', reader, withEnvelope, {
      subject_type: subject.subjectType,
      subject_id: subject.subjectId,
      snapshot_version: version,
    });
  }

  /** The snapshot with this id; `snapshot` is null when there is none. */
  byId(reader: Reader, snapshotId: string, withEnvelope: boolean): Promise<SnapshotRead> {
    return this.read('id', reader, withEnvelope, { snapshot_id: snapshotId });
  }

  private read(
    target: TargetName,
    reader: Reader,
    withEnvelope: boolean,
    columns: Partial<ReadInput>,
  ): Promise<SnapshotRead> {
    return this.readers[`${target}_${reader.tenantId === null ? 'global' : 'tenant'}`].submit({
      principal_id: reader.principalId,
      tenant_id: reader.tenantId,
      with_envelope: withEnvelope,
      ...columns,
    });
  }

  private reader(target: TargetName, form: Form): Coalescer<ReadInput, SnapshotRead> {
    const query = readStatement(target, form);
    const columns: InputColumns = TARGETS[target].columns;
    return new Coalescer<ReadInput, SnapshotRead>(
      async (inputs) => {
        const rows = await this.sql.run(query, inputArrays(columns, inputs));
        return rows.map((row) => ({ value: { facts: toAccessFacts(row), snapshot: toSnapshotRecord(row) } }));
      },
      { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING },
    );
  }
}
