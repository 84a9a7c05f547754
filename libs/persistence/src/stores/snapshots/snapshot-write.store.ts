import {
  type AccessFacts,
  type AccessRule,
  type EventType,
  type EvidencePolicy,
  type Identifier,
  newEventId,
  RULES,
  type SearchTerms,
  type SubjectRef,
} from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { ACTOR, inputRows, SUBJECT } from '../../sql/input';
import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { FACTS, rolesOf, TENANT_ACCESS } from '../facts/access-facts';
import { headVersion, NAMED_SUBJECT } from '../facts/joins';
import { eventIdIfWanted } from '../webhooks/wants';

/** A sealed snapshot, and facts about the request that writes it. */
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
  /** The terms by which the subject can be found from now on. */
  terms: SearchTerms;
  /** The evidence policy by which this snapshot was checked. */
  evidencePolicy: EvidencePolicy;
  /** True if leaves of it have missing evidence (`hasMissing`) or carried evidence (`hasCarried`). */
  hasMissing: boolean;
  hasCarried: boolean;
}

/** A snapshot on a base, and its provenance. */
export interface SnapshotToAppend extends SnapshotToWrite {
  /** Its author as JSON text; null if the base has no known provenance. */
  changedBy: string | null;
  /** Encoded by `encodeOrigins`. */
  origins: Buffer | null;
  /** The author of the first version, if this is the second one. */
  firstChangedBy: string | null;
}

export interface WrittenSnapshot {
  kind: 'written';
  createdAt: Date;
  /** The id of the event that was stored with it and must be announced; null if no subscription wants it. */
  eventId: string | null;
  /** The same for the event of the update that it applies. */
  appliedEventId: string | null;
}

/** A refused write. The access facts decide what the caller may learn of it. */
export interface RefusedSnapshot {
  kind: 'refused';
  facts: AccessFacts;
  snapshotIdTaken: boolean;
  /** The tenant's current policy. A snapshot that was checked by another policy is refused. Null if there is no tenant. */
  evidencePolicy: EvidencePolicy | null;
  /** The version of the newest snapshot; null if the subject does not exist. */
  headVersion: number | null;
}

export type WriteOutcome = WrittenSnapshot | RefusedSnapshot;

/**
 * Selects the inputs with the checks of membership, role (by this condition) and `snapshot_id`. Their order prevents deadlocks
 * between two statements. All look-ups are subqueries with a limit, because an early plan for a join or EXISTS would read the
 * whole table.
 */
const asked = (hasRole: string): string => `
asked AS MATERIALIZED (
  SELECT i.*,
         (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken,
         (SELECT m.status = 'active' AND ${hasRole} FROM memberships m
           WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS is_editor,
         (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
    FROM ${inputRows({
      ...ACTOR,
      ...SUBJECT,
      snapshot_id: 'uuid',
      snapshot_version: 'int',
      update_id: 'uuid',
      evidence_policy: 'text',
      has_missing: 'boolean',
      has_carried: 'boolean',
    })}
   ORDER BY i.subject_type, i.subject_id
)`;
const holds = (rule: AccessRule): string => `m.api_functional_role IN (${rolesOf(rule)})`;

const MAY_WRITE = 'is_editor AND NOT snapshot_id_taken AND tenant_policy = evidence_policy';

const EVENT_TYPE: EventType = 'identity.snapshot.created';

const EVENT_ID = `${eventIdIfWanted('eventIds', 'i.tenant_id', EVENT_TYPE)} AS event_id`;
/** The id of the event of an applied update. */
const APPLIED_EVENT_ID = `CASE WHEN i.update_id IS NOT NULL
              THEN ${eventIdIfWanted('appliedEventIds', 'i.tenant_id', 'update.applied')} END AS applied_event_id`;

/** The identifiers `t` of all input rows, each with the number of its row. */
const IDENTIFIERS = `unnest(:identifiers.ord::int[], :identifiers.scheme::text[], :identifiers.value::text[])
           AS t(ord, scheme, value)`;
/** The name of the input row `i`. */
const NAME = '(:names::text[])[i.ord]';
const DISPLAY_NAME = '(:displayNames::text[])[i.ord]';

const NEW_IDENTIFIER = `
new_identifier AS (
  INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
  SELECT r.subject_key, t.scheme, t.value, r.tenant_id, r.subject_type
    FROM ${IDENTIFIERS} CROSS JOIN LATERAL (SELECT * FROM ready WHERE ord = t.ord LIMIT 1) r
  ON CONFLICT (subject_key, scheme) DO UPDATE SET value = excluded.value WHERE subject_identifiers.value <> excluded.value
),`;

/**
 * Inserts all rows of `ready`, or the statement fails. It also inserts their events if a subscription wants them, which only the
 * statement can know.
 *
 * The reasons against a row are looked up only if it was not written. The few written rows are found by their place in an array,
 * because a join of two such lists would read one of them for each row of the other. Large values come directly from their
 * parameter arrays. If they were unnested, every join and sort would copy them.
 */
const inserts = (more: string, appliedEventId: string): string => `
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, created_at, written_by, write_request_id, generated_at, envelope_hash,
     prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, created_at, principal_id, (:inputs.requestId::text[])[ord],
         (:inputs.generatedAt::text[])[ord],
         decode((:inputs.envelopeHash::text[])[ord], 'hex'), decode((:inputs.prevHash::text[])[ord], 'hex'),
         (:inputs.envelope::text[])[ord]
    FROM ready
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, snapshot_id, request_id, traceparent)
  SELECT event_id, tenant_id, '${EVENT_TYPE}', snapshot_id, (:inputs.requestId::text[])[ord],
         (:inputs.traceparent::text[])[ord]
    FROM ready
   WHERE event_id IS NOT NULL
)${more}
SELECT ${FACTS},
  f.head_version AS "headVersion", i.snapshot_id_taken AS "snapshotIdTaken", i.tenant_policy AS "evidencePolicy",
       (ARRAY(SELECT created_at FROM ready))[w.place] AS "createdAt",
       (ARRAY(SELECT event_id FROM ready))[w.place] AS "eventId", ${appliedEventId} AS "appliedEventId"
  FROM asked i
 CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT ord FROM ready), i.ord) AS place LIMIT 1) w
  LEFT JOIN LATERAL (
    SELECT f.*, ${headVersion('s.subject_key')} AS head_version
      FROM (SELECT w.place IS NULL AS is_refused) r
      ${NAMED_SUBJECT}
      ${TENANT_ACCESS}
     WHERE r.is_refused LIMIT 1
  ) f ON true
 ORDER BY i.ord`;

interface WriteParameters<Input> {
  inputs: readonly Input[];
  eventIds: readonly string[];
  appliedEventIds: readonly (string | null)[];
  names: readonly (string | null)[];
  displayNames: readonly (string | null)[];
  identifiers: readonly (Identifier & { ord: number })[];
}
type WriteRow = Omit<RefusedSnapshot, 'kind'> & {
  createdAt: Date | null;
  eventId: string | null;
  appliedEventId: string | null;
};
type WriteStatement<Input> = Statement<WriteParameters<Input>, WriteRow>;

/** The identity of a subject as one value. A type contains no slash. */
const IDENTITY = `subject_type || '/' || subject_id`;

/**
 * Declares the creation of a subject with its first snapshot, unless another write was first. `more` has the inserts into other
 * tables, each of which adds a quarter to the time of a statement that does not need it.
 */
const create = (name: string, more: string): WriteStatement<SnapshotToWrite> =>
  statement(
    name,
    `WITH ${asked(holds(RULES.submitFirstState))},
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name, display_name)
  SELECT subject_type, subject_id, tenant_id, ${NAME}, ${DISPLAY_NAME} FROM asked i WHERE ${MAY_WRITE}
  ON CONFLICT ON CONSTRAINT subjects_identity_key DO NOTHING
  RETURNING subject_key, ${IDENTITY} AS identity
),
ready AS MATERIALIZED (
  SELECT i.*, (ARRAY(SELECT subject_key FROM new_subject))[s.place] AS subject_key, now() AS created_at, ${EVENT_ID}
    FROM asked i
   CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT identity FROM new_subject), ${IDENTITY}) AS place LIMIT 1) s
   WHERE s.place IS NOT NULL
),${more}
${inserts('', 'NULL::uuid')}`,
  );

/** For inputs without identifiers and without evidence to mend. */
const CREATE_BARE = create('snapshot_create', '');

const CREATE = create(
  'snapshot_create_found',
  `
new_evidence AS (
  INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
  SELECT subject_key, tenant_id, subject_type, subject_id, has_missing, has_carried
    FROM ready
   WHERE has_missing OR has_carried
),${NEW_IDENTIFIER}`,
);

/** The rule for an applied update, or for a direct write. */
const MAY_APPEND = `CASE WHEN i.update_id IS NULL THEN ${holds(RULES.submitLaterState)}
              ELSE ${holds(RULES.applyUpdate)} END`;

/**
 * Appends the owner's next snapshot to the head (version ≥ 2), and marks its proposal as `applied`. The proposal's row lock
 * admits one of many appliers, and the unique (subject, version) admits one of many proposals. IS TRUE restricts the search to
 * the proposal's key, because an early plan would otherwise scan all proposals. Times in a chain never decrease, even if the
 * clock does after a failover.
 */
const APPEND: WriteStatement<SnapshotToAppend> = statement(
  'snapshot_append',
  `WITH ${asked(MAY_APPEND)},
admitted AS MATERIALIZED (
  SELECT i.*, s.subject_key, greatest(now(), h.created_at) AS created_at, 
         (s.name, s.display_name) IS DISTINCT FROM (${NAME}, ${DISPLAY_NAME}) AS is_renamed
    FROM asked i
   CROSS JOIN LATERAL (
     SELECT s.subject_key, s.owner_tenant_id, s.name, s.display_name
       FROM subjects s
      WHERE s.subject_type = i.subject_type AND s.subject_id = i.subject_id LIMIT 1
   ) s
   CROSS JOIN LATERAL (
     SELECT n.snapshot_version, n.created_at FROM snapshots n WHERE n.subject_key = s.subject_key
      ORDER BY n.snapshot_version DESC LIMIT 1
   ) h
   WHERE ${MAY_WRITE} AND s.owner_tenant_id = i.tenant_id AND h.snapshot_version = i.snapshot_version - 1
),
applied AS (
  UPDATE updates u SET status = 'applied', applied_at = now(), applied_snapshot_id = a.snapshot_id
    FROM admitted a
   WHERE u.update_id = a.update_id AND (u.status = 'proposed') IS TRUE
  RETURNING u.update_id
),
ready AS MATERIALIZED (
  SELECT i.*, ${EVENT_ID}, ${APPLIED_EVENT_ID} FROM admitted i
   WHERE update_id IS NULL OR update_id = ANY (ARRAY(SELECT update_id FROM applied))
),
renamed AS (
  UPDATE subjects s SET name = ${NAME}, display_name = ${DISPLAY_NAME} FROM ready i WHERE i.is_renamed AND s.subject_key = i.subject_key
),
lost_identifier AS (
  DELETE FROM subject_identifiers d
   WHERE d.subject_key = ANY (ARRAY(SELECT subject_key FROM ready))
     AND (SELECT true FROM ${IDENTIFIERS}
           CROSS JOIN LATERAL (SELECT subject_key FROM ready WHERE ord = t.ord LIMIT 1) r
           WHERE r.subject_key = d.subject_key AND t.scheme = d.scheme LIMIT 1) IS NULL
),
new_provenance AS (
  INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins)
  SELECT i.subject_key, p.snapshot_version, p.changed_by, p.origins
    FROM ready i
   CROSS JOIN LATERAL (VALUES
     (i.snapshot_version, (:inputs.changedBy::text[])[i.ord], (:inputs.origins::bytea[])[i.ord]),
     (1, (:inputs.firstChangedBy::text[])[i.ord], NULL)
   ) AS p(snapshot_version, changed_by, origins)
   WHERE p.changed_by IS NOT NULL
  ON CONFLICT DO NOTHING
),
changed_evidence AS (
  INSERT INTO subject_evidence AS e (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
  SELECT subject_key, tenant_id, subject_type, subject_id, has_missing, has_carried
    FROM ready
   WHERE has_missing OR has_carried
  ON CONFLICT (subject_key) DO UPDATE SET has_missing = EXCLUDED.has_missing, has_carried = EXCLUDED.has_carried
),
mended_evidence AS (
  DELETE FROM subject_evidence e
   WHERE e.subject_key = ANY (ARRAY(SELECT subject_key FROM ready WHERE NOT has_missing AND NOT has_carried))
),${NEW_IDENTIFIER}
${inserts(
  `,
applied_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, update_id, request_id, traceparent)
  SELECT applied_event_id, tenant_id, 'update.applied', update_id, (:inputs.requestId::text[])[ord],
         (:inputs.traceparent::text[])[ord]
    FROM ready
   WHERE applied_event_id IS NOT NULL
)`,
  '(ARRAY(SELECT applied_event_id FROM ready))[w.place]',
)}`,
);

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Writes snapshots. One statement checks membership, ownership and base, writes the rows, and reports the failed rule. */
export class SnapshotWriteStore {
  private readonly creates: Coalescer<SnapshotToWrite, WriteOutcome>;
  private readonly appends: Coalescer<SnapshotToAppend, WriteOutcome>;

  constructor(sql: Sql) {
    const { sql: shared, lone } = sql.sharing;
    const writer = <Input extends SnapshotToWrite>(
      queryFor: (inputs: readonly Input[]) => WriteStatement<Input>,
    ): Coalescer<Input, WriteOutcome> =>
      new Coalescer<Input, WriteOutcome>({
        run: async (inputs, isAlone) => {
          const on = isAlone ? sql : shared;
          const rows = await on.run(queryFor(inputs), {
            inputs,
            eventIds: inputs.map(() => newEventId()),
            appliedEventIds: inputs.map(({ updateId }) => (updateId === null ? null : newEventId())),
            names: inputs.map(({ terms }) => terms.name),
            displayNames: inputs.map(({ terms }) => terms.displayName),
            identifiers: inputs.flatMap(({ terms }, index) =>
              terms.identifiers.map((identifier) => ({ ...identifier, ord: index + 1 })),
            ),
          });
          return rows.map(({ createdAt, eventId, appliedEventId, ...refusal }) => ({
            value:
              createdAt === null
                ? { kind: 'refused', ...refusal }
                : { kind: 'written', createdAt, eventId, appliedEventId },
          }));
        },
        maxRows: MAX_ROWS,
        maxRunning: MAX_RUNNING,
        lone,
        whoseOf: ({ tenantId }) => tenantId,
        keysOf: ({ subjectId, snapshotId }) => [subjectId, snapshotId],
        sizeOf: ({ envelope }) => envelope.length,
      });
    this.creates = writer((inputs) => (inputs.every(isBare) ? CREATE_BARE : CREATE));
    this.appends = writer(() => APPEND);
  }

  /** Writes a subject's first snapshot, and makes the tenant its owner. Throws `conflict` if a concurrent write was first. */
  create(snapshot: SnapshotToWrite): Promise<WriteOutcome> {
    return this.creates.submit(snapshot);
  }

  /** Writes the owner's next snapshot, which must follow the head. Throws `conflict` if a concurrent write was first. */
  append(snapshot: SnapshotToAppend): Promise<WriteOutcome> {
    return this.appends.submit(snapshot);
  }
}

function isBare({ terms: { identifiers }, hasMissing, hasCarried }: SnapshotToWrite): boolean {
  return identifiers.length === 0 && !hasMissing && !hasCarried;
}
