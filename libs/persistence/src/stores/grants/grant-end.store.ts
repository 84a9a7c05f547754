import type { EventType } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { grantOfEvent, type GrantOfEvent, toBothSides } from '../feed/feed-events';
import { type Announced, announceDue } from '../webhooks/event-writes';

/** Days before its end at which both sides of a grant are told that it comes. */
export const TOLD_DAYS_AHEAD = 7;

interface Due {
  granted: GrantOfEvent | null;
  now: Date;
}

/**
 * The next grants of which an end is to be told, told: whoever asks next finds others. By the column that says for which
 * end that was, so that another one that a grant is given later is told of as well.
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

const EXPIRING = take(
  'grants_expiring',
  'expiring_told_for',
  `statement_timestamp() + interval '${TOLD_DAYS_AHEAD} days'`,
);
const EXPIRED = take('grants_expired', 'expired_told_for', 'statement_timestamp()');

/** The ends of grants, of which both sides are told by the clock. */
export class GrantEndStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Tells both sides of up to `limit` grants that end within {@link TOLD_DAYS_AHEAD} days, once for each end. Of one that
   * is over by then nothing is said here.
   */
  tellExpiring(limit: number): Promise<Announced> {
    return this.tell(EXPIRING, 'grant.expiring', limit, ({ granted, now }) =>
      granted !== null && granted.expiresAt !== null && granted.expiresAt > now ? now : null,
    );
  }

  /** The same of grants that are over. It happened at their end: whoever subscribed later is not told. */
  tellExpired(limit: number): Promise<Announced> {
    return this.tell(EXPIRED, 'grant.expired', limit, ({ granted }) => granted?.expiresAt ?? null);
  }

  private tell(
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
