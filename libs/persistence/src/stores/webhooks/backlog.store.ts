import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';

const OLDEST_EVENT = statement<NoParameters, { ageMs: number }>(
  'backlog_oldest_event',
  `SELECT coalesce(extract(epoch FROM clock_timestamp() - least(
         (SELECT created_at FROM outbox_events WHERE fanned_out_at IS NULL ORDER BY created_at LIMIT 1),
         (SELECT marked_at FROM outbox_waiting ORDER BY waiting_id LIMIT 1))) * 1000, 0)::float8 AS "ageMs"`,
);

const OLDEST_DELIVERY = statement<NoParameters, { ageMs: number }>(
  'backlog_oldest_delivery',
  `SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - next_at) * 1000 FROM deliveries
                     WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
                     ORDER BY next_at LIMIT 1), 0)::float8 AS "ageMs"`,
);

const OLDEST_DEADLINE = statement<NoParameters, { ageMs: number }>(
  'backlog_oldest_deadline',
  `SELECT coalesce(extract(epoch FROM clock_timestamp() - least(
         (SELECT due_at FROM refresh_requests
           WHERE status = 'pending' AND overdue_told_at IS NULL AND due_at <= now() ORDER BY due_at LIMIT 1),
         (SELECT expires_at FROM refresh_requests
           WHERE status = 'pending' AND expires_at <= now() ORDER BY expires_at LIMIT 1),
         (SELECT next_at FROM refresh_requests WHERE next_at <= now() ORDER BY next_at LIMIT 1),
         (SELECT revoked_at FROM evidence_waiting ORDER BY waiting_id LIMIT 1),
         (SELECT marked_at FROM status_list_waiting ORDER BY waiting_id LIMIT 1),
         (SELECT due_at FROM status_lists WHERE due_at <= now() ORDER BY due_at LIMIT 1),
         (SELECT expires_at FROM grants
           WHERE revoked_at IS NULL AND expired_told_for IS DISTINCT FROM expires_at AND expires_at <= now()
           ORDER BY expires_at LIMIT 1))) * 1000, 0)::float8 AS "ageMs"`,
);

const OLDEST_LIST = statement<NoParameters, { ageMs: number }>('attestation_lists_lag');

/** The counts of matters that wait for people, each up to {@link MOST_COUNTED}. */
export interface WaitingForPeople {
  pendingGrants: number;
  overdueRefreshRequests: number;
}

const MOST_COUNTED = 1_000;

const WAITING_FOR_PEOPLE = statement<{ most: number }, WaitingForPeople>(
  'backlog_waiting_for_people',
  `SELECT (SELECT count(*) FROM (SELECT FROM pending_grants
             WHERE confirmed_at IS NULL AND cancelled_at IS NULL AND confirm_by > now() LIMIT :most) p)::float8 AS "pendingGrants",
       (SELECT count(*) FROM (SELECT FROM refresh_requests
             WHERE status = 'pending' AND due_at IS NOT NULL AND due_at AT TIME ZONE 'UTC' BETWEEN '-infinity' AND now() AT TIME ZONE 'UTC'
             LIMIT :most) r)::float8 AS "overdueRefreshRequests"`,
);

/** The backlog of the workers in PostgreSQL, for metrics and probes of both apps. */
export class BacklogStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the age in milliseconds of the oldest fact or event whose deliveries are incomplete; 0 if there is none. */
  async oldestEventMs(): Promise<number> {
    return (await this.sql.one(OLDEST_EVENT, {})).ageMs;
  }

  /** Returns for how many milliseconds the oldest delivery without a worker has been due; 0 if there is none. */
  async oldestDeliveryMs(): Promise<number> {
    return (await this.sql.one(OLDEST_DELIVERY, {})).ageMs;
  }

  /** Returns for how many milliseconds the oldest deadline has passed without being recorded; 0 if there is none. */
  async oldestDeadlineMs(): Promise<number> {
    const oldest = await Promise.all([this.sql.one(OLDEST_DEADLINE, {}), this.sql.one(OLDEST_LIST, {})]);
    return Math.max(...oldest.map(({ ageMs }) => ageMs));
  }

  /** Counts what waits for people of the tenants. */
  waitingForPeople(): Promise<WaitingForPeople> {
    return this.sql.one(WAITING_FOR_PEOPLE, { most: MOST_COUNTED });
  }
}
