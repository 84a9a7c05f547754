import { type EventType, refreshRequestData } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type Announced, announceDue, type EventFor } from '../webhooks/event-writes';
import { type RefreshRequestRecord } from './refresh-request-record';

interface Due {
  request: RefreshRequestRecord;
  ownerTenantId: string;
}

const OVERDUE = statement<{ limit: number }, Due>('refresh_requests_overdue');
const EXPIRED = statement<{ limit: number }, Due>('refresh_requests_expired');

const NEXT = statement<{ limit: number }, { request: RefreshRequestRecord | null; ownerTenantId: string }>(
  'refresh_requests_next',
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
