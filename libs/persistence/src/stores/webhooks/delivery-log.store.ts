import type { AccessFacts, DeliveryStatus, FinishedDeliveryStatus, SubscriptionStatus } from '@iss/domain';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import { type Sql, statement } from '../../sql/sql';
import { type AccessFactsRow, toAccessFacts } from '../facts/access-facts';

/** One attempt as it went; `statusCode` is null where no answer came, `errorPhase` and `error` where it succeeded. */
export interface AttemptRecord {
  attempt: number;
  startedAt: Date;
  latencyMs: number;
  statusCode: number | null;
  errorPhase: string | null;
  error: string | null;
}

/** One event on its way to one subscription. Ids are bare UUIDs. */
export interface DeliveryRecord {
  deliveryId: string;
  eventId: string;
  eventType: string;
  subscriptionId: string;
  status: DeliveryStatus;
  /** Attempts ever begun, those before a redelivery included. */
  attemptCount: number;
  /** When the next attempt is due; null unless pending. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Of the request that caused the event. */
  requestId: string | null;
  traceparent: string | null;
  /** The last fifty, oldest first. */
  attempts: AttemptRecord[];
}

/** Who asks about which subscription. */
export interface LogReader {
  subscriptionId: string;
  principalId: string;
}

/** The subscription whose log is asked for, or null, and what the caller may do in its tenant. */
export interface LogAccess {
  facts: AccessFacts;
  subscription: { tenantId: string; status: SubscriptionStatus; isDeleted: boolean } | null;
}

/** Null: any. Both times are inclusive, to the millisecond. */
export interface DeliveryFilter {
  status: DeliveryStatus | null;
  eventType: string | null;
  from: Date | null;
  to: Date | null;
}

export interface Replay {
  from: Date;
  to: Date | null;
  statuses: readonly FinishedDeliveryStatus[];
  /** Deliveries at most. */
  limit: number;
}

export interface Replayed {
  deliveryIds: string[];
  /** When the first delivery was made that did not fit; null when all did. */
  nextFrom: Date | null;
}

export interface TestDelivery {
  deliveryId: string;
  eventId: string;
  eventType: string;
  body: string;
  requestId: string;
  traceparent: string;
}

interface AccessRow extends AccessFactsRow {
  tenant_id: string | null;
  subscription_status: SubscriptionStatus | null;
  is_deleted: boolean | null;
}

interface DeliveryRow {
  delivery_id: string;
  event_id: string;
  event_type: string;
  subscription_id: string;
  status: DeliveryStatus;
  attempt: number;
  next_at: Date;
  created_at: Date;
  finished_at: Date | null;
  request_id: string | null;
  traceparent: string | null;
  attempts:
    | {
        attempt: number;
        started_at: string;
        latency_ms: number;
        status_code: number | null;
        error_phase: string | null;
        error: string | null;
      }[]
    | null;
}
/** A row with its delivery, or with none. */
type FoundRow<Row> = AccessRow & { [Column in keyof Row]: Row[Column] | null };

const ACCESS_COLUMNS = `m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
  NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes,
  s.tenant_id, s.status AS subscription_status, s.deleted_at IS NOT NULL AS is_deleted`;

/** The subscription `s`, deleted or not, and the caller's membership `m` of its tenant. */
const LOG = `(SELECT $1::uuid AS subscription_id, $2::text AS principal_id) i
  LEFT JOIN webhook_subscriptions s ON s.subscription_id = i.subscription_id
  LEFT JOIN LATERAL (SELECT * FROM memberships m
                      WHERE m.tenant_id = s.tenant_id AND m.principal_id = i.principal_id LIMIT 1) m ON true`;

const DELIVERY_COLUMNS = `d.delivery_id, d.event_id, d.event_type, d.subscription_id, d.status, d.attempt, d.next_at,
  d.created_at, d.finished_at, d.request_id, d.traceparent, t.attempts`;

/** Attempts `t` of the delivery `d`. Each redelivery adds some, without end; nobody reads more than the last ones. */
const ATTEMPTS = `
  LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('attempt', a.attempt, 'started_at', a.started_at, 'latency_ms', a.latency_ms,
                                      'status_code', a.status_code, 'error_phase', a.error_phase, 'error', a.error)
                    ORDER BY a.attempt) AS attempts
      FROM (SELECT * FROM delivery_attempts a WHERE a.delivery_id = d.delivery_id
             ORDER BY a.attempt DESC LIMIT 50) a
  ) t ON true`;

const ACCESS = statement<AccessRow>('delivery_log_access', `SELECT ${ACCESS_COLUMNS} FROM ${LOG}`);

// The bounds stand there in any case, so that a plan made for every request starts its scan at them.
const PAGE = statement<FoundRow<DeliveryRow & { position: string }>>(
  'delivery_log_page',
  `SELECT ${ACCESS_COLUMNS}, ${DELIVERY_COLUMNS}, d.created_at::text AS position
     FROM ${LOG}
     LEFT JOIN LATERAL (
       SELECT d.*, o.request_id, o.traceparent
         FROM deliveries d JOIN outbox_events o ON o.event_id = d.event_id
        WHERE d.subscription_id = s.subscription_id AND m.status = 'active'
          AND ($3::text IS NULL OR d.status = $3) AND ($4::text IS NULL OR d.event_type = $4)
          AND d.created_at >= coalesce($5::timestamptz, '-infinity')
          AND d.created_at < coalesce($6::timestamptz + interval '1 millisecond', 'infinity')
          AND (d.created_at, d.delivery_id)
              < (coalesce($7::timestamptz, 'infinity'), coalesce($8::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        ORDER BY d.created_at DESC, d.delivery_id DESC LIMIT $9
     ) d ON true ${ATTEMPTS}
    ORDER BY d.created_at DESC, d.delivery_id DESC`,
);

const FIND = statement<FoundRow<DeliveryRow & { body: string }>>(
  'delivery_log_find',
  `SELECT ${ACCESS_COLUMNS}, ${DELIVERY_COLUMNS}, d.body
     FROM ${LOG}
     LEFT JOIN LATERAL (
       SELECT d.*, o.request_id, o.traceparent, o.body
         FROM (SELECT * FROM deliveries d WHERE d.delivery_id = $3 LIMIT 1) d
         JOIN outbox_events o ON o.event_id = d.event_id
        WHERE d.subscription_id = s.subscription_id
     ) d ON true ${ATTEMPTS}`,
);

/** A finished delivery begins again: due now, its attempts numbered on, its retry schedule from the start. */
const BEGIN_AGAIN = `status = 'pending', next_at = now(), lease_until = NULL, finished_at = NULL, retries_from = d.attempt`;

/** Whether the subscription `$1` gets deliveries. Found by its key and judged after that, in no index of all that are live. */
const IS_ACTIVE = `(SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END FROM webhook_subscriptions s
              WHERE s.subscription_id = $1) = 'active'`;

const REDELIVER = statement<{ delivery_id: string }>(
  'delivery_redeliver',
  `UPDATE deliveries d SET ${BEGIN_AGAIN}
    WHERE d.delivery_id = $2 AND (d.subscription_id = $1) IS TRUE AND d.status <> 'pending' AND ${IS_ACTIVE}
   RETURNING d.delivery_id`,
);

/** Rows are locked in one order, so that of two replays at once the second finds what the first one left. */
const REPLAY = statement<{ delivery_ids: string[]; next_from: Date | null }>(
  'delivery_replay',
  `WITH found AS MATERIALIZED (
     SELECT d.delivery_id, d.created_at FROM deliveries d
      WHERE d.subscription_id = $1 AND d.status = ANY ($4::text[])
        AND d.created_at >= $2::timestamptz
        AND d.created_at < coalesce($3::timestamptz + interval '1 millisecond', 'infinity')
        AND ${IS_ACTIVE}
      ORDER BY d.created_at, d.delivery_id LIMIT $5::int + 1
        FOR UPDATE
   ), taken AS MATERIALIZED (
     SELECT delivery_id FROM found ORDER BY created_at, delivery_id LIMIT $5::int
   ), replayed AS (
     UPDATE deliveries d SET ${BEGIN_AGAIN} FROM taken WHERE d.delivery_id = taken.delivery_id RETURNING d.delivery_id
   )
   SELECT coalesce((SELECT array_agg(delivery_id) FROM replayed), '{}') AS delivery_ids,
          (SELECT date_trunc('milliseconds', max(created_at)) FROM found HAVING count(*) > $5::int) AS next_from`,
);

/** The event is marked as fanned out, so that it reaches this one subscription and no other. */
const TEST = statement<{ delivery_id: string }>(
  'delivery_test',
  `WITH target AS MATERIALIZED (
     SELECT subscription_id, tenant_id FROM webhook_subscriptions WHERE subscription_id = $1 AND ${IS_ACTIVE}
   ), event AS (
     INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent, fanned_out_at)
     SELECT $3::uuid, tenant_id, $4::text, $5::text, $6::text, $7::text, now() FROM target
   )
   INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status)
   SELECT $2::uuid, $3::uuid, subscription_id, tenant_id, $4::text, 'pending' FROM target
   RETURNING delivery_id`,
);

/** Deliveries of one subscription as its tenant sees them, and what the tenant may have done again. */
export class DeliveryLogStore {
  constructor(private readonly sql: Sql) {}

  /** The subscription and the caller's right, without any delivery. */
  async access(reader: LogReader): Promise<LogAccess> {
    const [row] = await this.sql.run(ACCESS, keyOf(reader));
    if (row === undefined) throw new Error('delivery_log_access answered no row');
    return toAccess(row);
  }

  /** A page of the subscription's deliveries, newest first; of a deleted subscription too. */
  async page(
    reader: LogReader,
    filter: DeliveryFilter,
    { limit, after }: PageRequest,
  ): Promise<LogAccess & { page: Page<DeliveryRecord> }> {
    const { status, eventType, from, to } = filter;
    const [createdAt = null, deliveryId = null] = after ?? [];
    const bounds = [from, to, createdAt, deliveryId, limit + 1];
    const rows = await this.sql.run(PAGE, [...keyOf(reader), status, eventType, ...bounds]);
    const [first] = rows;
    if (first === undefined) throw new Error('delivery_log_page answered no row');
    const page = toPage(rows.filter(hasDelivery), limit, toDelivery, (row) => [row.position, row.delivery_id]);
    return { ...toAccess(first), page };
  }

  /** One delivery of the subscription with the exact text that is sent, or null. */
  async find(
    reader: LogReader,
    deliveryId: string,
  ): Promise<LogAccess & { delivery: (DeliveryRecord & { body: string }) | null }> {
    const [row] = await this.sql.run(FIND, [...keyOf(reader), deliveryId]);
    if (row === undefined) throw new Error('delivery_log_find answered no row');
    return { ...toAccess(row), delivery: hasDelivery(row) ? { ...toDelivery(row), body: row.body } : null };
  }

  /** Makes a finished delivery of an active subscription due again; false when it is none. One of many callers gets true. */
  async redeliver(subscriptionId: string, deliveryId: string): Promise<boolean> {
    return (await this.sql.run(REDELIVER, [subscriptionId, deliveryId])).length > 0;
  }

  /** Makes finished deliveries of an active subscription due again, oldest first, as many as the limit allows. */
  async replay(subscriptionId: string, { from, to, statuses, limit }: Replay): Promise<Replayed> {
    const [row] = await this.sql.run(REPLAY, [subscriptionId, from, to, statuses, limit]);
    if (row === undefined) throw new Error('delivery_replay answered no row');
    return { deliveryIds: row.delivery_ids, nextFrom: row.next_from };
  }

  /** Stores an event and its delivery to this one subscription; false when that is not active. */
  async addTest(subscriptionId: string, test: TestDelivery): Promise<boolean> {
    const { deliveryId, eventId, eventType, body, requestId, traceparent } = test;
    const values = [subscriptionId, deliveryId, eventId, eventType, body, requestId, traceparent];
    return (await this.sql.run(TEST, values)).length > 0;
  }
}

function keyOf({ subscriptionId, principalId }: LogReader): string[] {
  return [subscriptionId, principalId];
}

function toAccess(row: AccessRow): LogAccess {
  const { tenant_id: tenantId, subscription_status: status } = row;
  return {
    facts: toAccessFacts(row),
    subscription:
      tenantId === null || status === null ? null : { tenantId, status, isDeleted: row.is_deleted === true },
  };
}

function hasDelivery<Row extends DeliveryRow>(row: FoundRow<Row>): row is AccessRow & Row {
  return row.delivery_id !== null;
}

function toDelivery(row: DeliveryRow): DeliveryRecord {
  return {
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    eventType: row.event_type,
    subscriptionId: row.subscription_id,
    status: row.status,
    attemptCount: row.attempt,
    nextAttemptAt: row.status === 'pending' ? row.next_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    requestId: row.request_id,
    traceparent: row.traceparent,
    attempts: (row.attempts ?? []).map((attempt) => ({
      attempt: attempt.attempt,
      startedAt: new Date(attempt.started_at),
      latencyMs: attempt.latency_ms,
      statusCode: attempt.status_code,
      errorPhase: attempt.error_phase,
      error: attempt.error,
    })),
  };
}
