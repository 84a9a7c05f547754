import type { AccessFacts } from '@iss/domain';
import { rolesFrom } from '@iss/domain';
import { Coalescer } from '../coalescer';
import { inputArrays, type InputColumns, inputRows, type Sql, statement } from '../sql';
import { ACCESS_COLUMNS, type AccessFactsRow, TENANT_ACCESS, toAccessFacts } from './access-facts';
import type { SubjectRef } from './snapshot-read.store';

/** A sealed snapshot, and the event that tells of it. */
export interface SnapshotToWrite extends SubjectRef {
  tenantId: string;
  principalId: string;
  snapshotId: string;
  snapshotVersion: number;
  generatedAt: string;
  /** RFC 8785 text. */
  envelope: string;
  /** Lowercase hex SHA-256 of `envelope`. */
  envelopeHash: string;
  prevHash: string | null;
  eventId: string;
  eventBody: string;
  requestId: string;
  /** W3C Trace Context of the request; null outside of one. */
  traceparent: string | null;
  /** The proposal that this snapshot applies; null for a direct write. */
  updateId: string | null;
}

export interface WrittenSnapshot {
  kind: 'written';
  createdAt: Date;
  /** The event to announce; null when no subscription wants it. */
  eventId: string | null;
}

/** Why nothing was written; what the caller may learn of it is decided by the access facts. */
export interface RefusedSnapshot {
  kind: 'refused';
  facts: AccessFacts;
  snapshotIdTaken: boolean;
  /** Version of the newest snapshot; null when the subject does not exist. */
  headVersion: number | null;
}

export type WriteOutcome = WrittenSnapshot | RefusedSnapshot;

const COLUMNS = {
  tenant_id: 'text',
  principal_id: 'text',
  subject_type: 'text',
  subject_id: 'text',
  snapshot_id: 'uuid',
  snapshot_version: 'int',
  generated_at: 'text',
  envelope: 'text',
  envelope_hash: 'text',
  prev_hash: 'text',
  event_id: 'uuid',
  event_body: 'text',
  request_id: 'text',
  traceparent: 'text',
  update_id: 'uuid',
} as const satisfies InputColumns;

const EDITORS = rolesFrom('tenant_editor')
  .map((role) => `'${role}'`)
  .join(', ');

/**
 * Input and what is known of it, in the order that keeps two statements from waiting for each other's rows. A snapshot is
 * looked for with a limit: for EXISTS a plan made early reads the whole table into a hash.
 */
const FACTS = `
facts AS MATERIALIZED (
  SELECT i.*, ${ACCESS_COLUMNS}, s.subject_key,
         (SELECT n.snapshot_version FROM snapshots n WHERE n.subject_key = s.subject_key
           ORDER BY n.snapshot_version DESC LIMIT 1) AS head_version,
         (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken
    FROM ${inputRows(COLUMNS)}
    LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
    ${TENANT_ACCESS}
   ORDER BY i.subject_type, i.subject_id
)`;

const MAY_WRITE = `member_status = 'active' AND role IN (${EDITORS}) AND NOT snapshot_id_taken`;

/**
 * Inserts the rows of `ready`, and an event for each whose tenant has a subscription to it. The look-up is a subquery with
 * a limit: EXISTS would be turned into a join, which a plan made early answers by reading every tenant's subscriptions.
 */
const INSERTS = `
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, generated_at,
         decode(envelope_hash, 'hex'), decode(prev_hash, 'hex'), envelope
    FROM ready
  RETURNING snapshot_id, created_at
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
  SELECT r.event_id, r.tenant_id, 'identity.snapshot.created', r.event_body, r.request_id, r.traceparent
    FROM ready r
   WHERE (SELECT true FROM webhook_subscriptions w
           WHERE w.tenant_id = r.tenant_id AND w.deleted_at IS NULL
             AND 'identity.snapshot.created' = ANY (w.event_types) LIMIT 1)
  RETURNING event_id
)
SELECT f.role, f.member_status, f.allow_counterparty_access, f.owns_subject, f.grant_scopes,
       f.snapshot_id_taken, f.head_version, n.created_at, e.event_id
  FROM facts f
  LEFT JOIN new_snapshot n ON n.snapshot_id = f.snapshot_id
  LEFT JOIN new_event e ON e.event_id = f.event_id
 ORDER BY f.ord`;

interface WriteRow extends AccessFactsRow {
  snapshot_id_taken: boolean;
  head_version: number | null;
  created_at: Date | null;
  event_id: string | null;
}

/** Version 1: the subject and its first snapshot, unless someone was first. */
const CREATE = statement<WriteRow>(
  'snapshot_create',
  `WITH ${FACTS},
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT subject_type, subject_id, tenant_id FROM facts WHERE ${MAY_WRITE} AND subject_key IS NULL
  ON CONFLICT ON CONSTRAINT subjects_identity_key DO NOTHING
  RETURNING subject_key, subject_type, subject_id
),
ready AS (
  SELECT n.subject_key, f.snapshot_version, f.snapshot_id, f.tenant_id, f.generated_at, f.envelope_hash, f.prev_hash,
         f.envelope, f.event_id, f.event_body, f.request_id, f.traceparent
    FROM new_subject n
    JOIN facts f ON f.subject_type = n.subject_type AND f.subject_id = n.subject_id
),
${INSERTS}`,
);

/**
 * Version >= 2: the owner's next snapshot on the head, and with it the proposal's move to `applied`. The proposal's row
 * lock lets one of many appliers through; the unique (subject, version) lets one of many proposals through.
 */
const APPEND = statement<WriteRow>(
  'snapshot_append',
  `WITH ${FACTS},
admitted AS (
  SELECT * FROM facts WHERE ${MAY_WRITE} AND owns_subject AND head_version = snapshot_version - 1
),
applied AS (
  UPDATE updates u SET status = 'applied', applied_at = now(), applied_snapshot_id = a.snapshot_id
    FROM admitted a
   WHERE u.update_id = a.update_id AND u.status = 'proposed'
  RETURNING u.update_id
),
ready AS (
  SELECT a.* FROM admitted a LEFT JOIN applied p ON p.update_id = a.update_id
   WHERE a.update_id IS NULL OR p.update_id IS NOT NULL
),
${INSERTS}`,
);

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Writes of snapshots: one statement checks membership, ownership and base, writes the rows, and says which rule failed. */
export class SnapshotWriteStore {
  private readonly creates: Coalescer<SnapshotToWrite, WriteOutcome>;
  private readonly appends: Coalescer<SnapshotToWrite, WriteOutcome>;

  constructor(sql: Sql) {
    const writer = (query: typeof CREATE): Coalescer<SnapshotToWrite, WriteOutcome> =>
      new Coalescer<SnapshotToWrite, WriteOutcome>(
        async (snapshots) => {
          const rows = await sql.run(query, inputArrays(COLUMNS, snapshots.map(toInput)));
          return rows.map((row) => ({ value: toOutcome(row) }));
        },
        { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING },
        (snapshot) => [`${snapshot.subjectType}/${snapshot.subjectId}`, snapshot.snapshotId],
      );
    this.creates = writer(CREATE);
    this.appends = writer(APPEND);
  }

  /** Writes a subject's first snapshot and makes the tenant its owner. Throws `conflict` when a concurrent write won. */
  create(snapshot: SnapshotToWrite): Promise<WriteOutcome> {
    return this.creates.submit(snapshot);
  }

  /** Writes the owner's next snapshot, which must follow the head. Throws `conflict` when a concurrent write won. */
  append(snapshot: SnapshotToWrite): Promise<WriteOutcome> {
    return this.appends.submit(snapshot);
  }
}

function toInput(snapshot: SnapshotToWrite): Record<keyof typeof COLUMNS, unknown> {
  return {
    tenant_id: snapshot.tenantId,
    principal_id: snapshot.principalId,
    subject_type: snapshot.subjectType,
    subject_id: snapshot.subjectId,
    snapshot_id: snapshot.snapshotId,
    snapshot_version: snapshot.snapshotVersion,
    generated_at: snapshot.generatedAt,
    envelope: snapshot.envelope,
    envelope_hash: snapshot.envelopeHash,
    prev_hash: snapshot.prevHash,
    event_id: snapshot.eventId,
    event_body: snapshot.eventBody,
    request_id: snapshot.requestId,
    traceparent: snapshot.traceparent,
    update_id: snapshot.updateId,
  };
}

function toOutcome(row: WriteRow): WriteOutcome {
  if (row.created_at !== null) return { kind: 'written', createdAt: row.created_at, eventId: row.event_id };
  return {
    kind: 'refused',
    facts: toAccessFacts(row),
    snapshotIdTaken: row.snapshot_id_taken,
    headVersion: row.head_version,
  };
}
