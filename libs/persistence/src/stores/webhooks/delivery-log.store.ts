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
  type ListRow,
  newestFirst,
  type Page,
  type PagePosition,
  type PageRequest,
  toList,
} from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, memberAccess } from '../facts/access-facts';
import { founderOf } from './pending-delivery';

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
  /** Null unless it is `skipped`, and for what was skipped before reasons were kept. */
  skippedReason: SkippedReason | null;
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
  subscription: {
    tenantId: string;
    /** As a delivery that waits names them. */
    founderId: string;
    targetUrl: string;
    status: SubscriptionStatus;
    isDeleted: boolean;
  } | null;
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
  /** It looks at so many at most, whatever their status. */
  look: number;
}

export interface Replayed {
  deliveryIds: string[];
  /** When the first delivery was made that did not fit, or was not looked at; null when there is none. */
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

/** Columns of the delivery `d` with its attempts `t`. */
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
  attempts: 't.attempts',
};

/** A delivery as its row holds it: times in JSON are texts. */
type Stored<Delivery extends DeliveryRecord> = Omit<Delivery, 'attempts'> & {
  attempts: (Omit<AttemptRecord, 'startedAt'> & { startedAt: string })[] | null;
};

/** Attempts `t` of the delivery `d`. Each redelivery adds some, without end; nobody reads more than the last ones. */
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
/** A page that keeps some looks at so many deliveries at most, and says how far it came. */
const LOOK = 10_000;

/** What a page looks at, of the subscription given as SQL. The bounds stand there in any case: a scan starts at them. */
const looked = (subscriptionId: string): string => `
         d.subscription_id = ${subscriptionId}
     AND d.created_at >= coalesce(:from::timestamptz, '-infinity')
     AND d.created_at < coalesce(:to::timestamptz + interval '1 millisecond', 'infinity')
     AND (d.created_at, d.delivery_id) < (:beforeTime::timestamptz, :beforeId::uuid)
   ${LIST.order}`;

const PAGE = statement<
  LogReader & DeliveryFilter & Before,
  ListRow<AccessFacts, Stored<DeliveryRecord>> &
    Pick<LogAccess, 'subscription'> & {
      /** The last delivery that was looked at, where the page is short although there may be more. */
      lookedTo: PagePosition | null;
    }
>(
  'delivery_log_page',
  `SELECT ${ACCESS_COLUMNS},
  ${columns(DELIVERY, 'item?')},
  ${LIST.position},
       CASE WHEN f.member_status = 'active' AND count(*) OVER () < :rows
            THEN (SELECT ARRAY[d.created_at::text, d.delivery_id::text] FROM deliveries d
                   WHERE ${looked(':subscriptionId')} OFFSET ${LOOK - 1} LIMIT 1)
       END AS "lookedTo"
     FROM ${LOG}
     LEFT JOIN LATERAL (
       SELECT d.*, o.request_id, o.traceparent
         FROM (SELECT * FROM (
                      SELECT * FROM deliveries d
                       WHERE f.member_status = 'active' AND ${looked('s.subscription_id')} LIMIT ${LOOK}) d
                WHERE (:status::text IS NULL OR d.status = :status)
                  AND (:eventType::text IS NULL OR d.event_type = :eventType)
                ${LIST.order} LIMIT :rows) d
         JOIN outbox_events o ON o.event_id = d.event_id
     ) d ON true ${ATTEMPTS}
    ${LIST.order}`,
);

const FIND = statement<
  LogReader & { deliveryId: string },
  LogAccess & { delivery: Stored<DeliveryRecord & { body: string }> | null }
>(
  'delivery_log_find',
  `SELECT ${ACCESS_COLUMNS},
  ${columns({ ...DELIVERY, body: 'd.body' }, 'delivery?')}
     FROM ${LOG}
     LEFT JOIN LATERAL (
       SELECT d.*, o.request_id, o.traceparent, o.body
         FROM (SELECT * FROM deliveries d WHERE d.delivery_id = :deliveryId LIMIT 1) d
         JOIN outbox_events o ON o.event_id = d.event_id
        WHERE d.subscription_id = s.subscription_id
     ) d ON true ${ATTEMPTS}`,
);

/** A finished delivery begins again: due now, its attempts numbered on, its retry schedule from the start. */
const BEGIN_AGAIN = `status = 'pending', next_at = now(), lease_until = NULL, finished_at = NULL, skipped_reason = NULL, retries_from = d.attempt`;

/** Whether the subscription gets deliveries. Found by its key and judged after that, in no index of all that are live. */
const IS_ACTIVE = `(SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END FROM webhook_subscriptions s
              WHERE s.subscription_id = :subscriptionId) = 'active'`;

const REDELIVER = statement<{ subscriptionId: string; deliveryId: string }, { deliveryId: string }>(
  'delivery_redeliver',
  `UPDATE deliveries d SET ${BEGIN_AGAIN}
    WHERE d.delivery_id = :deliveryId AND (d.subscription_id = :subscriptionId) IS TRUE AND d.status <> 'pending'
      AND ${IS_ACTIVE}
   RETURNING d.delivery_id AS "deliveryId"`,
);

/** Rows are locked in one order, so that of two replays at once the second finds what the first one left. */
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

/** The event is marked as fanned out, so that it reaches this one subscription and no other. */
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

/** Deliveries of one subscription as its tenant sees them, and what the tenant may have done again. */
export class DeliveryLogStore {
  constructor(private readonly sql: Sql) {}

  /** The subscription and the caller's right, without any delivery. */
  access(reader: LogReader): Promise<LogAccess> {
    return this.sql.one(ACCESS, reader);
  }

  /**
   * A page of the subscription's deliveries, newest first; of a deleted subscription too. It may have fewer than were asked
   * for, or none, and a next page: a filter keeps some of a bounded number.
   */
  async page(
    reader: LogReader,
    filter: DeliveryFilter,
    request: PageRequest,
  ): Promise<LogAccess & { page: Page<DeliveryRecord> }> {
    // Walks past what the filter leaves out.
    const rows = await this.sql.runInTurn(reader.principalId, PAGE, { ...reader, ...filter, ...before(request) });
    const { facts, page } = toList(rows, request.limit);
    const subscription = rows[0]?.subscription ?? null;
    const next = page.next ?? rows[0]?.lookedTo ?? null;
    return { facts, subscription, page: { items: page.items.map(withAttempts), next } };
  }

  /** One delivery of the subscription with the exact text that is sent, or null. */
  async find(
    reader: LogReader,
    deliveryId: string,
  ): Promise<LogAccess & { delivery: (DeliveryRecord & { body: string }) | null }> {
    const { delivery, ...access } = await this.sql.one(FIND, { ...reader, deliveryId });
    return { ...access, delivery: delivery === null ? null : { ...withAttempts(delivery), body: delivery.body } };
  }

  /** Makes a finished delivery of an active subscription due again; false when it is none. One of many callers gets true. */
  async redeliver(subscriptionId: string, deliveryId: string): Promise<boolean> {
    return (await this.sql.run(REDELIVER, { subscriptionId, deliveryId })).length > 0;
  }

  /** Makes finished deliveries of an active subscription due again, oldest first, as many as the limit allows. */
  async replay(subscriptionId: string, replay: Replay): Promise<Replayed> {
    const [replayed] = await this.sql.runInTurn(subscriptionId, REPLAY, { subscriptionId, ...replay });
    if (replayed === undefined) throw new Error('delivery_replay answered no row');
    return replayed;
  }

  /** Stores an event and its delivery to this one subscription; false when that is not active. */
  async addTest(subscriptionId: string, test: TestDelivery): Promise<boolean> {
    return (await this.sql.run(TEST, { subscriptionId, ...test })).length > 0;
  }
}

function withAttempts({ attempts, ...delivery }: Stored<DeliveryRecord>): DeliveryRecord {
  const began = (attempts ?? []).map((attempt) => ({ ...attempt, startedAt: new Date(attempt.startedAt) }));
  return { ...delivery, attempts: began };
}
