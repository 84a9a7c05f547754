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
  /** By what the subject is found from now on. */
  terms: SearchTerms;
  /** What the tenant demands of evidence, as far as this snapshot was held to it. */
  evidencePolicy: EvidencePolicy;
  /** Whether leaves of it have evidence that is missing, or carried. */
  hasMissing: boolean;
  hasCarried: boolean;
}

/** A snapshot on a base, and what is kept of where it comes from. */
export interface SnapshotToAppend extends SnapshotToWrite {
  /** Who made it, as JSON text; null where nothing is known of its base. */
  changedBy: string | null;
  /** See `encodeOrigins`. */
  origins: Buffer | null;
  /** Who made the first version, where this is the second one. */
  firstChangedBy: string | null;
}

export interface WrittenSnapshot {
  kind: 'written';
  createdAt: Date;
  /** The event that was written with it, to be announced; null when no subscription wants it. */
  eventId: string | null;
  /** The same of the event of the update that it applies. */
  appliedEventId: string | null;
}

/** Why nothing was written; what the caller may learn of it is decided by the access facts. */
export interface RefusedSnapshot {
  kind: 'refused';
  facts: AccessFacts;
  snapshotIdTaken: boolean;
  /** What the tenant demands now: nothing is written that was held to another policy. Null where there is no tenant. */
  evidencePolicy: EvidencePolicy | null;
  /** Version of the newest snapshot; null when the subject does not exist. */
  headVersion: number | null;
}

export type WriteOutcome = WrittenSnapshot | RefusedSnapshot;

/**
 * Input that may be written as far as membership, by this condition on the role, and `snapshot_id` go, in the order that
 * keeps two statements from waiting for each other's rows. Everything is looked up by subqueries with a limit: for joins
 * and EXISTS a plan made early reads the whole table.
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
/** Of an update that is applied. */
const APPLIED_EVENT_ID = `CASE WHEN i.update_id IS NOT NULL
              THEN ${eventIdIfWanted('appliedEventIds', 'i.tenant_id', 'update.applied')} END AS applied_event_id`;

/** The identifiers `t` of all input rows, each with the place of its row: what has none takes part in nothing. */
const IDENTIFIERS = `unnest(:identifiers.ord::int[], :identifiers.scheme::text[], :identifiers.value::text[])
           AS t(ord, scheme, value)`;
/** Of the input row `i`. */
const NAME = '(:names::text[])[i.ord]';

const NEW_IDENTIFIER = `
new_identifier AS (
  INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
  SELECT r.subject_key, t.scheme, t.value, r.tenant_id, r.subject_type
    FROM ${IDENTIFIERS} CROSS JOIN LATERAL (SELECT * FROM ready WHERE ord = t.ord LIMIT 1) r
  ON CONFLICT (subject_key, scheme) DO UPDATE SET value = excluded.value WHERE subject_identifiers.value <> excluded.value
),`;

/**
 * Inserts the rows of `ready`: all of them, or the statement fails; and the event of each that has one, since only the
 * statement knows whether anyone wants it. What speaks against a row is looked up only where it was not written. The few
 * written ones are found by their place in an array, since a join of two such lists reads the one anew for each row of
 * the other. What is only passed on comes straight from its array: unnested, it would be copied with every join and sort.
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
  identifiers: readonly (Identifier & { ord: number })[];
}
type WriteRow = Omit<RefusedSnapshot, 'kind'> & {
  createdAt: Date | null;
  eventId: string | null;
  appliedEventId: string | null;
};
type WriteStatement<Input> = Statement<WriteParameters<Input>, WriteRow>;

/** A subject's identity as one value: a type has no slash in it. */
const IDENTITY = `subject_type || '/' || subject_id`;

/**
 * Version 1: the subject and its first snapshot, unless someone was first; and `more`, which other tables get. Each of those
 * costs a statement that writes nothing to it a quarter of its time.
 */
const create = (name: string, more: string): WriteStatement<SnapshotToWrite> =>
  statement(
    name,
    `WITH ${asked(holds(RULES.submitFirstState))},
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name)
  SELECT subject_type, subject_id, tenant_id, ${NAME} FROM asked i WHERE ${MAY_WRITE}
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

/** Where no subject has identifiers, or evidence to mend. */
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

/** An update that is applied is held to one rule, what is written directly to another. */
const MAY_APPEND = `CASE WHEN i.update_id IS NULL THEN ${holds(RULES.submitLaterState)}
              ELSE ${holds(RULES.applyUpdate)} END`;

/**
 * Version >= 2: the owner's next snapshot on the head, and with it the proposal's move to `applied`. The proposal's row
 * lock lets one of many appliers through; the unique (subject, version) lets one of many proposals through. Nothing but
 * the proposal's key may find it: IS TRUE keeps a plan made early from walking through all that are proposed. In a chain
 * times never run backwards, though a clock may: that of a server which another one has taken over from.
 */
const APPEND: WriteStatement<SnapshotToAppend> = statement(
  'snapshot_append',
  `WITH ${asked(MAY_APPEND)},
admitted AS MATERIALIZED (
  SELECT i.*, s.subject_key, greatest(now(), h.created_at) AS created_at, s.name IS DISTINCT FROM ${NAME} AS is_renamed
    FROM asked i
   CROSS JOIN LATERAL (
     SELECT s.subject_key, s.owner_tenant_id, s.name
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
  UPDATE subjects s SET name = ${NAME} FROM ready i WHERE i.is_renamed AND s.subject_key = i.subject_key
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

/** Writes of snapshots: one statement checks membership, ownership and base, writes the rows, and says which rule failed. */
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

  /** Writes a subject's first snapshot and makes the tenant its owner. Throws `conflict` when a concurrent write won. */
  create(snapshot: SnapshotToWrite): Promise<WriteOutcome> {
    return this.creates.submit(snapshot);
  }

  /** Writes the owner's next snapshot, which must follow the head. Throws `conflict` when a concurrent write won. */
  append(snapshot: SnapshotToAppend): Promise<WriteOutcome> {
    return this.appends.submit(snapshot);
  }
}

function isBare({ terms: { identifiers }, hasMissing, hasCarried }: SnapshotToWrite): boolean {
  return identifiers.length === 0 && !hasMissing && !hasCarried;
}
