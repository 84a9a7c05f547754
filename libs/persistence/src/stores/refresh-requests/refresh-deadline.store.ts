import { type EventType, refreshRequestData } from '@iss/domain';
import { columns } from '../../sql/columns';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { scopesHeldBy } from '../facts/access-facts';
import { type Announced, announceDue, type EventFor } from '../webhooks/event-writes';
import { type RefreshRequestRecord, requestColumns } from './refresh-request-record';

interface Due {
  request: RefreshRequestRecord;
  ownerTenantId: string;
}

/**
 * Declares a statement that claims the next pending requests whose deadline `column` has passed, and applies `change`. `rest` is
 * a further condition on them.
 */
const claim = (name: string, column: 'due_at' | 'expires_at', rest: string, change: string) =>
  statement<{ limit: number }, Due>(
    name,
    `WITH due AS MATERIALIZED (
  SELECT r.refresh_request_id FROM refresh_requests r
   WHERE r.status = 'pending' AND r.${column} <= statement_timestamp() AND ${rest}
   ORDER BY r.${column} LIMIT :limit
     FOR NO KEY UPDATE SKIP LOCKED
), r AS (
  UPDATE refresh_requests r SET ${change} FROM due WHERE r.refresh_request_id = due.refresh_request_id RETURNING r.*
)
SELECT ${columns(requestColumns(), 'request')}, s.owner_tenant_id AS "ownerTenantId"
  FROM r
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = r.subject_key LIMIT 1) s`,
  );

const OVERDUE = claim(
  'refresh_requests_overdue',
  'due_at',
  'r.overdue_told_at IS NULL',
  'overdue_told_at = statement_timestamp()',
);
const EXPIRED = claim(
  'refresh_requests_expired',
  'expires_at',
  'r.expires_at IS NOT NULL',
  `status = 'expired', closed_at = r.expires_at`,
);

/**
 * Opens the next request of each due series with the same content and durations, or ends the series if its tenant may no longer
 * ask.
 */
const NEXT = statement<{ limit: number }, { request: RefreshRequestRecord | null; ownerTenantId: string }>(
  'refresh_requests_next',
  `WITH due AS MATERIALIZED (
  SELECT r.*, gen_random_uuid() AS next_id FROM refresh_requests r
   WHERE r.next_at <= statement_timestamp() ORDER BY r.next_at LIMIT :limit
     FOR NO KEY UPDATE SKIP LOCKED
), asked AS MATERIALIZED (
  SELECT due.*, s.owner_tenant_id AS owner, s.subject_id,
         s.owner_tenant_id = due.requesting_tenant_id OR ${scopesHeldBy('due.requesting_tenant_id')} IS NOT NULL AS may_ask
    FROM due CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = due.subject_key LIMIT 1) s
), made AS (
  INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type,
                                reason_code, message, requested_paths, expires_at, due_at, every, series_id,
                                previous_request_id)
  SELECT next_id, subject_key, requesting_tenant_id, requested_by, origin_type, reason_code, message, requested_paths,
         now() + (expires_at - created_at), now() + (due_at - created_at), every, series_id, refresh_request_id
    FROM asked WHERE may_ask
  RETURNING *
), linked AS (
  UPDATE refresh_requests r
     SET next_at = NULL, next_request_id = CASE WHEN may_ask THEN next_id END,
         series_end_reason = CASE WHEN may_ask THEN NULL ELSE 'access_lost' END
    FROM asked WHERE r.refresh_request_id = asked.refresh_request_id
)
SELECT ${columns(requestColumns('s'), 'request?')}, s.owner AS "ownerTenantId"
  FROM asked s LEFT JOIN made r ON r.refresh_request_id = s.next_id`,
);

/** Applies deadlines to refresh requests. The worker closes, announces and opens them. */
export class RefreshDeadlineStore {
  constructor(private readonly sql: Sql) {}

  /** Announces up to `limit` pending requests as overdue, each once. */
  announceOverdue(limit: number): Promise<Announced> {
    return announceDue(this.sql, OVERDUE, limit, ({ request, ownerTenantId }) =>
      request.overdueAt === null
        ? []
        : // It may have expired since, and that has an event of its own.
          toBothSides(
            'refresh_request.overdue',
            { ...request, status: 'pending', closedAt: null },
            ownerTenantId,
            request.overdueAt,
          ),
    );
  }

  /**
   * Opens the next requests of up to `limit` due series, and announces those of counterparties to the owner. Ends a series if its
   * tenant neither owns the subject nor has a live grant on it.
   */
  openNext(limit: number): Promise<Announced> {
    return announceDue(this.sql, NEXT, limit, ({ request, ownerTenantId }) =>
      request === null || request.originType === 'owner'
        ? []
        : [toSide(ownerTenantId, 'refresh_request.created', request, request.createdAt)],
    );
  }

  /** Closes and announces up to `limit` expired requests. */
  announceExpired(limit: number): Promise<Announced> {
    return announceDue(this.sql, EXPIRED, limit, ({ request, ownerTenantId }) =>
      request.closedAt === null ? [] : toBothSides('refresh_request.expired', request, ownerTenantId, request.closedAt),
    );
  }
}

type DeadlineEvent = Extract<EventType, `refresh_request.${'created' | 'overdue' | 'expired'}`>;

/** Returns the events for the owner and the requesting tenant, or one event if both are the same tenant. */
function toBothSides(type: DeadlineEvent, request: RefreshRequestRecord, ownerTenantId: string, at: Date): EventFor[] {
  return [...new Set([ownerTenantId, request.requestingTenantId])].map((side) => toSide(side, type, request, at));
}

function toSide(tenantId: string, type: DeadlineEvent, request: RefreshRequestRecord, at: Date): EventFor {
  return { tenantId, type, at, data: refreshRequestData(request), snapshotId: null };
}
