import {
  type AccessFacts,
  type Actor,
  type EventType,
  REFRESH_REQUEST_STATUSES,
  type RefreshRequestStatus,
  RULES,
  SUBJECT_TYPES,
  type SubjectRef,
  type SubjectType,
} from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
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
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import {
  FACTS,
  LATEST_READ_BY,
  MEMBER_ACCESS,
  memberAccess,
  partyAccess,
  rolesOf,
  TENANT_ACCESS,
} from '../facts/access-facts';
import { headVersion, NAMED_KEY, NAMED_SUBJECT } from '../facts/joins';
import { capOf, countUpTo } from '../limits/caps';
import {
  ANY_TIME,
  FIRST_UUID,
  type KeyedScope,
  type NamedKey,
  newestRecords,
  type RecordList,
  type RecordPage,
  recordPage,
  type RecordRow,
  toRecords,
} from '../records/record-page';
import { wants } from '../webhooks/wants';
import {
  IS_OPEN,
  type ListedRefreshRequest,
  type RefreshRequestRecord,
  requestColumns,
  STATUS,
} from './refresh-request-record';

export interface RefreshRequestToCreate extends SubjectRef {
  refreshRequestId: string;
  requestingTenantId: string;
  principalId: string;
  reasonCode: string | null;
  message: string | null;
  requestedPaths: readonly string[];
  expiresAt: Date | null;
  dueAt: Date | null;
  every: string | null;
}

/** A request of a subject, and a principal that reads or closes it in any of its tenants that take part. */
export interface RefreshRequestRef extends SubjectRef {
  refreshRequestId: string;
  principalId: string;
}

/** An event for one tenant about a change. */
export interface EventToWrite {
  /** Bare UUID. */
  eventId: string;
  tenantId: string;
  eventType: EventType;
  eventBody: string;
  requestId: string;
  traceparent: string;
}

/** A stored change. `eventId` is the event to announce, or null if no subscription wants it. */
export interface RefreshRequestWritten {
  kind: 'written';
  request: RefreshRequestRecord;
  eventId: string | null;
}

/** Refused because the caller lacks the right, or because `cap` requests are pending. */
export type CreateRefreshOutcome = RefreshRequestWritten | { kind: 'refused'; facts: AccessFacts; cap: number };

export type FulfilRefreshOutcome =
  | RefreshRequestWritten
  | {
      kind: 'refused';
      facts: AccessFacts;
      /** True if the subject has a request with this id. */
      isKnown: boolean;
      /** The request's status. */
      status: RefreshRequestStatus | null;
      /** True if the snapshot exists, for any subject. */
      isSnapshotKnown: boolean;
      /** True if the snapshot belongs to the subject. */
      isSnapshotOfSubject: boolean;
      isSnapshotErased: boolean;
    };

/** An end of a request without a snapshot. */
export type RefreshClosing = { status: 'declined'; reason: string } | { status: 'cancelled' };

export type CloseRefreshOutcome =
  | RefreshRequestWritten
  | {
      kind: 'refused';
      facts: AccessFacts;
      /** The request's status; null if the subject has no request with this id. */
      status: RefreshRequestStatus | null;
    };

/** The side of a tenant in a list: requests to it, or requests by it. */
export type RefreshDirection = 'incoming' | 'outgoing';

/** Serializes the requests of a tenant for one subject, so that each is counted before the next one. */
const LOCK_REQUESTER = statement<RefreshRequestToCreate>(
  'refresh_request_lock_requester',
  `SELECT pg_advisory_xact_lock(hashtextextended(
     'refresh/' || :requestingTenantId::text || '/' || :subjectType::text || '/' || :subjectId::text, 0))`,
);

const CREATE = statement<
  RefreshRequestToCreate & Pick<Caps, 'pending_refresh_requests'>,
  { facts: AccessFacts; request: RefreshRequestRecord | null; ownerTenantId: string | null; cap: number }
>(
  'refresh_request_create',
  `WITH facts AS MATERIALIZED (
  SELECT i.*, f.*, s.subject_key, s.owner_tenant_id,
         ${capOf('pending_refresh_requests', 'i.tenant_id')} AS cap
    FROM (SELECT :requestingTenantId::text AS tenant_id, :principalId::text AS principal_id,
                 :subjectType::text AS subject_type, :subjectId::text AS subject_id) i
    ${NAMED_SUBJECT}
    ${TENANT_ACCESS}
),
made AS (
  INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type,
                                reason_code, message, requested_paths, expires_at, due_at, every, series_id)
  SELECT :refreshRequestId::uuid, subject_key, tenant_id, principal_id,
         CASE WHEN owns_subject THEN 'owner' ELSE 'counterparty' END,
         :reasonCode::text, :message::text, :requestedPaths::text[], :expiresAt::timestamptz,
         :dueAt::timestamptz, :every::text, CASE WHEN :every::text IS NOT NULL THEN :refreshRequestId::uuid END
    FROM facts
   WHERE member_status = 'active' AND role IN (${rolesOf(RULES.requestRefresh)})
     AND (owns_subject OR grant_scopes IS NOT NULL)
     AND ${countUpTo(
       'facts.cap',
       `FROM refresh_requests r
           WHERE (r.subject_key, r.requesting_tenant_id, coalesce(r.expires_at, 'infinity'))
                 > (facts.subject_key, facts.tenant_id, statement_timestamp())
             AND (r.subject_key, r.requesting_tenant_id) <= (facts.subject_key, facts.tenant_id)
             AND r.status = 'pending'
           ORDER BY r.subject_key, r.requesting_tenant_id, coalesce(r.expires_at, 'infinity')`,
     )} + ${countUpTo(
       'facts.cap',
       `FROM refresh_requests r
           WHERE r.subject_key = facts.subject_key AND r.requesting_tenant_id = facts.tenant_id AND r.next_at IS NOT NULL`,
     )} < cap
  RETURNING *
)
SELECT ${FACTS}, f.cap,
  f.owner_tenant_id AS "ownerTenantId", ${columns(requestColumns('f'), 'request?')}
  FROM facts f LEFT JOIN made r ON true`,
);

const NAMED_REQUEST = `${inputRow({ principal_id: 'text', refresh_request_id: 'uuid', ...SUBJECT })}
  ${NAMED_SUBJECT}
  LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key`;
const REQUEST = `${NAMED_REQUEST}
  ${partyAccess('r.requesting_tenant_id')}`;

const FIND = statement<RefreshRequestRef, { facts: AccessFacts; request: RefreshRequestRecord | null }>(
  'refresh_request_find',
  `SELECT ${FACTS},
  ${columns(requestColumns(), 'request?')}
  FROM ${REQUEST}`,
);

/**
 * Fulfils a request. The row lock lets one of many concurrent calls do it, and the others then see that it is no longer pending.
 */
const FULFIL = statement<
  RefreshRequestRef & { snapshotId: string },
  {
    facts: AccessFacts;
    request: RefreshRequestRecord | null;
    isKnown: boolean;
    status: RefreshRequestStatus | null;
    isSnapshotKnown: boolean;
    isSnapshotOfSubject: boolean;
    isSnapshotErased: boolean;
  }
>(
  'refresh_request_fulfil',
  `WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, r.refresh_request_id, ${STATUS} AS status, n.snapshot_id, n.snapshot_version,
         n.subject_key = s.subject_key AS is_of_subject, n.erasure_id IS NOT NULL AS is_erased
    FROM ${REQUEST}
    LEFT JOIN snapshots n ON n.snapshot_id = :snapshotId::uuid
),
done AS (
  UPDATE refresh_requests r
     SET status = 'fulfilled', resolved_at = now(), resolved_snapshot_id = f.snapshot_id,
         resolved_snapshot_version = f.snapshot_version
    FROM facts f
   WHERE r.refresh_request_id = f.refresh_request_id AND (${IS_OPEN}) IS TRUE
     AND f.owns_subject AND f.role IN (${rolesOf(RULES.fulfilRefresh)}) AND f.is_of_subject AND NOT f.is_erased
  RETURNING r.*
)
SELECT ${FACTS},
  f.refresh_request_id IS NOT NULL AS "isKnown", f.status, f.snapshot_id IS NOT NULL AS "isSnapshotKnown",
  f.is_of_subject IS TRUE AS "isSnapshotOfSubject", f.is_erased AS "isSnapshotErased",
  ${columns(requestColumns('f'), 'request?')}
  FROM facts f LEFT JOIN done r ON true`,
);

/** True if the request `r` is the last one of a series that has not ended. */
const RECURS = 'r.every IS NOT NULL AND r.next_request_id IS NULL AND r.series_end_reason IS NULL';
/** The changes that close a request, or end a series whose last request is closed. */
const CLOSING: Readonly<Record<RefreshClosing['status'], { where: string; change: string }>> = {
  declined: { where: IS_OPEN, change: `status = 'declined', closed_at = now(), decline_reason = :reason::text` },
  cancelled: {
    where: `(${IS_OPEN} OR ${RECURS})`,
    change: `status = CASE WHEN ${IS_OPEN} THEN 'cancelled' ELSE r.status END,
         closed_at = CASE WHEN ${IS_OPEN} THEN now() ELSE r.closed_at END, decline_reason = coalesce(r.decline_reason, :reason::text),
         next_at = NULL, series_end_reason = CASE WHEN r.every IS NOT NULL THEN 'cancelled' END`,
  },
};

/**
 * Closes a request. The row lock lets one of many concurrent calls do it, and the others then see that it is no longer pending.
 * `access` joins the caller's rights as `f`, and `mayClose` is a condition on them.
 */
const closing = (status: RefreshClosing['status'], access: string, mayClose: string) =>
  statement<
    RefreshRequestRef & { reason: string | null },
    {
      facts: AccessFacts;
      request: RefreshRequestRecord | null;
      status: RefreshRequestStatus | null;
      ownerTenantId: string | null;
    }
  >(
    `refresh_request_${status}`,
    `WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, s.owner_tenant_id, r.refresh_request_id, ${STATUS} AS status
    FROM ${NAMED_REQUEST}
    ${access}
),
done AS (
  UPDATE refresh_requests r SET ${CLOSING[status].change}
    FROM facts f
   WHERE r.refresh_request_id = f.refresh_request_id AND (${CLOSING[status].where}) IS TRUE AND ${mayClose}
  RETURNING r.*
)
SELECT ${FACTS}, f.status, f.owner_tenant_id AS "ownerTenantId",
  ${columns(requestColumns('f'), 'request?')}
  FROM facts f LEFT JOIN done r ON true`,
  );

const CLOSE = {
  declined: closing(
    'declined',
    partyAccess('r.requesting_tenant_id'),
    `f.owns_subject AND f.role IN (${rolesOf(RULES.fulfilRefresh)})`,
  ),
  cancelled: closing(
    'cancelled',
    memberAccess('r.requesting_tenant_id'),
    `f.member_status = 'active' AND f.role IN (${rolesOf(RULES.cancelRefresh)})`,
  ),
};

const INSERT_EVENT = statement<EventToWrite, { eventId: string }>(
  'refresh_request_tell',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
  SELECT :eventId::uuid, :tenantId::text, :eventType::text, :eventBody::text, :requestId::text, :traceparent::text
   WHERE (SELECT true FROM ${wants(':tenantId', ':eventType')})
  RETURNING event_id AS "eventId"`,
);

/** The columns of a listed request, for the owner of its subject or for a grantee that has `v`. */
const listed = (name: string, disclosure: string): string => `${columns({ ...requestColumns(), name }, 'item?')},
  ${disclosure}`;
const NOT_DISCLOSED = `NULL::float8 AS "item?.disclosure?.subjectKey"`;
const LISTED: Readonly<Record<RefreshDirection | 'subject', string>> = {
  subject: listed('CASE WHEN f.owns_subject THEN s.display_name END', NOT_DISCLOSED),
  incoming: listed('s.display_name', NOT_DISCLOSED),
  outgoing: listed(
    'CASE WHEN s.owner_tenant_id = i.tenant_id OR v.grant_id IS NOT NULL THEN s.display_name END',
    `CASE WHEN v.grant_id IS NOT NULL AND s.display_name IS NOT NULL THEN s.subject_key::float8 END AS "item?.disclosure?.subjectKey",
  v.grant_id AS "item?.disclosure?.grantId",
  CASE WHEN v.grant_id IS NOT NULL THEN ${headVersion('s.subject_key')} END AS "item?.disclosure?.version"`,
  ),
};
/** Joins the subject `s` of the request `r`, and what {@link LISTED} needs of it. */
const SUBJECT_OF: Readonly<Record<RefreshDirection, string>> = {
  incoming: 'LEFT JOIN subjects s ON s.subject_key = r.subject_key',
  outgoing: `LEFT JOIN subjects s ON s.subject_key = r.subject_key${LATEST_READ_BY}`,
};

const LIST = newestFirst('r', 'refresh_request_id');
/** The size of the large columns of a request, as JSON. */
const BYTES = `(octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))`;

const listStatement = (name: string, filter: string) =>
  statement<
    SubjectRef & Before & { principalId: string; requestingTenantId: string | null },
    ListRow<AccessFacts, ListedRefreshRequest>
  >(
    name,
    `SELECT ${FACTS},
  ${LISTED.subject},
  ${LIST.position}, r.found
  FROM ${inputRow({ principal_id: 'text', ...SUBJECT, requesting_tenant_id: 'text' })}
  ${NAMED_SUBJECT}
  ${partyAccess('i.requesting_tenant_id')}
  LEFT JOIN LATERAL ${fitting(
    'r',
    `SELECT * FROM refresh_requests r WHERE r.subject_key = s.subject_key ${filter} AND ${LIST.next}`,
    BYTES,
    LIST.order,
  )} r ON true
 ${LIST.order}`,
  );

const OF_SUBJECT = listStatement('refresh_requests_of_subject', '');
const OF_SUBJECT_BY_TENANT = listStatement(
  'refresh_requests_of_tenant',
  'AND r.requesting_tenant_id = i.requesting_tenant_id',
);

/**
 * Declares the list of an inbox. It reads each status and type from the index separately, so that a rare one needs no scan of a
 * long history. Expired requests are stored as `pending` until the worker updates them.
 */
const inboxStatement = (direction: RefreshDirection, tenant: string) =>
  statement<
    Actor & Before & { statuses: readonly RefreshRequestStatus[]; subjectTypes: readonly string[] },
    ListRow<AccessFacts, ListedRefreshRequest>
  >(
    `refresh_requests_${direction}`,
    `SELECT ${FACTS},
  ${LISTED[direction]},
  ${LIST.position}, r.found
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL ${fitting(
    'r',
    `SELECT r.*
      FROM unnest(:statuses::text[]) wanted
     CROSS JOIN unnest(CASE wanted WHEN 'expired' THEN '{expired,pending}' ELSE ARRAY[wanted] END) state
     CROSS JOIN unnest(:subjectTypes::text[]) kind
     CROSS JOIN LATERAL (
       SELECT * FROM refresh_requests r
        WHERE f.member_status = 'active' AND (r.${tenant}, r.status, r.subject_type) >= (i.tenant_id, state, kind)
          AND (r.${tenant}, r.status, r.subject_type, r.created_at, r.refresh_request_id)
              < (i.tenant_id, state, kind, :beforeTime::timestamptz, :beforeId::uuid)
          AND ${STATUS} = wanted
        ORDER BY r.${tenant} DESC, r.status DESC, r.subject_type DESC, r.created_at DESC, r.refresh_request_id DESC
        LIMIT :rows
     ) r
     ${LIST.order} LIMIT :rows`,
    BYTES,
    LIST.order,
  )} r ON true
  ${SUBJECT_OF[direction]}
 ${LIST.order}`,
  );

const INBOX = {
  incoming: inboxStatement('incoming', 'owner_tenant_id'),
  outgoing: inboxStatement('outgoing', 'outgoing_of'),
};

/** Selects requests of an inbox; a null member selects all. */
export interface InboxFilter {
  status: RefreshRequestStatus | null;
  subjectType: SubjectType | null;
  subject: SubjectRef | null;
  /** Selects only pending requests whose `due_at` has passed. */
  isOverdue: boolean;
}

const BY_CREATION = newestRecords('refresh_requests', 'r', 'created_at', 'refresh_request_id', 'uuid');
const BY_DUE_TIME = newestRecords('refresh_requests', 'r', 'due_at', 'refresh_request_id', 'uuid');

const filteredInbox = (direction: RefreshDirection, list: RecordList, name: string, scope: string | KeyedScope) => {
  const wanted = `(i.status IS NULL OR ${STATUS} = i.status) AND (i.subject_type IS NULL OR r.subject_type = i.subject_type)
       AND (NOT i.is_overdue OR (${IS_OPEN} AND r.due_at <= statement_timestamp()))`;
  return statement<
    Actor & RecordPage & NamedKey & { status: RefreshRequestStatus | null; isOverdue: boolean },
    RecordRow<AccessFacts, ListedRefreshRequest>
  >(
    `refresh_requests_${direction}_${name}`,
    `SELECT ${FACTS},
  ${LISTED[direction]},
  ${list.position(scope)}, r.found
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, status: 'text', is_overdue: 'boolean' })}
  ${MEMBER_ACCESS}
  ${NAMED_KEY}
  LEFT JOIN LATERAL ${fitting('r', `SELECT * FROM ${list.page(scope, wanted)} r`, BYTES, list.order)} r ON true
  ${SUBJECT_OF[direction]}
 ${list.order}`,
  );
};

const TO_MEMBERS = `f.member_status = 'active'`;
/** Expressions, so that no other list uses these indexes. */
const onSubject = (tenant: string): KeyedScope => ({
  keys: [`r.${tenant} || '/'`, 'r.subject_key'],
  values: [`i.tenant_id || '/'`, 'k.subject_key'],
  and: TO_MEMBERS,
});
const dueOf = (tenant: string): string =>
  `r.${tenant} || '/' = i.tenant_id || '/' AND r.status = 'pending' AND r.due_at IS NOT NULL AND ${TO_MEMBERS}`;
const FILTERED_INBOX = {
  incoming: {
    subject: filteredInbox('incoming', BY_CREATION, 'on', onSubject('owner_tenant_id')),
    overdue: filteredInbox('incoming', BY_DUE_TIME, 'overdue', dueOf('owner_tenant_id')),
  },
  outgoing: {
    subject: filteredInbox('outgoing', BY_CREATION, 'on', onSubject('outgoing_of')),
    overdue: filteredInbox('outgoing', BY_DUE_TIME, 'overdue', dueOf('outgoing_of')),
  },
};

/** Refresh requests: a tenant asks a subject's owner for a newer snapshot, or for a confirmation of the latest one. */
export class RefreshRequestStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Stores a request if the requesting tenant owns the subject or has a live grant on it, and the number of its pending requests
   * is below the cap. Also stores the event for the owner if a counterparty asks. `toEvent` may be called more than once.
   */
  async create(
    create: RefreshRequestToCreate,
    toEvent: (request: RefreshRequestRecord, tenantId: string) => EventToWrite,
  ): Promise<CreateRefreshOutcome> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_REQUESTER, create);
      const { pending_refresh_requests } = this.caps;
      const { facts, request, ownerTenantId, cap } = await sql.one(CREATE, { ...create, pending_refresh_requests });
      if (request === null || ownerTenantId === null) return { kind: 'refused', facts, cap };
      const isForOwner = request.originType === 'counterparty';
      const eventId = isForOwner ? await storeEvent(sql, toEvent(request, ownerTenantId)) : null;
      return { kind: 'written', request, eventId };
    });
  }

  /** Returns the subject's request with this id, or null, and the caller's access facts. */
  find(ref: RefreshRequestRef): Promise<{ facts: AccessFacts; request: RefreshRequestRecord | null }> {
    return this.sql.one(FIND, ref);
  }

  /**
   * Returns a subject's requests, newest first, and the caller's access facts. `requestingTenantId` selects the requests of one
   * tenant. If the caller is no member of the owner, the grant of that tenant counts.
   */
  async list(
    principalId: string,
    subject: SubjectRef,
    requestingTenantId: string | null,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedRefreshRequest> }> {
    const query = requestingTenantId === null ? OF_SUBJECT : OF_SUBJECT_BY_TENANT;
    const parameters = { principalId, ...subject, requestingTenantId, ...before(request) };
    const rows = await this.sql.runInTurn(principalId, query, parameters);
    return toList(rows, request.limit);
  }

  /**
   * Returns a page of the requests to or by a tenant, newest first, and the caller's access facts. Overdue requests are sorted by
   * `due_at`, the latest first. Only an active member gets any.
   */
  async listOfTenant(
    actor: Actor,
    direction: RefreshDirection,
    { status, subjectType, subject, isOverdue }: InboxFilter,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedRefreshRequest> }> {
    if (subject === null && !isOverdue) {
      const statuses = status === null ? REFRESH_REQUEST_STATUSES : [status];
      const subjectTypes = subjectType === null ? SUBJECT_TYPES : [subjectType];
      const parameters = { ...actor, statuses, subjectTypes, ...before(request) };
      return toList(await this.sql.runInTurn(actor.tenantId, INBOX[direction], parameters), request.limit);
    }
    const scope = subject === null ? 'overdue' : 'subject';
    const named = { subjectType, subjectId: subject?.subjectId ?? null };
    const bounds = scope === 'overdue' ? { from: null, to: new Date() } : ANY_TIME;
    const parameters = { ...actor, ...named, status, isOverdue, ...recordPage(bounds, request, FIRST_UUID) };
    const rows = await this.sql.runInTurn(actor.tenantId, FILTERED_INBOX[direction][scope], parameters);
    return toRecords(rows, request.limit);
  }

  /**
   * Closes a pending request without a snapshot. Members of the owner decline it, and members of the requesting tenant cancel it.
   * Cancelling also ends a series, even if its last request is closed. Also stores the event for the other side, if it is another
   * tenant. `toEvent` may be called more than once.
   */
  async close(
    ref: RefreshRequestRef,
    closing: RefreshClosing,
    toEvent: (request: RefreshRequestRecord, tenantId: string) => EventToWrite,
  ): Promise<CloseRefreshOutcome> {
    const reason = closing.status === 'declined' ? closing.reason : null;
    return this.sql.transaction(async (sql) => {
      const { request, facts, status, ownerTenantId } = await sql.one(CLOSE[closing.status], { ...ref, reason });
      if (request === null || ownerTenantId === null) return { kind: 'refused', facts, status };
      const { requestingTenantId } = request;
      const other = closing.status === 'declined' ? requestingTenantId : ownerTenantId;
      // The end of a series whose last request is already closed changes nothing for the owner.
      const isAnnounced = requestingTenantId !== ownerTenantId && request.status === closing.status;
      return { kind: 'written', request, eventId: isAnnounced ? await storeEvent(sql, toEvent(request, other)) : null };
    });
  }

  /**
   * Fulfils a pending request with a snapshot of its subject, if the caller is a member of the owner. Also stores the event for
   * the requesting tenant. `toEvent` may be called more than once.
   */
  async fulfil(
    ref: RefreshRequestRef,
    snapshotId: string,
    toEvent: (request: RefreshRequestRecord, tenantId: string) => EventToWrite,
  ): Promise<FulfilRefreshOutcome> {
    return this.sql.transaction(async (sql) => {
      const { request, ...refusal } = await sql.one(FULFIL, { ...ref, snapshotId });
      if (request === null) return { kind: 'refused', ...refusal };
      return { kind: 'written', request, eventId: await storeEvent(sql, toEvent(request, request.requestingTenantId)) };
    });
  }
}

/** Stores the event if its tenant has a subscription to it. Returns its id, or null. */
async function storeEvent(sql: TransactionSql, event: EventToWrite): Promise<string | null> {
  const [stored] = await sql.run(INSERT_EVENT, event);
  return stored?.eventId ?? null;
}
