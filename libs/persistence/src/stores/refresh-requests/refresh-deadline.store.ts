import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type Fact, type FactStep, recordDue } from '../webhooks/record';
import { type RefreshEventType, refreshFact } from './refresh-fact';
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
  announceOverdue(limit: number): Promise<FactStep> {
    return recordDue(this.sql, OVERDUE, limit, ({ request, ownerTenantId }) =>
      request.overdueAt === null
        ? null
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
  openNext(limit: number): Promise<FactStep> {
    return recordDue(this.sql, NEXT, limit, ({ request, ownerTenantId }) =>
      request === null || request.originType === 'owner'
        ? null
        : refreshFact('refresh_request.created', request, request.createdAt, [ownerTenantId]),
    );
  }

  /** Closes and announces up to `limit` expired requests. */
  announceExpired(limit: number): Promise<FactStep> {
    return recordDue(this.sql, EXPIRED, limit, ({ request, ownerTenantId }) =>
      request.closedAt === null
        ? null
        : toBothSides('refresh_request.expired', request, ownerTenantId, request.closedAt),
    );
  }
}

/** Returns the fact for the owner and the requesting tenant, which may be the same. */
function toBothSides(type: RefreshEventType, request: RefreshRequestRecord, ownerTenantId: string, at: Date): Fact {
  return refreshFact(type, request, at, [...new Set([ownerTenantId, request.requestingTenantId])]);
}
