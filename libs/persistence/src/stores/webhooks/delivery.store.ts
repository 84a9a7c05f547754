import { type EventType, type FailurePhase, RULES } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { inputRows } from '../../sql/input';
import type { Page, PagePosition } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { scopesFollowedBy } from '../facts/access-facts';
import { founderOf, hostOf, type Look, type OverdueDelivery, targetOf } from './pending-delivery';

/** A claimed attempt with all the data that it needs, from the moment of the claim. */
export interface DeliveryAttempt {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
  /** Bare UUID. */
  eventId: string;
  eventType: string;
  requestId: string | null;
  /** W3C Trace Context of the request that caused the event, or null. */
  traceparent: string | null;
  /** The exact text to sign and send. */
  body: string;
  /** From 1. It is also the fence: only the result of the current attempt is accepted. */
  attempt: number;
  /** The attempt's place in the retry schedule, from 1. A redelivery restarts the schedule, but not the numbers. */
  scheduledAttempt: number;
  targetUrl: string;
  /** Host and port of the URL. */
  targetHost: string;
  secretSealed: string;
  /** The previous secret during the grace period of a rotation, else null. */
  previousSecretSealed: string | null;
}

/** The result of an attempt. */
export interface AttemptResult {
  deliveryId: string;
  attempt: number;
  startedAt: Date;
  latencyMs: number;
  statusCode: number | null;
  errorPhase: FailurePhase | null;
  error: string | null;
  status: 'succeeded' | 'pending' | 'dead';
  /** Milliseconds from now, if the status is `pending`. */
  retryInMs: number | null;
}

/** The effect of recording a result. */
export interface Recorded {
  /** False if nothing was written: a later attempt has started, or the result was already recorded. */
  isRecorded: boolean;
  /** Set if this result disabled the subscription. */
  disabledReason: DisabledReason | null;
}
export type DisabledReason = 'gone' | 'failing';

export interface DeliverySettings {
  /** The maximum duration of an attempt, including its recording. After it, another worker may repeat the attempt. */
  leaseMs: number;
  /**
   * A subscription is disabled after it has failed for this long. A success or a failure of our own proxy interrupts the period.
   */
  disableAfterMs: number;
}

const SHARED: EventType = 'shared.snapshot.created';

/** The phase of a failure in which the receiver was not contacted. It does not count as the receiver's failure. */
const NOT_ASKED: FailurePhase = 'proxy';

/**
 * True if the tenant of delivery `d` may know of the event now. For an event about another tenant's subject, it needs a current
 * right. This is checked for each attempt, whenever the event was created.
 */
const MAY_KNOW = `CASE d.event_type WHEN '${SHARED}' THEN (
       SELECT true FROM outbox_events o
        CROSS JOIN LATERAL (SELECT n.subject_key FROM snapshots n WHERE n.snapshot_id = o.snapshot_id LIMIT 1) n
        CROSS JOIN LATERAL (SELECT s.subject_key, s.owner_tenant_id FROM subjects s
                             WHERE s.subject_key = n.subject_key LIMIT 1) s
        WHERE o.event_id = d.event_id AND (${scopesFollowedBy('d.tenant_id')}) && '{${RULES.followShared.subject.join()}}' LIMIT 1) IS TRUE
       ELSE true END`;

const IS_SENT = `s.status = 'active' AND s.deleted_at IS NULL AND due.may_know`;

/**
 * Claims attempts. If the subscription is inactive or the tenant may not know of the event, the delivery becomes `skipped` here,
 * at the last moment. The rows are found by their key first and checked afterwards, because with a condition on the status the
 * planner could scan the index of all due deliveries.
 */
const CLAIM = statement<{ deliveryIds: readonly string[]; leaseMs: number }, Omit<DeliveryAttempt, 'targetHost'>>(
  'delivery_claim',
  `WITH asked AS MATERIALIZED (
     SELECT delivery_id, event_id, tenant_id, event_type, status, next_at, lease_until FROM deliveries
      WHERE delivery_id = ANY (:deliveryIds::uuid[])
        FOR UPDATE SKIP LOCKED
   ), due AS MATERIALIZED (
     SELECT delivery_id, ${MAY_KNOW} AS may_know FROM asked d
      WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
   ), claimed AS (
     UPDATE deliveries d
        SET status = CASE WHEN ${IS_SENT} THEN 'pending' ELSE 'skipped' END,
            skipped_reason = CASE WHEN s.status <> 'active' OR s.deleted_at IS NOT NULL THEN 'subscription_inactive'
                                  WHEN NOT due.may_know THEN 'no_grant' END,
            attempt = d.attempt + CASE WHEN ${IS_SENT} THEN 1 ELSE 0 END,
            lease_until = CASE WHEN ${IS_SENT} THEN now() + :leaseMs * interval '1 millisecond' END,
            finished_at = CASE WHEN ${IS_SENT} THEN NULL ELSE now() END
       FROM due, webhook_subscriptions s
      WHERE d.delivery_id = due.delivery_id AND s.subscription_id = d.subscription_id
     RETURNING d.delivery_id, d.subscription_id, d.tenant_id, d.event_id, d.event_type, d.status, d.attempt,
               d.attempt - d.retries_from AS scheduled_attempt, s.target_url, s.secret_sealed,
               CASE WHEN s.previous_secret_until > now() THEN s.previous_secret_sealed END AS previous_secret_sealed
   )
   SELECT c.delivery_id AS "deliveryId", c.subscription_id AS "subscriptionId", c.tenant_id AS "tenantId",
          c.event_id AS "eventId", c.event_type AS "eventType", o.request_id AS "requestId", o.traceparent, o.body,
          c.attempt, c.scheduled_attempt AS "scheduledAttempt", c.target_url AS "targetUrl",
          c.secret_sealed AS "secretSealed", c.previous_secret_sealed AS "previousSecretSealed"
     FROM claimed c JOIN outbox_events o ON o.event_id = c.event_id
    WHERE c.status = 'pending'`,
);

/** A result as an input row of the statement. */
type ResultInput = Omit<AttemptResult, 'startedAt'> & { startedAt: string };

/**
 * Records attempts, and updates deliveries and subscriptions. A subscription's row is written only if it changes (first failure,
 * first success after a failure, disabled), so that deliveries do not queue for its lock.
 */
const RECORD = statement<
  { inputs: readonly ResultInput[]; disableAfterMs: number },
  { deliveryId: string; disabledReason: DisabledReason | null }
>(
  'delivery_record',
  `WITH settled AS (
     UPDATE deliveries d
        SET status = i.status,
            lease_until = NULL,
            next_at = CASE i.status WHEN 'pending' THEN now() + i.retry_in_ms * interval '1 millisecond' ELSE d.next_at END,
            finished_at = CASE i.status WHEN 'pending' THEN NULL ELSE now() END
       FROM ${inputRows({
         delivery_id: 'uuid',
         attempt: 'int',
         started_at: 'text',
         latency_ms: 'int',
         status_code: 'int',
         error_phase: 'text',
         error: 'text',
         status: 'text',
         retry_in_ms: 'int',
       })}
      WHERE d.delivery_id = i.delivery_id AND (d.attempt = i.attempt AND d.lease_until IS NOT NULL) IS TRUE
     RETURNING d.subscription_id, d.delivery_id, i.attempt, i.started_at, i.latency_ms, i.status_code, i.error_phase,
               i.error, i.status
   ), logged AS (
     INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error)
     SELECT delivery_id, attempt, started_at::timestamptz, latency_ms, status_code, error_phase, error FROM settled
   ), outcome AS (
     SELECT subscription_id, bool_or(status = 'succeeded' OR (error_phase = '${NOT_ASKED}') IS TRUE) AS excused,
            coalesce(bool_or(status_code = 410), false) AS gone
       FROM settled GROUP BY subscription_id
   ), changing AS MATERIALIZED (
     SELECT s.subscription_id, o.excused,
            CASE WHEN o.gone THEN 'gone'
                 WHEN NOT o.excused AND s.failing_since < now() - :disableAfterMs * interval '1 millisecond' THEN 'failing'
            END AS disabled_reason
       FROM outcome o JOIN webhook_subscriptions s ON s.subscription_id = o.subscription_id
      WHERE s.status = 'active'
        AND (o.gone OR CASE WHEN o.excused THEN s.failing_since IS NOT NULL
                            ELSE s.failing_since IS NULL OR s.failing_since < now() - :disableAfterMs * interval '1 millisecond' END)
      ORDER BY s.subscription_id
        FOR NO KEY UPDATE OF s
   ), changed AS (
     UPDATE webhook_subscriptions s
        SET failing_since = CASE WHEN c.excused OR c.disabled_reason IS NOT NULL THEN NULL
                                 ELSE coalesce(s.failing_since, now()) END,
            status = CASE WHEN c.disabled_reason IS NULL THEN s.status ELSE 'disabled' END,
            disabled_reason = coalesce(c.disabled_reason, s.disabled_reason),
            disabled_at = CASE WHEN c.disabled_reason IS NULL THEN s.disabled_at ELSE now() END
       FROM changing c
      WHERE s.subscription_id = c.subscription_id
   )
   SELECT settled.delivery_id AS "deliveryId", changing.disabled_reason AS "disabledReason"
     FROM settled LEFT JOIN changing ON changing.subscription_id = settled.subscription_id`,
);

/**
 * Selects overdue deliveries. The position is always present, so that a generic plan starts its scan there. Founders take turns,
 * and so do the subscriptions of one founder, so that many deliveries of one do not hide the others.
 */
const OVERDUE = statement<
  {
    overdueMs: number;
    nextAt: string | number | null;
    deliveryId: string | number | null;
    rows: number;
    limit: number;
  },
  { item: Omit<OverdueDelivery, 'targetHost'>; targetUrl: string; looked: number; position: PagePosition }
>(
  'delivery_overdue',
  `WITH looked AS MATERIALIZED (
     SELECT delivery_id, subscription_id, tenant_id, next_at, ${founderOf('due.tenant_id')} AS founder_id,
            row_number() OVER (PARTITION BY subscription_id ORDER BY next_at, delivery_id) AS place
       FROM (SELECT * FROM deliveries
              WHERE status = 'pending' AND next_at < now() - :overdueMs * interval '1 millisecond'
                AND next_at >= coalesce(:nextAt::timestamptz, '-infinity')
                AND (next_at, delivery_id)
                    > (coalesce(:nextAt::timestamptz, '-infinity'),
                       coalesce(:deliveryId::uuid, '00000000-0000-0000-0000-000000000000'))
                AND (lease_until IS NULL OR lease_until <= now())
              ORDER BY next_at, delivery_id LIMIT :rows::int) due
   ), given AS MATERIALIZED (
     SELECT * FROM looked d
      ORDER BY row_number() OVER (PARTITION BY d.founder_id ORDER BY d.place, d.next_at, d.delivery_id), d.next_at,
               d.delivery_id
      LIMIT :limit::int
   )
   SELECT d.delivery_id AS "item.deliveryId", d.subscription_id AS "item.subscriptionId", d.tenant_id AS "item.tenantId",
          d.founder_id AS "item.founderId",
          (extract(epoch FROM clock_timestamp() - d.next_at) * 1000)::float8 AS "item.dueForMs", s.target_url AS "targetUrl", (SELECT count(*) FROM looked)::int AS looked,
          (SELECT ARRAY[next_at::text, delivery_id::text] FROM looked ORDER BY looked.next_at DESC, looked.delivery_id DESC LIMIT 1)
            AS position
     FROM given d ${targetOf('d.subscription_id')}`,
);

const MAX_ROWS = 100;
const MAX_RUNNING = 2;

/** Deliveries and their attempts. Their state is in PostgreSQL, independent of queues and workers. */
export class DeliveryStore {
  private readonly claims: Coalescer<string, DeliveryAttempt | null>;
  private readonly results: Coalescer<AttemptResult, Recorded>;

  constructor(
    private readonly sql: Sql,
    settings: DeliverySettings,
  ) {
    const { sql: shared, lone } = sql.sharing;
    const limits = { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING, lone };
    this.claims = new Coalescer({
      run: async (deliveryIds, isAlone) => {
        const { leaseMs } = settings;
        const attempts = await (isAlone ? sql : shared).run(CLAIM, { deliveryIds, leaseMs });
        const claimed = new Map(attempts.map((attempt) => [attempt.deliveryId, attempt]));
        return deliveryIds.map((deliveryId) => {
          const attempt = claimed.get(deliveryId);
          // An id that occurs twice in the batch is claimed once.
          claimed.delete(deliveryId);
          return { value: attempt === undefined ? null : { ...attempt, targetHost: hostOf(attempt.targetUrl) } };
        });
      },
      ...limits,
    });
    this.results = new Coalescer({
      run: async (results, isAlone) => {
        const { disableAfterMs } = settings;
        const rows = await (isAlone ? sql : shared).run(RECORD, { inputs: results.map(toInput), disableAfterMs });
        const recorded = new Map(rows.map((row) => [row.deliveryId, row]));
        return results.map(({ deliveryId }) => {
          const row = recorded.get(deliveryId);
          return { value: { isRecorded: row !== undefined, disabledReason: row?.disabledReason ?? null } };
        });
      },
      ...limits,
    });
  }

  /**
   * Claims the delivery's next attempt. Returns null if there is nothing to do: it is not due, finished, claimed by another
   * worker, or `skipped` because its subscription is inactive or its tenant lost the right. Concurrent claims share a statement.
   */
  claim(deliveryId: string): Promise<DeliveryAttempt | null> {
    return this.claims.submit(deliveryId);
  }

  /**
   * Records the attempt, finishes or reschedules the delivery, and notes in the subscription when failures start or stop. A 410
   * disables the subscription, and so does an uninterrupted `disableAfterMs` of receiver failures. It is one statement that only
   * accepts the current attempt's number, and concurrent results share it.
   */
  record(result: AttemptResult): Promise<Recorded> {
    return this.results.submit(result);
  }

  /** Returns deliveries that have been overdue without a worker. Founders take turns. */
  async overdue({ overdueMs, rows, limit, after }: Look): Promise<Page<OverdueDelivery>> {
    const [nextAt = null, deliveryId = null] = after ?? [];
    const found = await this.sql.run(OVERDUE, { overdueMs, nextAt, deliveryId, rows, limit });
    const [first] = found;
    return {
      items: found.map(({ item, targetUrl }) => ({ ...item, targetHost: hostOf(targetUrl) })),
      next: first === undefined || first.looked < rows ? null : first.position,
    };
  }
}

function toInput(result: AttemptResult): ResultInput {
  return {
    ...result,
    startedAt: result.startedAt.toISOString(),
    latencyMs: Math.round(result.latencyMs),
    retryInMs: result.retryInMs === null ? null : Math.round(result.retryInMs),
  };
}
