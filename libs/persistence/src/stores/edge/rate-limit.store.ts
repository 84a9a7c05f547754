import type { OverridableName } from '@iss/platform';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** What is counted in windows. */
export interface RateWindow {
  /** Under which an operator may set another limit for a principal. */
  name: OverridableName;
  /** Requests that all processes together may let pass in a window. */
  limit: number;
  /** Windows follow one another from 1970 on, by the clock of the database. At most a day: what is older is deleted. */
  seconds: number;
}

/** A part of a principal's requests of one window, for one process to count down. */
export interface RateReservation {
  /** Requests that this process may let pass; 0 when the window's are all taken. */
  granted: number;
  /** Requests of the window that no process has taken yet. */
  left: number;
  /** How many the principal may send in a window: the operator's value, where there is one. */
  limit: number;
  /** Time from the answer of the database to the end of the window. */
  endsInMs: number;
}

/**
 * A process takes a twentieth of the limit at once: few statements, and little is lost where it is not used up. A window
 * never goes back: a statement that waited for another one's row may have begun in the window before. `used` runs over the
 * limit by one reservation at most, by which the last one knows how much of it was left, and by what is owed.
 */
const RESERVE = statement<
  RateWindow & { key: string; principalId: string; owed: number },
  { used: number; wanted: number; limit: number; endsInMs: number }
>(
  'rate_limit_reserve',
  `WITH l AS MATERIALIZED (
  SELECT o.value, greatest(1, o.value / 20) AS wanted
    FROM (SELECT coalesce((SELECT o.value FROM limit_overrides o
                            WHERE o.scope = 'principal' AND o.scope_id = :principalId AND o.limit_name = :name LIMIT 1),
                          :limit::int) AS value) o
)
INSERT INTO rate_limits AS r (principal_id, window_start, used)
SELECT :key::text, date_bin(make_interval(secs => :seconds), clock_timestamp(), 'epoch'), l.wanted + :owed::int FROM l
    ON CONFLICT (principal_id) DO UPDATE
   SET window_start = greatest(r.window_start, excluded.window_start),
       used = CASE WHEN r.window_start >= excluded.window_start
                   THEN greatest(r.used, least(r.used, (SELECT value FROM l)) + excluded.used)
                   ELSE excluded.used END
RETURNING r.used, (SELECT wanted FROM l) AS wanted, (SELECT value FROM l) AS limit,
       floor(extract(epoch FROM r.window_start + make_interval(secs => :seconds) - clock_timestamp()) * 1000)::int AS "endsInMs"`,
);

/** No request costs more: what is counted in is an integer. */
const MAX_OWED = 100_000_000;

/** Requests of principals by the window, over all gateway processes. */
export class RateLimitStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Takes a twentieth of the limit, or what is left of it, of the principal's current window; and counts what it owes of
   * that window besides, which may be more than was left.
   */
  async reserve(window: RateWindow, principalId: string, owed: number): Promise<RateReservation> {
    const { used, wanted, limit, endsInMs } = await this.sql.one(RESERVE, {
      ...window,
      key: keyOf(window, principalId),
      principalId,
      owed: Math.min(owed, MAX_OWED),
    });
    return {
      granted: Math.max(0, Math.min(wanted, limit - (used - wanted))),
      left: Math.max(0, limit - used),
      limit,
      endsInMs,
    };
  }
}

/** No principal has a name without `oidc:`, so that one row is not taken for another. */
function keyOf({ name }: RateWindow, principalId: string): string {
  return name === 'requests_per_minute' ? principalId : `${name}/${principalId}`;
}
