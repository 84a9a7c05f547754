import type { EventType } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type GrantOfEvent, toBothSides } from '../feed/feed-events';
import { type Announced, announceDue } from '../webhooks/event-writes';

/** The number of days before its expiry at which both parties of a grant are notified. */
export const DAYS_AHEAD = 7;

interface Due {
  granted: GrantOfEvent | null;
  now: Date;
}

const EXPIRING = statement<{ limit: number }, Due>('grants_expiring');
const EXPIRED = statement<{ limit: number }, Due>('grants_expired');

/** Announces the expiry of grants to both parties. */
export class GrantEndStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Announces up to `limit` grants that expire within {@link DAYS_AHEAD} days, once per expiry. Grants that have already
   * expired are claimed without an event.
   */
  announceExpiring(limit: number): Promise<Announced> {
    return this.announce(EXPIRING, 'grant.expiring', limit, ({ granted, now }) =>
      granted !== null && granted.expiresAt !== null && granted.expiresAt > now ? now : null,
    );
  }

  /** Announces up to `limit` expired grants. The event's time is the expiry, so later subscriptions do not get it. */
  announceExpired(limit: number): Promise<Announced> {
    return this.announce(EXPIRED, 'grant.expired', limit, ({ granted }) => granted?.expiresAt ?? null);
  }

  private announce(
    due: typeof EXPIRING,
    type: Extract<EventType, 'grant.expiring' | 'grant.expired'>,
    limit: number,
    happenedAt: (due: Due) => Date | null,
  ): Promise<Announced> {
    return announceDue(this.sql, due, limit, (row) => {
      const at = happenedAt(row);
      return row.granted === null || at === null ? [] : toBothSides(type, row.granted, at);
    });
  }
}
