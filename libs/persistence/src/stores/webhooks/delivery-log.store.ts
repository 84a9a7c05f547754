import type {
  AccessFacts,
  DeliveryStatus,
  FinishedDeliveryStatus,
  SkippedReason,
  SubscriptionStatus,
} from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import {
  type Before,
  before,
  fitting,
  type ListRow,
  newestFirst,
  type Page,
  type PagePosition,
  type PageRequest,
  rowBytes,
  toList,
} from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, memberAccess } from '../facts/access-facts';
import { founderOf } from './pending-delivery';

/** The result of one attempt. `statusCode` is null if there was no answer; `errorPhase` and `error` are null after a success. */
export interface AttemptRecord {
  attempt: number;
  startedAt: Date;
  latencyMs: number;
  statusCode: number | null;
  errorPhase: string | null;
  error: string | null;
}

/** The delivery of one event to one subscription. Ids are bare UUIDs. */
export interface DeliveryRecord {
  deliveryId: string;
  eventId: string;
  eventType: string;
  subscriptionId: string;
  status: DeliveryStatus;
  /** The number of attempts ever started, including those before a redelivery. */
  attemptCount: number;
  /** When the next attempt is due; null unless the delivery is pending. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** The id of the request that caused the event. */
  requestId: string | null;
  traceparent: string | null;
  /** Null unless it is `skipped`, and if an earlier release skipped it without a reason. */
  skippedReason: SkippedReason | null;
  /** The last fifty, oldest first. */
  attempts: AttemptRecord[];
}

/** A subscription and the principal that reads its log. */
export interface LogReader {
  subscriptionId: string;
  principalId: string;
}

/** The subscription or null, and the caller's access facts in its tenant. */
export interface LogAccess {
  facts: AccessFacts;
  subscription: {
    tenantId: string;
    /** As in {@link PendingDelivery}. */
    founderId: string;
    targetUrl: string;
    status: SubscriptionStatus;
    isDeleted: boolean;
  } | null;
}

/** A null member selects all. Both times are inclusive, to the millisecond. */
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
  /** The maximum number of deliveries to replay. */
  limit: number;
  /** The maximum number of deliveries to examine, whatever their status. */
  look: number;
}

export interface Replayed {
  deliveryIds: string[];
  /** The creation time of the first delivery that was not replayed for lack of room, or not examined; null if there is none. */
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

/** The subscription `s`, deleted or not, and the caller's membership of its tenant, as `f`. */
const LOG = `(SELECT :subscriptionId::uuid AS subscription_id, :principalId::text AS principal_id) i
  LEFT JOIN webhook_subscriptions s ON s.subscription_id = i.subscription_id
  ${memberAccess('s.tenant_id')}`;

const ACCESS_COLUMNS = `${FACTS},
  s.tenant_id AS "subscription?.tenantId", s.target_url AS "subscription?.targetUrl",
       ${founderOf('s.tenant_id')} AS "subscription?.founderId",
       s.status AS "subscription?.status", s.deleted_at IS NOT NULL AS "subscription?.isDeleted"`;

/** The columns of the delivery `d` with its attempts. */
const DELIVERY: Columns<DeliveryRecord> = {
  deliveryId: 'd.delivery_id',
  eventId: 'd.event_id',
  eventType: 'd.event_type',
  subscriptionId: 'd.subscription_id',
  status: 'd.status',
  attemptCount: 'd.attempt',
  nextAttemptAt: `CASE WHEN d.status = 'pending' THEN d.next_at END`,
  createdAt: 'd.created_at',
  finishedAt: 'd.finished_at',
  requestId: 'd.request_id',
  traceparent: 'd.traceparent',
  skippedReason: 'd.skipped_reason',
  attempts: 'd.attempts',
};

/** A delivery from a row, in which the times within JSON are strings. */
type Stored<Delivery extends DeliveryRecord> = Omit<Delivery, 'attempts'> & {
  attempts: (Omit<AttemptRecord, 'startedAt'> & { startedAt: string })[] | null;
};

/** Joins the last attempts of the delivery `d` as `t`. Redeliveries can add any number of attempts. */
const ATTEMPTS = `
  LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('attempt', a.attempt, 'startedAt', a.started_at, 'latencyMs', a.latency_ms,
                                      'statusCode', a.status_code, 'errorPhase', a.error_phase, 'error', a.error)
                    ORDER BY a.attempt) AS attempts
      FROM (SELECT * FROM delivery_attempts a WHERE a.delivery_id = d.delivery_id
             ORDER BY a.attempt DESC LIMIT 50) a
  ) t ON true`;

const ACCESS = statement<LogReader, LogAccess>(
  'delivery_log_access',
  `SELECT ${ACCESS_COLUMNS}
  FROM ${LOG}`,
);

const LIST = newestFirst('d', 'delivery_id');
/** The maximum number of deliveries that one page examines with a filter. The page says where it ended. */
const LOOK = 10_000;

/**
 * Selects the deliveries of a page for the subscription given as SQL. The bounds are always present, so that a scan starts at
 * them.
 */
const examined = (subscriptionId: string): string => `
         d.subscription_id = ${subscriptionId}
     AND d.created_at >= coalesce(:from::timestamptz, '-infinity')
     AND d.created_at < coalesce(:to::timestamptz + interval '1 millisecond', 'infinity')
     AND (d.created_at, d.delivery_id) < (:beforeTime::timestamptz, :beforeId::uuid)
   ${LIST.order}`;

const PAGE = statement<
  LogReader & DeliveryFilter & Before,
  ListRow<AccessFacts, Stored<DeliveryRecord>> &
    Pick<LogAccess, 'subscription'> & {
      /** The last examined delivery, if the page is short although there may be more. */
      lookedTo: PagePosition | null;
    }
>(
  'delivery_log_page',
  `SELECT ${ACCESS_COLUMNS},
  ${columns(DELIVERY, 'item?')},
  ${LIST.position}, d.found,
       CASE WHEN f.member_status = 'active' AND count(*) OVER () < :rows
            THEN (SELECT ARRAY[d.created_at::text, d.delivery_id::text] FROM deliveries d
                   WHERE ${examined(':subscriptionId')} OFFSET ${LOOK - 1} LIMIT 1)
       END AS "lookedTo"
     FROM ${LOG}
     LEFT JOIN LATERAL ${fitting(
       'd',
       `SELECT d.*, o.request_id, o.traceparent, t.attempts
         FROM (SELECT * FROM (
                      SELECT * FROM deliveries d
                       WHERE f.member_status = 'active' AND ${examined('s.subscription_id')} LIMIT ${LOOK}) d
                WHERE (:status::text IS NULL OR d.status = :status)
                  AND (:eventType::text IS NULL OR d.event_type = :eventType)
                ${LIST.order} LIMIT :rows) d
         JOIN outbox_events o ON o.event_id = d.event_id ${ATTEMPTS}`,
       rowBytes('d'),
       LIST.order,
     )} d ON true
    ${LIST.order}`,
);

const FIND = statement<
  LogReader & { deliveryId: string },
  LogAccess & { delivery: Stored<DeliveryRecord & { body: string }> | null }
>(
  'delivery_log_find',
  `SELECT ${ACCESS_COLUMNS},
  ${columns({ ...DELIVERY, attempts: 't.attempts', body: 'd.body' }, 'delivery?')}
     FROM ${LOG}
     LEFT JOIN LATERAL (
       SELECT d.*, o.request_id, o.traceparent, o.body
         FROM (SELECT * FROM deliveries d WHERE d.delivery_id = :deliveryId LIMIT 1) d
         JOIN outbox_events o ON o.event_id = d.event_id
        WHERE d.subscription_id = s.subscription_id
     ) d ON true ${ATTEMPTS}`,
);

/** Restarts a finished delivery: due now, with consecutive attempt numbers, and with the retry schedule from its start. */
const BEGIN_AGAIN = `status = 'pending', next_at = now(), lease_until = NULL, finished_at = NULL, skipped_reason = NULL, retries_from = d.attempt`;

/**
 * True if the subscription gets deliveries. It is found by its key and checked afterwards, so that the index of live ones is not
 * used.
 */
const IS_ACTIVE = `(SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END FROM webhook_subscriptions s
              WHERE s.subscription_id = :subscriptionId) = 'active'`;

const REDELIVER = statement<{ subscriptionId: string; deliveryId: string }, { deliveryId: string }>(
  'delivery_redeliver',
  `UPDATE deliveries d SET ${BEGIN_AGAIN}
    WHERE d.delivery_id = :deliveryId AND (d.subscription_id = :subscriptionId) IS TRUE AND d.status <> 'pending'
      AND ${IS_ACTIVE}
   RETURNING d.delivery_id AS "deliveryId"`,
);

/**
 * Restarts deliveries of a period. Rows are locked in one order, so the second of two concurrent replays sees the result of the
 * first.
 */
const REPLAY = statement<Replay & { subscriptionId: string }, Replayed>(
  'delivery_replay',
  `WITH looked AS MATERIALIZED (
     SELECT (SELECT d.created_at FROM deliveries d
              WHERE d.subscription_id = :subscriptionId AND d.created_at >= :from::timestamptz
                AND d.created_at < coalesce(:to::timestamptz + interval '1 millisecond', 'infinity')
              ORDER BY d.created_at, d.delivery_id OFFSET :look::int LIMIT 1) AS until
   ), found AS MATERIALIZED (
     SELECT d.delivery_id, d.created_at FROM deliveries d
      WHERE d.subscription_id = :subscriptionId AND d.status = ANY (:statuses::text[])
        AND d.created_at >= :from::timestamptz
        AND d.created_at < coalesce((SELECT until FROM looked), :to::timestamptz + interval '1 millisecond', 'infinity')
        AND ${IS_ACTIVE}
      ORDER BY d.created_at, d.delivery_id LIMIT :limit::int + 1
        FOR UPDATE
   ), taken AS MATERIALIZED (
     SELECT delivery_id FROM found ORDER BY created_at, delivery_id LIMIT :limit::int
   ), replayed AS (
     UPDATE deliveries d SET ${BEGIN_AGAIN} FROM taken WHERE d.delivery_id = taken.delivery_id RETURNING d.delivery_id
   )
   SELECT coalesce((SELECT array_agg(delivery_id) FROM replayed), '{}') AS "deliveryIds",
          date_trunc('milliseconds', coalesce((SELECT max(created_at) FROM found HAVING count(*) > :limit::int),
                                              (SELECT until FROM looked))) AS "nextFrom"`,
);

/** Stores a test event. It is marked as fanned out, so it reaches only this subscription. */
const TEST = statement<TestDelivery & { subscriptionId: string }, { deliveryId: string }>(
  'delivery_test',
  `WITH target AS MATERIALIZED (
     SELECT subscription_id, tenant_id FROM webhook_subscriptions
      WHERE subscription_id = :subscriptionId AND ${IS_ACTIVE}
   ), event AS (
     INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent, fanned_out_at)
     SELECT :eventId::uuid, tenant_id, :eventType::text, :body::text, :requestId::text, :traceparent::text, now()
       FROM target
   )
   INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status)
   SELECT :deliveryId::uuid, :eventId::uuid, subscription_id, tenant_id, :eventType::text, 'pending' FROM target
   RETURNING delivery_id AS "deliveryId"`,
);

/** Deliveries of one subscription for its tenant, with redelivery, replay and tests. */
export class DeliveryLogStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the subscription and the caller's access facts, without deliveries. */
  access(reader: LogReader): Promise<LogAccess> {
    return this.sql.one(ACCESS, reader);
  }

  /**
   * Returns a page of the subscription's deliveries, newest first, even if it is deleted. With a filter, a page may be short or
   * empty and still have a next page, because the number of examined deliveries is limited.
   */
  async page(
    reader: LogReader,
    filter: DeliveryFilter,
    request: PageRequest,
  ): Promise<LogAccess & { page: Page<DeliveryRecord> }> {
    // In turn, because it may read many deliveries that the filter removes.
    const rows = await this.sql.runInTurn(reader.principalId, PAGE, { ...reader, ...filter, ...before(request) });
    const { facts, page } = toList(rows, request.limit);
    const subscription = rows[0]?.subscription ?? null;
    const next = page.next ?? rows[0]?.lookedTo ?? null;
    return { facts, subscription, page: { items: page.items.map(withAttempts), next } };
  }

  /** Returns one delivery of the subscription with the exact text that is sent, or null. */
  async find(
    reader: LogReader,
    deliveryId: string,
  ): Promise<LogAccess & { delivery: (DeliveryRecord & { body: string }) | null }> {
    const { delivery, ...access } = await this.sql.one(FIND, { ...reader, deliveryId });
    return { ...access, delivery: delivery === null ? null : { ...withAttempts(delivery), body: delivery.body } };
  }

  /**
   * Makes a finished delivery of an active subscription due again. Returns true for one of many concurrent callers, and false
   * otherwise.
   */
  async redeliver(subscriptionId: string, deliveryId: string): Promise<boolean> {
    return (await this.sql.run(REDELIVER, { subscriptionId, deliveryId })).length > 0;
  }

  /** Makes finished deliveries of an active subscription due again, oldest first, up to the limit. */
  async replay(subscriptionId: string, replay: Replay): Promise<Replayed> {
    const [replayed] = await this.sql.runInTurn(subscriptionId, REPLAY, { subscriptionId, ...replay });
    if (replayed === undefined) throw new Error('delivery_replay answered no row');
    return replayed;
  }

  /** Stores an event and its delivery to this subscription only. Returns false if the subscription is not active. */
  async addTest(subscriptionId: string, test: TestDelivery): Promise<boolean> {
    return (await this.sql.run(TEST, { subscriptionId, ...test })).length > 0;
  }
}

function withAttempts({ attempts, ...delivery }: Stored<DeliveryRecord>): DeliveryRecord {
  const began = (attempts ?? []).map((attempt) => ({ ...attempt, startedAt: new Date(attempt.startedAt) }));
  return { ...delivery, attempts: began };
}
