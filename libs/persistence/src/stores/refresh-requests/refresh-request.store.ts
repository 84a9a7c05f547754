import type { AccessFacts, EventType, RefreshRequestOrigin, RefreshRequestStatus, SubjectRef } from '@iss/domain';
import { type Page, type PageRequest, type Position, toPage } from '../../sql/page';
import { type Sql, statement, type TransactionSql } from '../../sql/sql';
import { ACCESS_COLUMNS, type AccessFactsRow, isLiveGrant, TENANT_ACCESS, toAccessFacts } from '../facts/access-facts';
import { NAMED_SUBJECT } from '../facts/joins';

/** A stored refresh request. The three `resolved…` are set together, when it is fulfilled. */
export interface RefreshRequestRecord extends SubjectRef {
  refreshRequestId: string;
  requestingTenantId: string;
  originType: RefreshRequestOrigin;
  status: RefreshRequestStatus;
  reasonCode: string | null;
  message: string | null;
  requestedPaths: string[];
  createdAt: Date;
  expiresAt: Date | null;
  resolvedAt: Date | null;
  resolvedSnapshotId: string | null;
  resolvedSnapshotVersion: number | null;
}

export interface RefreshRequestToCreate extends SubjectRef {
  refreshRequestId: string;
  requestingTenantId: string;
  principalId: string;
  reasonCode: string | null;
  message: string | null;
  requestedPaths: readonly string[];
  expiresAt: Date | null;
}

/** A request with this id on this subject, asked for by a principal in whichever of its tenants has a part in it. */
export interface RefreshRequestRef extends SubjectRef {
  refreshRequestId: string;
  principalId: string;
}

/** The event that tells a tenant of a change. */
export interface EventToWrite {
  /** Bare UUID. */
  eventId: string;
  tenantId: string;
  eventType: EventType;
  eventBody: string;
  requestId: string;
  traceparent: string;
}

/** Done; `eventId` is the event to announce, null when no subscription wants it. */
export interface RefreshRequestWritten {
  kind: 'written';
  request: RefreshRequestRecord;
  eventId: string | null;
}

export type CreateRefreshOutcome = RefreshRequestWritten | { kind: 'refused'; facts: AccessFacts };

export type FulfilRefreshOutcome =
  | RefreshRequestWritten
  | {
      kind: 'refused';
      facts: AccessFacts;
      /** Whether the subject has a request with this id. */
      isKnown: boolean;
      /** Whether the snapshot is one of the subject's. */
      isSnapshotOfSubject: boolean;
    };

interface RequestRow {
  refresh_request_id: string;
  requesting_tenant_id: string;
  origin_type: RefreshRequestOrigin;
  status: RefreshRequestStatus;
  reason_code: string | null;
  message: string | null;
  requested_paths: string[];
  created_at: Date;
  /** As text, since a `Date` has no microseconds. */
  position: string;
  expires_at: Date | null;
  resolved_at: Date | null;
  resolved_snapshot_id: string | null;
  resolved_snapshot_version: number | null;
}
type MaybeRequestRow = { [Column in keyof RequestRow]: RequestRow[Column] | null };

const REQUEST_COLUMNS = `r.refresh_request_id, r.requesting_tenant_id, r.origin_type, r.status, r.reason_code, r.message,
  r.requested_paths, r.created_at, r.created_at::text AS position, r.expires_at, r.resolved_at, r.resolved_snapshot_id,
  r.resolved_snapshot_version`;

/**
 * Facts about `i.principal_id` on subject `s`, as `f`, where no tenant acts: it is an active member of the owner, or of
 * `counterparty` while that one holds a live grant. Every active member is at least a reader.
 */
const partyAccess = (counterparty: string): string => `
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
         (SELECT true FROM memberships m
           WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
             AND m.status = 'active' LIMIT 1) AS owns_subject,
         (SELECT g.scopes
            FROM memberships m
           CROSS JOIN LATERAL (SELECT g.scopes FROM grants g
                                WHERE ${isLiveGrant('m.tenant_id', 's.subject_key')} LIMIT 1) g
           WHERE m.tenant_id = ${counterparty} AND m.principal_id = i.principal_id AND m.status = 'active'
           LIMIT 1) AS grant_scopes
) f ON true`;

const CREATE = statement<AccessFactsRow & MaybeRequestRow & { owner_tenant_id: string | null }>(
  'refresh_request_create',
  `WITH facts AS MATERIALIZED (
  SELECT i.tenant_id, i.principal_id, ${ACCESS_COLUMNS}, s.subject_key, s.owner_tenant_id
    FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
    ${NAMED_SUBJECT}
    ${TENANT_ACCESS}
),
made AS (
  INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type,
                                reason_code, message, requested_paths, expires_at)
  SELECT $5::uuid, subject_key, tenant_id, principal_id, CASE WHEN owns_subject THEN 'owner' ELSE 'counterparty' END,
         $6::text, $7::text, $8::text[], $9::timestamptz
    FROM facts
   WHERE member_status = 'active' AND (owns_subject OR grant_scopes IS NOT NULL)
  RETURNING *
)
SELECT ${ACCESS_COLUMNS}, f.owner_tenant_id, ${REQUEST_COLUMNS} FROM facts f LEFT JOIN made r ON true`,
);

const REQUEST = `(SELECT $1::text AS principal_id, $2::uuid AS refresh_request_id, $3::text AS subject_type,
               $4::text AS subject_id) i
  ${NAMED_SUBJECT}
  LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key
  ${partyAccess('r.requesting_tenant_id')}`;

const FIND = statement<AccessFactsRow & MaybeRequestRow>(
  'refresh_request_find',
  `SELECT ${ACCESS_COLUMNS}, ${REQUEST_COLUMNS} FROM ${REQUEST}`,
);

/** The row lock lets one of many fulfil; the others see then that it is pending no more. */
const FULFIL = statement<AccessFactsRow & MaybeRequestRow & { is_known: boolean; is_snapshot_of_subject: boolean }>(
  'refresh_request_fulfil',
  `WITH facts AS MATERIALIZED (
  SELECT ${ACCESS_COLUMNS}, r.refresh_request_id, n.snapshot_id, n.snapshot_version
    FROM ${REQUEST}
    LEFT JOIN snapshots n ON n.snapshot_id = $5::uuid AND n.subject_key = s.subject_key
),
done AS (
  UPDATE refresh_requests r
     SET status = 'fulfilled', resolved_at = now(), resolved_snapshot_id = f.snapshot_id,
         resolved_snapshot_version = f.snapshot_version
    FROM facts f
   WHERE r.refresh_request_id = f.refresh_request_id AND r.status = 'pending'
     AND f.owns_subject AND f.snapshot_id IS NOT NULL
  RETURNING r.*
)
SELECT ${ACCESS_COLUMNS}, f.refresh_request_id IS NOT NULL AS is_known,
       f.snapshot_id IS NOT NULL AS is_snapshot_of_subject, ${REQUEST_COLUMNS}
  FROM facts f LEFT JOIN done r ON true`,
);

/** The look-up is a subquery with a limit, as for new snapshots: EXISTS would be turned into a join over all tenants. */
const TELL = statement<{ event_id: string }>(
  'refresh_request_tell',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
  SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text
   WHERE (SELECT true FROM webhook_subscriptions w
           WHERE w.tenant_id = $2 AND w.deleted_at IS NULL AND $3 = ANY (w.event_types) LIMIT 1)
  RETURNING event_id`,
);

const listStatement = (name: string, filter: string) =>
  statement<AccessFactsRow & MaybeRequestRow>(
    name,
    `SELECT ${ACCESS_COLUMNS}, ${REQUEST_COLUMNS}
  FROM (SELECT $1::text AS principal_id, $2::text AS subject_type, $3::text AS subject_id,
               $4::text AS requesting_tenant_id) i
  ${NAMED_SUBJECT}
  ${partyAccess('i.requesting_tenant_id')}
  LEFT JOIN LATERAL (
    SELECT * FROM refresh_requests r
     WHERE r.subject_key = s.subject_key ${filter}
       AND (r.created_at, r.refresh_request_id) < ($5::timestamptz, $6::uuid)
     ORDER BY r.created_at DESC, r.refresh_request_id DESC LIMIT $7
  ) r ON true
 ORDER BY r.created_at DESC, r.refresh_request_id DESC`,
  );

const LIST = listStatement('refresh_requests_of_subject', '');
const LIST_OF_TENANT = listStatement(
  'refresh_requests_of_tenant',
  'AND r.requesting_tenant_id = i.requesting_tenant_id',
);

/** Before the newest request. */
const START: Position = ['infinity', '00000000-0000-0000-0000-000000000000'];

/** Refresh requests: a tenant asks a subject's owner for a newer snapshot, or to confirm the latest one. */
export class RefreshRequestStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Stores a request if the requesting tenant owns the subject or holds a live grant on it, and with it the event for
   * the owner when a counterparty asks. `toEvent` may be called more than once.
   */
  async create(
    create: RefreshRequestToCreate,
    toEvent: (request: RefreshRequestRecord, tenantId: string) => EventToWrite,
  ): Promise<CreateRefreshOutcome> {
    return this.sql.transaction(async (sql) => {
      const [row] = await sql.run(CREATE, [
        create.requestingTenantId,
        create.principalId,
        create.subjectType,
        create.subjectId,
        create.refreshRequestId,
        create.reasonCode,
        create.message,
        create.requestedPaths,
        create.expiresAt,
      ]);
      if (row === undefined) throw new Error('refresh_request_create answered no row');
      if (!isRequestRow(row) || row.owner_tenant_id === null) return { kind: 'refused', facts: toAccessFacts(row) };
      const request = toRequest(create, row);
      const isForOwner = request.originType === 'counterparty';
      const eventId = isForOwner ? await tell(sql, toEvent(request, row.owner_tenant_id)) : null;
      return { kind: 'written', request, eventId };
    });
  }

  /** The request, or null when the subject has none with this id; and whether the caller may see it. */
  async find(ref: RefreshRequestRef): Promise<{ facts: AccessFacts; request: RefreshRequestRecord | null }> {
    const [row] = await this.sql.run(FIND, requestValues(ref));
    if (row === undefined) throw new Error('refresh_request_find answered no row');
    return { facts: toAccessFacts(row), request: isRequestRow(row) ? toRequest(ref, row) : null };
  }

  /**
   * A subject's requests, newest first, and whether the caller may see them. `requestingTenantId` keeps those of one
   * tenant, and is the tenant whose grant counts for a caller that is no member of the owner.
   */
  async list(
    principalId: string,
    subject: SubjectRef,
    requestingTenantId: string | null,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<RefreshRequestRecord> }> {
    const rows = await this.sql.run(requestingTenantId === null ? LIST : LIST_OF_TENANT, [
      principalId,
      subject.subjectType,
      subject.subjectId,
      requestingTenantId,
      ...(after ?? START),
      limit + 1,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('a list of refresh requests answered no row');
    const toItem = (row: RequestRow): RefreshRequestRecord => toRequest(subject, row);
    const page = toPage(rows.filter(isRequestRow), limit, toItem, (row) => [row.position, row.refresh_request_id]);
    return { facts: toAccessFacts(first), page };
  }

  /**
   * Links a pending request to a snapshot of its subject if the caller is a member of the owner, and stores the event
   * for the requesting tenant with it. `toEvent` may be called more than once.
   */
  async fulfil(
    ref: RefreshRequestRef,
    snapshotId: string,
    toEvent: (request: RefreshRequestRecord, tenantId: string) => EventToWrite,
  ): Promise<FulfilRefreshOutcome> {
    return this.sql.transaction(async (sql) => {
      const [row] = await sql.run(FULFIL, [...requestValues(ref), snapshotId]);
      if (row === undefined) throw new Error('refresh_request_fulfil answered no row');
      if (!isRequestRow(row)) {
        return {
          kind: 'refused',
          facts: toAccessFacts(row),
          isKnown: row.is_known,
          isSnapshotOfSubject: row.is_snapshot_of_subject,
        };
      }
      const request = toRequest(ref, row);
      return { kind: 'written', request, eventId: await tell(sql, toEvent(request, request.requestingTenantId)) };
    });
  }
}

/** Stores the event if its tenant has a subscription to it, and gives its id then. */
async function tell(sql: TransactionSql, event: EventToWrite): Promise<string | null> {
  const { eventId, tenantId, eventType, eventBody, requestId, traceparent } = event;
  const [row] = await sql.run(TELL, [eventId, tenantId, eventType, eventBody, requestId, traceparent]);
  return row?.event_id ?? null;
}

function requestValues(ref: RefreshRequestRef): unknown[] {
  return [ref.principalId, ref.refreshRequestId, ref.subjectType, ref.subjectId];
}

function isRequestRow<Row extends MaybeRequestRow>(row: Row): row is Row & RequestRow {
  return row.refresh_request_id !== null;
}

function toRequest({ subjectType, subjectId }: SubjectRef, row: RequestRow): RefreshRequestRecord {
  return {
    subjectType,
    subjectId,
    refreshRequestId: row.refresh_request_id,
    requestingTenantId: row.requesting_tenant_id,
    originType: row.origin_type,
    status: row.status,
    reasonCode: row.reason_code,
    message: row.message,
    requestedPaths: row.requested_paths,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    resolvedAt: row.resolved_at,
    resolvedSnapshotId: row.resolved_snapshot_id,
    resolvedSnapshotVersion: row.resolved_snapshot_version,
  };
}
