import { type Sql, statement } from '../../sql/sql';

/** A delivery that waits for its next attempt. */
export interface PendingDelivery {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
}

/** What one step of a fan-out did. */
export interface FanOutStep {
  /** Deliveries that were created and are due now. */
  pending: PendingDelivery[];
  /** Deliveries recorded for disabled subscriptions, which get nothing until replayed. */
  skipped: number;
  /** Events of the request that may have further subscriptions: they need another step. */
  unfinished: string[];
}

/** Deliveries of each event that a step makes at most. */
export interface StepSizes {
  /** Of an event that has none yet. */
  first: number;
  /** Of one that has some. */
  next: number;
}

interface FanOutRow {
  delivery_ids: string[];
  subscription_ids: string[];
  tenant_ids: string[];
  skipped: number;
  unfinished: string[];
}

/**
 * An event goes through its subscriptions in the order of their ids, so that the last delivery that is there says how
 * far it came, to whichever worker takes the next step. It is done when a step finds fewer than it may take.
 *
 * Events are claimed by their row locks, so that two workers never take the same step; the unique key of deliveries is
 * the second, independent assertion. A statement that began before another worker's step was committed repeats that
 * step, and creates nothing.
 *
 * Rows are found by their key first and judged after that: otherwise the planner may scan the index of all that waits.
 * For the same reason the last delivery is asked for as the one before the end of the event's place in the key.
 */
const FAN_OUT = statement<FanOutRow>(
  'outbox_fan_out',
  `WITH asked AS MATERIALIZED (
     SELECT event_id, tenant_id, event_type, created_at, fanned_out_at FROM outbox_events
      WHERE event_id = ANY($1::uuid[])
        FOR UPDATE SKIP LOCKED
   ), waiting AS MATERIALIZED (
     SELECT a.*, last.subscription_id AS reached,
            CASE WHEN last.subscription_id IS NULL THEN $2::int ELSE $3::int END AS size
       FROM asked a
       LEFT JOIN LATERAL (
              SELECT d.event_id, d.subscription_id FROM deliveries d
               WHERE (d.event_id, d.subscription_id) <= (a.event_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
               ORDER BY d.event_id DESC, d.subscription_id DESC LIMIT 1) last ON last.event_id = a.event_id
      WHERE a.fanned_out_at IS NULL
   ), taken AS MATERIALIZED (
     SELECT w.event_id, w.tenant_id, w.event_type, next.subscription_ids, next.statuses,
            cardinality(next.subscription_ids) < w.size AS is_done
       FROM waiting w
      CROSS JOIN LATERAL (
              SELECT coalesce(array_agg(s.subscription_id), '{}') AS subscription_ids, array_agg(s.status) AS statuses
                FROM (SELECT fitting.* FROM (
                             SELECT s.subscription_id, s.status FROM webhook_subscriptions s
                              WHERE s.tenant_id = w.tenant_id AND s.deleted_at IS NULL AND s.created_at <= w.created_at
                                AND w.event_type = ANY(s.event_types)
                                AND s.subscription_id > coalesce(w.reached, '00000000-0000-0000-0000-000000000000')
                             OFFSET 0) fitting
                       ORDER BY fitting.subscription_id
                       LIMIT w.size) s) next
   ), created AS (
     INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, finished_at)
     SELECT gen_random_uuid(), t.event_id, s.subscription_id, t.tenant_id, t.event_type,
            CASE s.status WHEN 'active' THEN 'pending' ELSE 'skipped' END,
            CASE s.status WHEN 'active' THEN NULL ELSE now() END
       FROM taken t CROSS JOIN LATERAL unnest(t.subscription_ids, t.statuses) AS s(subscription_id, status)
     ON CONFLICT (event_id, subscription_id) DO NOTHING
     RETURNING delivery_id, subscription_id, tenant_id, status
   ), done AS (
     UPDATE outbox_events o SET fanned_out_at = now() FROM taken t WHERE o.event_id = t.event_id AND t.is_done
   )
   SELECT coalesce(array_agg(delivery_id) FILTER (WHERE status = 'pending'), '{}') AS delivery_ids,
          coalesce(array_agg(subscription_id) FILTER (WHERE status = 'pending'), '{}') AS subscription_ids,
          coalesce(array_agg(tenant_id) FILTER (WHERE status = 'pending'), '{}') AS tenant_ids,
          (count(*) FILTER (WHERE status = 'skipped'))::int AS skipped,
          ARRAY(SELECT event_id FROM taken WHERE NOT is_done) AS unfinished
     FROM created`,
);

const WAITING = statement<{ event_id: string }>(
  'outbox_waiting',
  `SELECT event_id FROM outbox_events
    WHERE fanned_out_at IS NULL AND created_at < now() - $1 * interval '1 millisecond'
    ORDER BY created_at LIMIT $2`,
);

/** Events that were committed with the change they tell of, until each has become its deliveries. */
export class OutboxStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Takes one step with each of these events (bare UUIDs), in one statement: makes the next of its deliveries, one for
   * each subscription of its tenant to its type that was there when it was committed. Events that are unknown, done, or
   * in another worker's hands are passed over. An event is done once, and only when its last delivery is made: until
   * then anybody may go on with it.
   */
  async fanOut(eventIds: readonly string[], { first, next }: StepSizes): Promise<FanOutStep> {
    const [row] = await this.sql.run(FAN_OUT, [eventIds, first, next]);
    if (row === undefined) throw new Error('an aggregate answered no row');
    const pending: PendingDelivery[] = [];
    row.delivery_ids.forEach((deliveryId, index) => {
      const subscriptionId = row.subscription_ids[index];
      const tenantId = row.tenant_ids[index];
      if (subscriptionId !== undefined && tenantId !== undefined)
        pending.push({ deliveryId, subscriptionId, tenantId });
    });
    return { pending, skipped: row.skipped, unfinished: row.unfinished };
  }

  /** Ids of events that have waited for longer than `olderThanMs`, oldest first: their wake-up was lost. */
  async waiting(olderThanMs: number, limit: number): Promise<string[]> {
    const rows = await this.sql.run(WAITING, [olderThanMs, limit]);
    return rows.map((row) => row.event_id);
  }
}
