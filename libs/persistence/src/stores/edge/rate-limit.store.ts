import type { OverridableName } from '@iss/platform';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** A limit on requests per window of time. */
export interface RateWindow {
  /** The name by which an operator may set another limit for a principal. */
  name: OverridableName;
  /** The number of requests that all processes together may allow in a window. */
  limit: number;
  /**
   * The length of a window. Windows follow one another since 1970, by the clock of the database. At most a day, because older
   * rows are deleted.
   */
  seconds: number;
}

/** A part of a principal's requests of one window, which one process may allow. */
export interface RateReservation {
  /** The number of requests that this process may allow; 0 if all of the window's are taken. */
  granted: number;
  /** The number of requests of the window that no process has taken yet. */
  left: number;
  /** The principal's limit per window: the operator's value if there is one. */
  limit: number;
  /** The time from the answer of the database to the end of the window. */
  endsInMs: number;
}

const RESERVE = statement<
  RateWindow & { key: string; principalId: string; owed: number },
  { used: number; wanted: number; limit: number; endsInMs: number }
>('rate_limit_reserve');

/** The maximum that one request may owe, because the column is an integer. */
const MAX_OWED = 100_000_000;

/** Counts the requests of principals per window, over all gateway processes. */
export class RateLimitStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Takes a twentieth of the limit, or the rest, from the principal's current window. It also charges `owed` to the window, which
   * may exceed the rest.
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

/** Returns the key of the row. Every principal id begins with `oidc:`, so no key can equal another principal's. */
function keyOf({ name }: RateWindow, principalId: string): string {
  return name === 'requests_per_minute' ? principalId : `${name}/${principalId}`;
}
