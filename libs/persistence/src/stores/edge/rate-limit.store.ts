import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** A part of a principal's requests of one minute, for one process to count down. */
export interface RateReservation {
  /** Requests that this process may let pass; 0 when the minute's are all taken. */
  granted: number;
  /** Requests of the minute that no process has taken yet. */
  left: number;
  /** Time from the answer of the database to the end of the minute. */
  endsInMs: number;
}

/**
 * Minutes are those of the database's clock. A minute never goes back: a statement that waited for another one's row
 * may have begun in the minute before. `used` runs over the limit by one reservation at most, by which the last one
 * knows how much of it was left.
 */
const RESERVE = statement<{ principalId: string; wanted: number; limit: number }, { used: number; endsInMs: number }>(
  'rate_limit_reserve',
  `INSERT INTO rate_limits AS r (principal_id, window_start, used)
   VALUES (:principalId, date_trunc('minute', clock_timestamp()), :wanted::int)
   ON CONFLICT (principal_id) DO UPDATE
      SET window_start = greatest(r.window_start, excluded.window_start),
          used = CASE WHEN r.window_start >= excluded.window_start
                      THEN greatest(r.used, least(r.used, :limit::int) + excluded.used)
                      ELSE excluded.used END
   RETURNING r.used,
     floor(extract(epoch FROM r.window_start + interval '1 minute' - clock_timestamp()) * 1000)::int AS "endsInMs"`,
);

/** Requests of principals by the minute, over all gateway processes. */
export class RateLimitStore {
  constructor(private readonly sql: Sql) {}

  /** Takes up to `wanted` requests of the current minute for the principal, of which all processes may take `limit`. */
  async reserve(principalId: string, wanted: number, limit: number): Promise<RateReservation> {
    const { used, endsInMs } = await this.sql.one(RESERVE, { principalId, wanted, limit });
    return {
      granted: Math.max(0, Math.min(wanted, limit - (used - wanted))),
      left: Math.max(0, limit - used),
      endsInMs,
    };
  }
}
