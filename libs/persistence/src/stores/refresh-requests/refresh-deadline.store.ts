import { type EventType, refreshRequestData } from '@iss/domain';
import { columns } from '../../sql/columns';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type Announced, announceDue, type EventFor } from '../webhooks/event-writes';
import { type RefreshRequestRecord, requestColumns } from './refresh-request-record';

interface Due {
  request: RefreshRequestRecord;
  ownerTenantId: string;
}

/** Claims the next pending requests whose deadline `column` has passed and stores that; `rest` keeps those that still wait. */
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

/** The deadlines of refresh requests, which the worker announces to the owner and to the requesting tenant. */
export class RefreshDeadlineStore {
  constructor(private readonly sql: Sql) {}

  /** Announces up to `limit` pending requests as overdue, each once. */
  announceOverdue(limit: number): Promise<Announced> {
    return announceDue(this.sql, OVERDUE, limit, ({ request, ownerTenantId }) =>
      request.overdueAt === null
        ? []
        : // It may have expired since, which has an event of its own.
          toBothSides(
            'refresh_request.overdue',
            { ...request, status: 'pending', closedAt: null },
            ownerTenantId,
            request.overdueAt,
          ),
    );
  }

  /** Closes and announces up to `limit` requests that have expired. */
  announceExpired(limit: number): Promise<Announced> {
    return announceDue(this.sql, EXPIRED, limit, ({ request, ownerTenantId }) =>
      request.closedAt === null ? [] : toBothSides('refresh_request.expired', request, ownerTenantId, request.closedAt),
    );
  }
}

/** The event for the owner and for the requesting tenant; one event where both are one tenant. */
function toBothSides(
  type: Extract<EventType, 'refresh_request.overdue' | 'refresh_request.expired'>,
  request: RefreshRequestRecord,
  ownerTenantId: string,
  at: Date,
): EventFor[] {
  const data = refreshRequestData(request);
  return [...new Set([ownerTenantId, request.requestingTenantId])].map((tenantId) => ({
    tenantId,
    type,
    at,
    data,
    snapshotId: null,
  }));
}
