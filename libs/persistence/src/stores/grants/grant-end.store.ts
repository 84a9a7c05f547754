import type { EventType } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { grantOfEvent, type GrantOfEvent, toBothSides } from '../feed/feed-events';
import { type Announced, announceDue } from '../webhooks/event-writes';

/** The number of days before its expiry at which both parties of a grant are notified. */
export const DAYS_AHEAD = 7;

interface Due {
  granted: GrantOfEvent | null;
  now: Date;
}

/**
 * Declares a statement that claims the next grants whose expiry must be announced; each is claimed once. `column` stores the
 * announced expiry, so a grant that gets another expiry is announced again.
 */
const take = (name: string, column: string, until: string) =>
  statement<{ limit: number }, Due>(
    name,
    `WITH due AS MATERIALIZED (
  SELECT g.grant_id FROM grants g
   WHERE g.revoked_at IS NULL AND g.${column} IS DISTINCT FROM g.expires_at AND g.expires_at <= ${until}
   ORDER BY g.expires_at LIMIT :limit
     FOR NO KEY UPDATE SKIP LOCKED
), g AS (
  UPDATE grants g SET ${column} = g.expires_at FROM due WHERE g.grant_id = due.grant_id RETURNING g.*
)
SELECT ${grantOfEvent()}, statement_timestamp() AS now
  FROM g
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = g.subject_key LIMIT 1) s ON true`,
  );

const EXPIRING = take('grants_expiring', 'expiring_told_for', `statement_timestamp() + interval '${DAYS_AHEAD} days'`);
const EXPIRED = take('grants_expired', 'expired_told_for', 'statement_timestamp()');

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
