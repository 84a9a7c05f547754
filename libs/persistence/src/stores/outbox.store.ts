import { type Sql, statement } from '../sql';

/** A delivery that waits for its next attempt. */
export interface PendingDelivery {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
}

/** What one fan-out statement did. */
export interface FanOut {
  /** Deliveries that were created and are due now. */
  pending: PendingDelivery[];
  /** Deliveries recorded for disabled subscriptions, which get nothing until replayed. */
  skipped: number;
  /** Events of the request that were not looked at, since the others already made enough deliveries: ask again. */
  left: number;
}

interface FanOutRow {
  delivery_ids: string[];
  subscription_ids: string[];
  tenant_ids: string[];
  skipped: number;
  left_over: number;
}

/**
 * Events are claimed by their row locks, so that two workers never fan out the same one; the unique key of deliveries
 * is the second, independent assertion. Events are taken while the subscriptions of the ones before them, in this
 * statement, are fewer than the budget: the first is always taken. Rows are found by their key first and judged after
 * that: otherwise the planner may scan the index of all that waits.
 */
const FAN_OUT = statement<FanOutRow>(
  'outbox_fan_out',
  `WITH asked AS MATERIALIZED (
     SELECT event_id, tenant_id, event_type, created_at, fanned_out_at FROM outbox_events
      WHERE event_id = ANY($1::uuid[])
        FOR UPDATE SKIP LOCKED
   ), waiting AS MATERIALIZED (
     SELECT * FROM asked WHERE fanned_out_at IS NULL
   ), audience AS MATERIALIZED (
     SELECT t.tenant_id, (SELECT count(*) FROM webhook_subscriptions s
                           WHERE s.tenant_id = t.tenant_id AND s.deleted_at IS NULL) AS subscriptions
       FROM (SELECT DISTINCT tenant_id FROM waiting) t
   ), sized AS (
     SELECT w.*, sum(a.subscriptions) OVER (ORDER BY w.created_at, w.event_id) - a.subscriptions AS before
       FROM waiting w JOIN audience a USING (tenant_id)
   ), taken AS MATERIALIZED (
     SELECT * FROM sized WHERE before < $2
   ), created AS (
     INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, finished_at)
     SELECT gen_random_uuid(), e.event_id, s.subscription_id, e.tenant_id, e.event_type,
            CASE s.status WHEN 'active' THEN 'pending' ELSE 'skipped' END,
            CASE s.status WHEN 'active' THEN NULL ELSE now() END
       FROM taken e
      CROSS JOIN LATERAL (
              SELECT s.subscription_id, s.status FROM webhook_subscriptions s
               WHERE s.tenant_id = e.tenant_id AND s.deleted_at IS NULL AND e.event_type = ANY(s.event_types)
              OFFSET 0) s
     ON CONFLICT (event_id, subscription_id) DO NOTHING
     RETURNING delivery_id, subscription_id, tenant_id, status
   ), marked AS (
     UPDATE outbox_events o SET fanned_out_at = now() FROM taken WHERE o.event_id = taken.event_id
   )
   SELECT coalesce(array_agg(delivery_id) FILTER (WHERE status = 'pending'), '{}') AS delivery_ids,
          coalesce(array_agg(subscription_id) FILTER (WHERE status = 'pending'), '{}') AS subscription_ids,
          coalesce(array_agg(tenant_id) FILTER (WHERE status = 'pending'), '{}') AS tenant_ids,
          (count(*) FILTER (WHERE status = 'skipped'))::int AS skipped,
          ((SELECT count(*) FROM waiting) - (SELECT count(*) FROM taken))::int AS left_over
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
   * Makes the deliveries of these events (bare UUIDs), in one statement: one for each subscription of the event's
   * tenant to its type. Events that are unknown, done, or in another worker's hands are passed over. `maxDeliveries`
   * bounds the statement; an event whose subscriptions are more than that is still done whole.
   */
  async fanOut(eventIds: readonly string[], maxDeliveries: number): Promise<FanOut> {
    const [row] = await this.sql.run(FAN_OUT, [eventIds, maxDeliveries]);
    if (row === undefined) throw new Error('an aggregate answered no row');
    const pending: PendingDelivery[] = [];
    row.delivery_ids.forEach((deliveryId, index) => {
      const subscriptionId = row.subscription_ids[index];
      const tenantId = row.tenant_ids[index];
      if (subscriptionId !== undefined && tenantId !== undefined)
        pending.push({ deliveryId, subscriptionId, tenantId });
    });
    return { pending, skipped: row.skipped, left: row.left_over };
  }

  /** Ids of events that have waited for longer than `olderThanMs`, oldest first: their wake-up was lost. */
  async waiting(olderThanMs: number, limit: number): Promise<string[]> {
    const rows = await this.sql.run(WAITING, [olderThanMs, limit]);
    return rows.map((row) => row.event_id);
  }
}
