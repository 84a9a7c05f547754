import type { AccessFacts, Actor, EvidencePolicy, Role, SubjectRef, UpdateStatus } from '@iss/domain';
import { newEventId, RULES } from '@iss/domain';
import { type CapName, type Caps, DEFAULT_CAPS } from '@iss/platform';
import { ANY_BYTES, Coalescer, LARGE_ANSWER } from '../../sql/coalescer';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, inputRows, SUBJECT } from '../../sql/input';
import {
  type Before,
  before,
  fitting,
  type ListRow,
  newestFirst,
  type Page,
  type PageRequest,
  toList,
} from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS, rolesOf, TENANT_ACCESS } from '../facts/access-facts';
import { headVersion, NAMED_SUBJECT, originsOf, snapshotOfVersion } from '../facts/joins';
import { capOf, countUpTo } from '../limits/caps';
import { Headroom } from '../limits/headroom';
import { eventIdIfWanted, wants } from '../webhooks/wants';
import { snapshotColumns, type SnapshotRow } from '../snapshots/snapshot-record';
import { type ListedUpdate, updateColumns, type UpdateRecord } from './update-record';

export { type ListedUpdate, type UpdateRecord } from './update-record';

/** A new proposal. `patchOps` is canonical JSON text. */
export interface UpdateToPropose extends SubjectRef {
  updateId: string;
  tenantId: string;
  principalId: string;
  baseSnapshotId: string;
  baseSnapshotVersion: number;
  patchOps: string;
  requestId: string | null;
  initiatedBy: string | null;
  /** The evidence policy by which the dry run was checked. */
  evidencePolicy: EvidencePolicy;
  trace: EventTrace;
}

/** The request that caused an event. */
export interface EventTrace {
  requestId: string;
  /** W3C Trace Context. */
  traceparent: string;
}

/** `eventId` is the event to announce, or null if no subscription wants it. */
export type ProposeOutcome =
  | { kind: 'proposed'; update: UpdateRecord; eventId: string | null }
  | { kind: 'existing'; update: UpdateRecord }
  | ({ kind: 'refused' } & Pick<ProposeRow, 'facts' | 'headVersion' | 'evidencePolicy' | 'reached'>);

/** An update of a tenant, and the member that acts on it. */
export interface UpdateRef extends Actor {
  updateId: string;
  /** The subject in the path, which must be the update's; null if the path has none. */
  subject: SubjectRef | null;
}

/** The update, or null if the tenant (and the named subject) has none with this id, and the caller's access facts. */
export interface FoundUpdate {
  facts: AccessFacts;
  update: UpdateRecord | null;
}

/** An update with the data that applying it needs. */
export interface UpdateToApply extends FoundUpdate {
  /** The version of the subject's newest snapshot. */
  headVersion: number | null;
  base: ApplyBase | null;
  chainEnforced: boolean;
  /** The evidence that the tenant demands. */
  evidencePolicy: EvidencePolicy;
}

/** The snapshot to which an update is applied. */
export interface ApplyBase extends SnapshotRow {
  /** Encoded by `encodeOrigins`; null for a first version, and if they are unknown. */
  origins: Buffer | null;
}

interface ProposeRow {
  facts: AccessFacts;
  headVersion: number | null;
  /** The tenant's current policy. A proposal that was checked by another policy is refused. Null if there is no tenant. */
  evidencePolicy: EvidencePolicy | null;
  createdAt: Date | null;
  eventId: string | null;
  tenantCap: number;
  /** The number of the tenant's proposals before this statement; null if they were not counted. */
  pendingOfTenant: number | null;
  reached: ReachedCap | null;
}

/** A cap without a free place, and its value. */
export interface ReachedCap {
  name: CapName;
  value: number;
}

/**
 * For each row: the cap under which its tenant is known to have a free place, and the number of earlier rows of its subject and
 * tenant.
 */
interface Places {
  eventIds: readonly string[];
  traces: readonly EventTrace[];
  countedCaps: readonly (number | null)[];
  aheadOfSubject: readonly number[];
  aheadOfTenant: readonly number[];
}

type PendingCaps = Pick<Caps, 'pending_updates_per_subject' | 'pending_updates_per_tenant'>;

/** Rows that share the statement count together: earlier rows take their places first. */
const SUBJECT_IS_FULL = 'f.pending_of_subject + (:aheadOfSubject::int[])[f.ord] >= f.subject_cap';
const TENANT_IS_FULL = 'f.pending_of_tenant + (:aheadOfTenant::int[])[f.ord] >= f.tenant_cap';

/**
 * Stores proposals. It counts the tenant's proposals unless the process knows that there is a free place under the current cap
 * ({@link Headroom}).
 */
const PROPOSE = statement<{ inputs: readonly UpdateToPropose[] } & Places & PendingCaps, ProposeRow>(
  'update_propose',
  `WITH facts AS MATERIALIZED (
  SELECT f.*,
         ${countUpTo(
           'f.subject_cap',
           `FROM updates u WHERE (u.subject_key, u.status) BETWEEN (f.subject_key, 'proposed') AND (f.subject_key, 'proposed')`,
         )} AS pending_of_subject,
         CASE WHEN f.tenant_cap IS DISTINCT FROM (:countedCaps::int[])[f.ord] THEN ${countUpTo(
           'f.tenant_cap',
           `FROM updates u WHERE (u.tenant_id, u.status) BETWEEN (f.tenant_id, 'proposed') AND (f.tenant_id, 'proposed')`,
         )} END AS pending_of_tenant
    FROM (
    SELECT i.*, f.*, s.subject_key, ${headVersion('s.subject_key')} AS head_version,
           ${capOf('pending_updates_per_subject', 'i.tenant_id')} AS subject_cap,
           ${capOf('pending_updates_per_tenant', 'i.tenant_id')} AS tenant_cap,
           (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
      FROM ${inputRows({
        update_id: 'uuid',
        ...ACTOR,
        ...SUBJECT,
        base_snapshot_version: 'int',
        request_id: 'text',
        evidence_policy: 'text',
      })}
      ${NAMED_SUBJECT}
      ${TENANT_ACCESS}
     ORDER BY i.tenant_id, i.request_id
    OFFSET 0
  ) f
),
inserted AS (
  INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops,
                       request_id, initiated_by, proposed_by)
  SELECT update_id, tenant_id, subject_key, (:inputs.baseSnapshotId::uuid[])[ord], base_snapshot_version,
         (:inputs.patchOps::text[])[ord], request_id, (:inputs.initiatedBy::text[])[ord], principal_id
    FROM facts f
   WHERE member_status = 'active' AND role IN (${rolesOf(RULES.proposeUpdate)}) AND owns_subject
     AND head_version = base_snapshot_version AND tenant_policy = evidence_policy
     AND (${SUBJECT_IS_FULL}) IS NOT TRUE AND (${TENANT_IS_FULL}) IS NOT TRUE
  ON CONFLICT (tenant_id, request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING update_id
),
announced AS MATERIALIZED (
  SELECT i.update_id, i.tenant_id, i.ord, ${eventIdIfWanted('eventIds', 'i.tenant_id', 'update.proposed')} AS event_id
    FROM facts i WHERE i.update_id = ANY (ARRAY(SELECT update_id FROM inserted))
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, update_id, request_id, traceparent)
  SELECT event_id, tenant_id, 'update.proposed', update_id, (:traces.requestId::text[])[ord],
         (:traces.traceparent::text[])[ord]
    FROM announced WHERE event_id IS NOT NULL
)
SELECT ${FACTS},
  f.head_version AS "headVersion", f.tenant_policy AS "evidencePolicy",
       (ARRAY(SELECT event_id FROM announced))[array_position(ARRAY(SELECT update_id FROM announced), f.update_id)] AS "eventId",
       CASE WHEN f.update_id = ANY (ARRAY(SELECT update_id FROM inserted)) THEN now() END AS "createdAt",
       f.tenant_cap AS "tenantCap", f.pending_of_tenant AS "pendingOfTenant",
       CASE WHEN ${SUBJECT_IS_FULL} THEN 'pending_updates_per_subject'
            WHEN ${TENANT_IS_FULL} THEN 'pending_updates_per_tenant' END AS "reached?.name",
       CASE WHEN ${SUBJECT_IS_FULL} THEN f.subject_cap ELSE f.tenant_cap END AS "reached?.value"
  FROM facts f
 ORDER BY f.ord`,
);

const BY_REQUEST = statement<{ tenantId: string; requestId: string }, UpdateRecord>(
  'update_by_request',
  `SELECT ${columns(updateColumns())}
  FROM updates u JOIN subjects s ON s.subject_key = u.subject_key
    WHERE u.tenant_id = :tenantId AND u.request_id = :requestId`,
);

/** An {@link UpdateRef} as parameters of a statement. */
type UpdateInput = Actor & { updateId: string; subjectType: string | null; subjectId: string | null };

const INPUT = { update_id: 'uuid', ...ACTOR, ...SUBJECT } as const;

/**
 * Joins the update `u` of the input `i`, and the subject `s` on which access is decided: the path's if it has one. The update is
 * found by its key first and checked afterwards, because an early plan would otherwise scan all updates of the tenant. `u` is
 * null unless the caller is an active member of the owner.
 */
const UPDATE = `
  LEFT JOIN subjects p ON p.subject_type = i.subject_type AND p.subject_id = i.subject_id
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = i.update_id LIMIT 1) found
    ON found.tenant_id = i.tenant_id AND (i.subject_type IS NULL OR found.subject_key = p.subject_key)
  LEFT JOIN subjects s ON s.subject_key = coalesce(p.subject_key, found.subject_key)
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL (SELECT found.* WHERE f.owns_subject AND f.member_status = 'active') u ON true`;

// PostgreSQL knows the length of a text without reading it.
const IS_TOO_LARGE = '(octet_length(u.patch_ops) + octet_length(n.envelope) > :maxBytes::int) IS TRUE';
const unlessTooLarge = (text: string): string => `CASE WHEN NOT ${IS_TOO_LARGE} THEN ${text} END`;

const FOR_APPLY = statement<
  { inputs: readonly UpdateInput[]; maxBytes: number },
  UpdateToApply & { isTooLarge: boolean }
>(
  'update_for_apply',
  `SELECT ${FACTS},
  ${columns({ ...updateColumns(), patchOps: unlessTooLarge('u.patch_ops') }, 'update?')},
  ${headVersion('s.subject_key')} AS "headVersion",
       t.chain_enforced IS TRUE AS "chainEnforced", coalesce(t.evidence_policy, 'open') AS "evidencePolicy",
       ${IS_TOO_LARGE} AS "isTooLarge",
  ${columns(snapshotColumns(unlessTooLarge('n.envelope')), 'base?')},
       ${originsOf('n.subject_key', 'n.snapshot_version')} AS "base?.origins"
  FROM ${inputRows(INPUT)}
  ${UPDATE}
  ${snapshotOfVersion('u.subject_key', 'u.base_snapshot_version', 'n')}
  LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
 ORDER BY i.ord`,
);

const FIND = statement<UpdateInput, FoundUpdate>(
  'update_find',
  `SELECT ${FACTS},
  ${columns(updateColumns(), 'update?')}
  FROM ${inputRow(INPUT)} ${UPDATE}`,
);

/**
 * Withdraws an update. The row lock serializes withdrawing and applying, and the later one sees that the update is no longer
 * proposed.
 */
const WITHDRAW = statement<
  UpdateInput & {
    proposers: readonly Role[];
    editors: readonly Role[];
    eventId: string;
    trace: EventTrace['requestId'];
    traceparent: string;
  },
  FoundUpdate & { withdrawnNowAt: Date | null; eventId: string | null }
>(
  'update_withdraw',
  `WITH found AS MATERIALIZED (
  SELECT f.*, u.*, s.subject_type, s.subject_id, i.principal_id FROM ${inputRow(INPUT)} ${UPDATE}
),
withdrawn AS (
  UPDATE updates u SET status = 'withdrawn', withdrawn_at = now()
    FROM found f
   WHERE u.update_id = f.update_id AND (u.status = 'proposed') IS TRUE AND f.member_status = 'active' AND f.owns_subject
     AND (f.role = ANY (:editors::text[]) OR (f.role = ANY (:proposers::text[]) AND f.proposed_by = f.principal_id))
  RETURNING u.update_id, u.tenant_id, u.withdrawn_at
),
announced AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, update_id, request_id, traceparent)
  SELECT :eventId::uuid, w.tenant_id, 'update.withdrawn', w.update_id, :trace::text, :traceparent::text
    FROM withdrawn w
   WHERE (SELECT true FROM ${wants('w.tenant_id', `'update.withdrawn'`)})
  RETURNING event_id
)
SELECT ${FACTS},
  ${columns(updateColumns('f', 'f'), 'update?')}, w.withdrawn_at AS "withdrawnNowAt",
  (SELECT event_id FROM announced) AS "eventId"
  FROM found f LEFT JOIN withdrawn w ON true`,
);

const LIST = newestFirst('u', 'update_id');
const LISTED = `${FACTS},
  ${columns({ ...updateColumns(), name: 's.display_name' }, 'item?')},
  ${LIST.position}, u.found`;
type ListParameters = Actor & Before & { statuses: readonly UpdateStatus[] };

/**
 * Joins a page of these updates as `u`. It reads each status from the index separately, so that a rare one needs no scan of a
 * long history.
 */
const pageOf = (whose: string): string => `
  LEFT JOIN LATERAL ${fitting(
    'u',
    `SELECT u.*
      FROM unnest(:statuses::text[]) state
     CROSS JOIN LATERAL (SELECT * FROM updates u WHERE ${whose} AND u.status = state AND ${LIST.next}) u
     ${LIST.order} LIMIT :rows`,
    `(octet_length(u.patch_ops) + octet_length(to_json(concat(u.request_id, u.initiated_by, u.proposed_by))::text))`,
    LIST.order,
  )} u ON true`;

const OF_TENANT = statement<ListParameters, ListRow<AccessFacts, ListedUpdate>>(
  'updates_of_tenant',
  `SELECT ${LISTED}
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  ${pageOf(`u.tenant_id = i.tenant_id AND f.member_status = 'active'`)}
  LEFT JOIN subjects s ON s.subject_key = u.subject_key
 ${LIST.order}`,
);

const OF_SUBJECT = statement<ListParameters & SubjectRef, ListRow<AccessFacts, ListedUpdate>>(
  'updates_of_subject',
  `SELECT ${LISTED}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  ${pageOf('u.subject_key = s.subject_key AND f.owns_subject')}
 ${LIST.order}`,
);

const MAX_ROWS = 32;
const MAX_RUNNING = 3;

/** Updates: proposed once per (tenant, request_id), read, withdrawn, and loaded with the data that applying them needs. */
export class UpdateStore {
  private readonly proposals: Coalescer<UpdateToPropose, ProposeRow>;
  private readonly applications: Coalescer<UpdateRef, UpdateToApply>;

  constructor(
    private readonly sql: Sql,
    { pending_updates_per_subject, pending_updates_per_tenant }: PendingCaps = DEFAULT_CAPS,
  ) {
    const headroom = new Headroom();
    const { sql: shared, lone } = sql.sharing;
    this.proposals = new Coalescer<UpdateToPropose, ProposeRow>({
      run: async (updates, isAlone) => {
        const rows = await (isAlone ? sql : shared).run(PROPOSE, {
          inputs: updates,
          eventIds: updates.map(() => newEventId()),
          traces: updates.map(({ trace }) => trace),
          countedCaps: updates.map(({ tenantId }) => headroom.take(tenantId)),
          aheadOfSubject: aheadOf(updates, isOfSameSubject),
          aheadOfTenant: aheadOf(updates, isOfSameTenant),
          pending_updates_per_subject,
          pending_updates_per_tenant,
        });
        rows.forEach(({ pendingOfTenant, tenantCap }, index) => {
          const tenantId = updates[index]?.tenantId;
          if (pendingOfTenant !== null && tenantId !== undefined)
            headroom.counted(tenantId, pendingOfTenant, tenantCap);
        });
        return rows.map((value) => ({ value }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId }) => tenantId,
      keysOf: ({ tenantId, requestId }) => (requestId === null ? [] : [`${tenantId}/${requestId}`]),
      sizeOf: ({ patchOps }) => patchOps.length,
    });
    this.applications = new Coalescer<UpdateRef, UpdateToApply>({
      run: async (refs, isAlone) => {
        const inputs = refs.map(toInput);
        const rows = isAlone
          ? await sql.run(FOR_APPLY, { inputs, maxBytes: ANY_BYTES })
          : await shared.run(FOR_APPLY, { inputs, maxBytes: LARGE_ANSWER });
        return rows.map((value) => (value.isTooLarge ? 'tooLarge' : { value }));
      },
      maxRows: MAX_ROWS,
      maxRunning: MAX_RUNNING,
      lone,
      whoseOf: ({ tenantId }) => tenantId,
    });
  }

  /**
   * Stores a proposal on the head, or returns the one that the tenant stored under the same `requestId`. Reasons for a refusal,
   * in this order: the caller's rights, a stale base, the cap in `reached`.
   */
  async propose(update: UpdateToPropose): Promise<ProposeOutcome> {
    const { createdAt, eventId, ...refusal } = await this.proposals.submit(update);
    if (createdAt !== null) return { kind: 'proposed', update: toProposed(update, createdAt), eventId };
    const existing = await this.byRequestId(update.tenantId, update.requestId);
    if (existing !== null) return { kind: 'existing', update: existing };
    return { kind: 'refused', ...refusal };
  }

  /** Returns the tenant's update with this `requestId`, or null. */
  async byRequestId(tenantId: string, requestId: string | null): Promise<UpdateRecord | null> {
    if (requestId === null) return null;
    const [update = null] = await this.sql.run(BY_REQUEST, { tenantId, requestId });
    return update;
  }

  /** Returns the update, its base and the head with the access facts, in one statement. */
  forApply(ref: UpdateRef): Promise<UpdateToApply> {
    return this.applications.submit(ref);
  }

  async find(ref: UpdateRef): Promise<FoundUpdate> {
    return this.sql.one(FIND, toInput(ref));
  }

  /**
   * Withdraws a proposed update if the caller has one of the roles `editors`, or made it and has one of the roles `proposers`.
   * `isWithdrawn` is true if this call withdrew it; otherwise `update` is unchanged. `eventId` is the event to announce, or null
   * if no subscription wants it.
   */
  async withdraw(
    ref: UpdateRef,
    proposers: readonly Role[],
    editors: readonly Role[],
    { requestId: trace, traceparent }: EventTrace,
  ): Promise<FoundUpdate & { isWithdrawn: boolean; eventId: string | null }> {
    const event = { eventId: newEventId(), trace, traceparent };
    const found = await this.sql.one(WITHDRAW, { ...toInput(ref), proposers, editors, ...event });
    const { facts, update, withdrawnNowAt, eventId } = found;
    if (update === null || withdrawnNowAt === null) return { facts, update, isWithdrawn: false, eventId };
    const withdrawn = { ...update, status: 'withdrawn', withdrawnAt: withdrawnNowAt } as const;
    return { facts, update: withdrawn, isWithdrawn: true, eventId };
  }

  /**
   * Returns updates of the tenant, or of one subject that it owns, with these statuses, newest first, and the caller's access
   * facts. Only an active member of the owner gets any.
   */
  async list(
    { tenantId, principalId, subject }: Omit<UpdateRef, 'updateId'>,
    statuses: readonly UpdateStatus[],
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedUpdate> }> {
    const parameters = { tenantId, principalId, statuses, ...before(request) };
    const rows = await (subject === null
      ? this.sql.runInTurn(tenantId, OF_TENANT, parameters)
      : this.sql.runInTurn(tenantId, OF_SUBJECT, { ...parameters, ...subject }));
    return toList(rows, request.limit);
  }
}

/** Returns for each row the number of earlier rows that are like it. Statements are small, so it compares every pair. */
function aheadOf(
  updates: readonly UpdateToPropose[],
  isLike: (one: UpdateToPropose, other: UpdateToPropose) => boolean,
): number[] {
  return updates.map((update, place) => {
    let count = 0;
    for (let before = 0; before < place; before += 1) {
      const other = updates[before];
      if (other !== undefined && isLike(update, other)) count += 1;
    }
    return count;
  });
}

function isOfSameTenant(one: UpdateToPropose, other: UpdateToPropose): boolean {
  return one.tenantId === other.tenantId;
}

function isOfSameSubject(one: UpdateToPropose, other: UpdateToPropose): boolean {
  return one.subjectId === other.subjectId && one.subjectType === other.subjectType;
}

function toInput({ subject, ...ref }: UpdateRef): UpdateInput {
  return { ...ref, subjectType: subject?.subjectType ?? null, subjectId: subject?.subjectId ?? null };
}

function toProposed({ principalId, evidencePolicy: _, ...stored }: UpdateToPropose, createdAt: Date): UpdateRecord {
  return {
    ...stored,
    status: 'proposed',
    proposedBy: principalId,
    createdAt,
    appliedAt: null,
    appliedSnapshotId: null,
    withdrawnAt: null,
  };
}
