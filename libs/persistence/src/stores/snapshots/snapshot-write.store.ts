import type { AccessFacts, SubjectRef } from '@iss/domain';
import { rolesFrom } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { inputElement } from '../../sql/input-element';
import { inputArrays, type InputColumns, inputRows, type Sql, statement } from '../../sql/sql';
import { ACCESS_COLUMNS, type AccessFactsRow, TENANT_ACCESS, toAccessFacts } from '../facts/access-facts';
import { HEAD_VERSION, NAMED_SUBJECT } from '../facts/joins';

/** A sealed snapshot, and what is known of the request that wrote it. */
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
  requestId: string;
  /** W3C Trace Context of the request; null outside of one. */
  traceparent: string | null;
  /** The proposal that this snapshot applies; null for a direct write. */
  updateId: string | null;
}

export interface WrittenSnapshot {
  kind: 'written';
  createdAt: Date;
  /** The event that was written with it, to be announced; null when no subscription wants it. */
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

/** What the checks look at. */
const KEYS = {
  tenant_id: 'text',
  principal_id: 'text',
  subject_type: 'text',
  subject_id: 'text',
  snapshot_id: 'uuid',
  snapshot_version: 'int',
  update_id: 'uuid',
} as const satisfies InputColumns;

const COLUMNS = {
  ...KEYS,
  generated_at: 'text',
  envelope: 'text',
  envelope_hash: 'text',
  prev_hash: 'text',
  request_id: 'text',
  traceparent: 'text',
} as const satisfies InputColumns;

const element = (column: keyof typeof COLUMNS): string => inputElement(COLUMNS, column);

const EDITORS = rolesFrom('tenant_editor')
  .map((role) => `'${role}'`)
  .join(', ');

/**
 * Input that may be written as far as membership and `snapshot_id` go, in the order that keeps two statements from
 * waiting for each other's rows. Everything is looked up by subqueries with a limit: for joins and EXISTS a plan made
 * early reads the whole table.
 */
const ASKED = `
asked AS MATERIALIZED (
  SELECT i.*,
         (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken,
         (SELECT m.status = 'active' AND m.api_functional_role IN (${EDITORS}) FROM memberships m
           WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS is_editor
    FROM ${inputRows(KEYS)}
   ORDER BY i.subject_type, i.subject_id
)`;

const MAY_WRITE = 'is_editor AND NOT snapshot_id_taken';

/** The id of the event for the input row `i`, as `newEventId` makes it; null when its tenant has no subscription to it. */
const EVENT_ID = `(
  SELECT (substr(ms, 1, 8) || '-' || substr(ms, 9) || '-7' || substr(gen_random_uuid()::text, 16))::uuid
    FROM (SELECT lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0') AS ms
            FROM webhook_subscriptions w
           WHERE w.tenant_id = i.tenant_id AND w.deleted_at IS NULL
             AND 'identity.snapshot.created' = ANY (w.event_types) LIMIT 1) event) AS event_id`;

/** The event's body for a row of `ready`, as `buildEventBody` writes it. */
const EVENT_BODY = `(
  SELECT row_to_json(body)::text FROM (
    SELECT 'evt_' || r.event_id AS id, 'identity.snapshot.created' AS type,
           to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at, r.tenant_id,
           (SELECT row_to_json(data) FROM (
              SELECT (SELECT row_to_json(subject) FROM (SELECT r.subject_type, r.subject_id) subject) AS subject,
                     r.snapshot_id, r.snapshot_version,
                     ${element('envelope_hash')} AS envelope_hash, ${element('prev_hash')} AS prev_hash) data) AS data
  ) body)`;

/**
 * Inserts the rows of `ready`: all of them, or the statement fails; and the event of each that has one, which is made here
 * since only the statement knows whether anyone wants it. What speaks against a row is looked up only where it was not
 * written. The few written ones are found by their place in an array, since a join of two such lists reads the one anew
 * for each row of the other.
 */
const INSERTS = `
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, ${element('generated_at')},
         decode(${element('envelope_hash')}, 'hex'), decode(${element('prev_hash')}, 'hex'), ${element('envelope')}
    FROM ready
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
  SELECT event_id, tenant_id, 'identity.snapshot.created',
         ${EVENT_BODY}, ${element('request_id')}, ${element('traceparent')}
    FROM ready r
   WHERE event_id IS NOT NULL
)
SELECT ${ACCESS_COLUMNS}, f.head_version, i.snapshot_id_taken,
       CASE WHEN w.place IS NOT NULL THEN now() END AS created_at,
       (ARRAY(SELECT event_id FROM ready))[w.place] AS event_id
  FROM asked i
 CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT ord FROM ready), i.ord) AS place LIMIT 1) w
  LEFT JOIN LATERAL (
    SELECT ${ACCESS_COLUMNS}, ${HEAD_VERSION} AS head_version
      FROM (SELECT w.place IS NULL AS is_refused) r
      ${NAMED_SUBJECT}
      ${TENANT_ACCESS}
     WHERE r.is_refused LIMIT 1
  ) f ON true
 ORDER BY i.ord`;

interface WriteRow extends AccessFactsRow {
  snapshot_id_taken: boolean;
  head_version: number | null;
  created_at: Date | null;
  event_id: string | null;
}

/** A subject's identity as one value: a type has no slash in it. */
const IDENTITY = `subject_type || '/' || subject_id`;

/** Version 1: the subject and its first snapshot, unless someone was first. */
const CREATE = statement<WriteRow>(
  'snapshot_create',
  `WITH ${ASKED},
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT subject_type, subject_id, tenant_id FROM asked WHERE ${MAY_WRITE}
  ON CONFLICT ON CONSTRAINT subjects_identity_key DO NOTHING
  RETURNING subject_key, ${IDENTITY} AS identity
),
ready AS MATERIALIZED (
  SELECT i.*, (ARRAY(SELECT subject_key FROM new_subject))[s.place] AS subject_key, ${EVENT_ID}
    FROM asked i
   CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT identity FROM new_subject), ${IDENTITY}) AS place LIMIT 1) s
   WHERE s.place IS NOT NULL
),
${INSERTS}`,
);

/**
 * Version >= 2: the owner's next snapshot on the head, and with it the proposal's move to `applied`. The proposal's row
 * lock lets one of many appliers through; the unique (subject, version) lets one of many proposals through. Nothing but
 * the proposal's key may find it: IS TRUE keeps a plan made early from walking through all that are proposed.
 */
const APPEND = statement<WriteRow>(
  'snapshot_append',
  `WITH ${ASKED},
admitted AS MATERIALIZED (
  SELECT i.*, s.subject_key
    FROM asked i
   CROSS JOIN LATERAL (
     SELECT s.subject_key, s.owner_tenant_id, ${HEAD_VERSION} AS head_version
       FROM subjects s
      WHERE s.subject_type = i.subject_type AND s.subject_id = i.subject_id LIMIT 1
   ) s
   WHERE ${MAY_WRITE} AND s.owner_tenant_id = i.tenant_id AND s.head_version = i.snapshot_version - 1
),
applied AS (
  UPDATE updates u SET status = 'applied', applied_at = now(), applied_snapshot_id = a.snapshot_id
    FROM admitted a
   WHERE u.update_id = a.update_id AND (u.status = 'proposed') IS TRUE
  RETURNING u.update_id
),
ready AS MATERIALIZED (
  SELECT i.*, ${EVENT_ID} FROM admitted i
   WHERE update_id IS NULL OR update_id = ANY (ARRAY(SELECT update_id FROM applied))
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
        (snapshot) => [snapshot.subjectId, snapshot.snapshotId],
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
