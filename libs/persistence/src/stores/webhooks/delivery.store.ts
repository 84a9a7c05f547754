import type { DeliveryStatus } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import { inputArrays, type InputColumns, inputRows, type Sql, statement } from '../../sql/sql';
import type { PendingDelivery } from './outbox.store';

/** A claimed attempt: all that is needed to make it, as it stood at the moment of the claim. */
export interface DeliveryAttempt extends PendingDelivery {
  /** Bare UUID. */
  eventId: string;
  eventType: string;
  requestId: string | null;
  /** W3C Trace Context of the request that caused the event, or null. */
  traceparent: string | null;
  /** The exact text to sign and send. */
  body: string;
  /** From 1. Also the fence: only this attempt's result counts. */
  attempt: number;
  /** The attempt's place in the retry schedule, from 1: a redelivery starts the schedule anew, not the numbers. */
  scheduledAttempt: number;
  targetUrl: string;
  secretSealed: string;
  /** The secret before the last rotation, while its grace lasts. */
  previousSecretSealed: string | null;
}

/** How an attempt ended. */
export interface AttemptResult {
  deliveryId: string;
  attempt: number;
  startedAt: Date;
  latencyMs: number;
  statusCode: number | null;
  errorPhase: string | null;
  error: string | null;
  status: 'succeeded' | 'pending' | 'dead';
  /** For `pending`: milliseconds from now. */
  retryInMs: number | null;
}

/** What recording a result did. */
export interface Recorded {
  /** False when nothing was written: another attempt has begun since, or the result was recorded before. */
  held: boolean;
  /** Set when this result disabled the subscription. */
  disabledReason: DisabledReason | null;
}
export type DisabledReason = 'gone' | 'failing';

export interface DeliverySettings {
  /** How long an attempt may take, recording included, before another worker may repeat it. */
  leaseMs: number;
  /** A subscription that has failed for this long without a success is disabled. */
  disableAfterMs: number;
}

interface ClaimRow {
  delivery_id: string;
  subscription_id: string;
  tenant_id: string;
  event_id: string;
  event_type: string;
  request_id: string | null;
  traceparent: string | null;
  body: string;
  status: DeliveryStatus;
  attempt: number;
  scheduled_attempt: number;
  target_url: string;
  secret_sealed: string;
  previous_secret_sealed: string | null;
}

/**
 * A subscription that is no longer active gets nothing: the delivery becomes `skipped` here, at the last moment. The rows
 * are found by their key first and judged after that: beside the key, a condition on the status would let the planner
 * scan the index of all that is due instead.
 */
const CLAIM = statement<ClaimRow>(
  'delivery_claim',
  `WITH asked AS MATERIALIZED (
     SELECT delivery_id, status, next_at, lease_until FROM deliveries
      WHERE delivery_id = ANY($1::uuid[])
        FOR UPDATE SKIP LOCKED
   ), due AS MATERIALIZED (
     SELECT delivery_id FROM asked
      WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
   ), claimed AS (
     UPDATE deliveries d
        SET status = CASE WHEN s.status = 'active' AND s.deleted_at IS NULL THEN 'pending' ELSE 'skipped' END,
            attempt = d.attempt + CASE WHEN s.status = 'active' AND s.deleted_at IS NULL THEN 1 ELSE 0 END,
            lease_until = CASE WHEN s.status = 'active' AND s.deleted_at IS NULL
                               THEN now() + $2 * interval '1 millisecond' END,
            finished_at = CASE WHEN s.status = 'active' AND s.deleted_at IS NULL THEN NULL ELSE now() END
       FROM due, webhook_subscriptions s
      WHERE d.delivery_id = due.delivery_id AND s.subscription_id = d.subscription_id
     RETURNING d.delivery_id, d.subscription_id, d.tenant_id, d.event_id, d.event_type, d.status, d.attempt,
               d.attempt - d.retries_from AS scheduled_attempt, s.target_url, s.secret_sealed,
               CASE WHEN s.previous_secret_until > now() THEN s.previous_secret_sealed END AS previous_secret_sealed
   )
   SELECT c.*, o.request_id, o.traceparent, o.body FROM claimed c JOIN outbox_events o ON o.event_id = c.event_id`,
);

const RESULT_COLUMNS = {
  delivery_id: 'uuid',
  attempt: 'int',
  started_at: 'text',
  latency_ms: 'int',
  status_code: 'int',
  error_phase: 'text',
  error: 'text',
  status: 'text',
  retry_in_ms: 'int',
} satisfies InputColumns;

/**
 * The attempt, what becomes of the delivery, and what becomes of the subscription. A subscription's row is only touched
 * when it changes (first failure, first success after one, disabled), so that deliveries don't queue for it.
 */
const RECORD = statement<{ delivery_id: string; disabled_reason: DisabledReason | null }>(
  'delivery_record',
  `WITH settled AS (
     UPDATE deliveries d
        SET status = i.status,
            lease_until = NULL,
            next_at = CASE i.status WHEN 'pending' THEN now() + i.retry_in_ms * interval '1 millisecond' ELSE d.next_at END,
            finished_at = CASE i.status WHEN 'pending' THEN NULL ELSE now() END
       FROM ${inputRows(RESULT_COLUMNS)}
      WHERE d.delivery_id = i.delivery_id AND (d.attempt = i.attempt AND d.lease_until IS NOT NULL) IS TRUE
     RETURNING d.subscription_id, d.delivery_id, i.attempt, i.started_at, i.latency_ms, i.status_code, i.error_phase,
               i.error, i.status
   ), logged AS (
     INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error)
     SELECT delivery_id, attempt, started_at::timestamptz, latency_ms, status_code, error_phase, error FROM settled
   ), outcome AS (
     SELECT subscription_id, bool_or(status = 'succeeded') AS succeeded,
            coalesce(bool_or(status_code = 410), false) AS gone
       FROM settled GROUP BY subscription_id
   ), changing AS MATERIALIZED (
     SELECT s.subscription_id, o.succeeded,
            CASE WHEN o.gone THEN 'gone'
                 WHEN NOT o.succeeded AND s.failing_since < now() - $10 * interval '1 millisecond' THEN 'failing'
            END AS disabled_reason
       FROM outcome o JOIN webhook_subscriptions s ON s.subscription_id = o.subscription_id
      WHERE s.status = 'active'
        AND (o.gone OR CASE WHEN o.succeeded THEN s.failing_since IS NOT NULL
                            ELSE s.failing_since IS NULL OR s.failing_since < now() - $10 * interval '1 millisecond' END)
      ORDER BY s.subscription_id
        FOR NO KEY UPDATE OF s
   ), changed AS (
     UPDATE webhook_subscriptions s
        SET failing_since = CASE WHEN c.succeeded OR c.disabled_reason IS NOT NULL THEN NULL
                                 ELSE coalesce(s.failing_since, now()) END,
            status = CASE WHEN c.disabled_reason IS NULL THEN s.status ELSE 'disabled' END,
            disabled_reason = coalesce(c.disabled_reason, s.disabled_reason),
            disabled_at = CASE WHEN c.disabled_reason IS NULL THEN s.disabled_at ELSE now() END
       FROM changing c
      WHERE s.subscription_id = c.subscription_id
   )
   SELECT settled.delivery_id, changing.disabled_reason
     FROM settled LEFT JOIN changing ON changing.subscription_id = settled.subscription_id`,
);

// The position stands there in any case, so that a plan made for every request starts its scan at it.
const OVERDUE = statement<{ delivery_id: string; subscription_id: string; tenant_id: string; position: string }>(
  'delivery_overdue',
  `SELECT delivery_id, subscription_id, tenant_id, next_at::text AS position FROM deliveries
    WHERE status = 'pending' AND next_at < now() - $1 * interval '1 millisecond'
      AND next_at >= coalesce($4::timestamptz, '-infinity')
      AND (next_at, delivery_id)
          > (coalesce($4::timestamptz, '-infinity'), coalesce($5::uuid, '00000000-0000-0000-0000-000000000000'))
      AND (lease_until IS NULL OR lease_until <= now())
      AND subscription_id <> ALL($3::uuid[])
    ORDER BY next_at, delivery_id LIMIT $2`,
);

const MAX_ROWS = 100;
const MAX_RUNNING = 2;

/** Deliveries and their attempts: PostgreSQL owns their state, whatever becomes of queues and workers. */
export class DeliveryStore {
  private readonly claims: Coalescer<string, DeliveryAttempt | null>;
  private readonly results: Coalescer<AttemptResult, Recorded>;

  constructor(
    private readonly sql: Sql,
    settings: DeliverySettings,
  ) {
    const limits = { maxRows: MAX_ROWS, maxRunning: MAX_RUNNING };
    this.claims = new Coalescer(async (ids) => {
      const claimed = new Map(
        (await sql.run(CLAIM, [ids, settings.leaseMs])).map((row) => [row.delivery_id, toAttempt(row)]),
      );
      return ids.map((id) => {
        const attempt = claimed.get(id) ?? null;
        // An id that was asked for twice is given once.
        claimed.delete(id);
        return { value: attempt };
      });
    }, limits);
    this.results = new Coalescer(async (results) => {
      const recorded = new Map(
        (await sql.run(RECORD, [...inputArrays(RESULT_COLUMNS, results.map(toRow)), settings.disableAfterMs])).map(
          (row) => [row.delivery_id, row],
        ),
      );
      return results.map((result) => {
        const row = recorded.get(result.deliveryId);
        return { value: { held: row !== undefined, disabledReason: row?.disabled_reason ?? null } };
      });
    }, limits);
  }

  /**
   * Claims the delivery's next attempt, or null when there is nothing to do now: not due, done, in another worker's
   * hands, or its subscription disabled or deleted (it is `skipped` then). Concurrent claims share a statement.
   */
  claim(deliveryId: string): Promise<DeliveryAttempt | null> {
    return this.claims.submit(deliveryId);
  }

  /**
   * Records the attempt, settles or reschedules the delivery, and notes in the subscription when it starts or stops
   * failing; a 410, or `disableAfterMs` without a success, disables it. One statement, fenced on the attempt's number; concurrent
   * results share it.
   */
  record(result: AttemptResult): Promise<Recorded> {
    return this.results.submit(result);
  }

  /**
   * A page of the deliveries that nobody works on although they were due `overdueMs` ago, longest first, but for some
   * subscriptions. Its position is for the next call.
   */
  async overdue(
    overdueMs: number,
    { limit, after }: PageRequest,
    exceptSubscriptionIds: readonly string[] = [],
  ): Promise<Page<PendingDelivery>> {
    const [nextAt = null, deliveryId = null] = after ?? [];
    const rows = await this.sql.run(OVERDUE, [overdueMs, limit + 1, exceptSubscriptionIds, nextAt, deliveryId]);
    return toPage(
      rows,
      limit,
      (row) => ({ deliveryId: row.delivery_id, subscriptionId: row.subscription_id, tenantId: row.tenant_id }),
      (row) => [row.position, row.delivery_id],
    );
  }
}

function toAttempt(row: ClaimRow): DeliveryAttempt | null {
  if (row.status !== 'pending') return null;
  return {
    deliveryId: row.delivery_id,
    subscriptionId: row.subscription_id,
    tenantId: row.tenant_id,
    eventId: row.event_id,
    eventType: row.event_type,
    requestId: row.request_id,
    traceparent: row.traceparent,
    body: row.body,
    attempt: row.attempt,
    scheduledAttempt: row.scheduled_attempt,
    targetUrl: row.target_url,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
  };
}

function toRow(result: AttemptResult): Record<keyof typeof RESULT_COLUMNS, unknown> {
  return {
    delivery_id: result.deliveryId,
    attempt: result.attempt,
    started_at: result.startedAt.toISOString(),
    latency_ms: Math.round(result.latencyMs),
    status_code: result.statusCode,
    error_phase: result.errorPhase,
    error: result.error,
    status: result.status,
    retry_in_ms: result.retryInMs === null ? null : Math.round(result.retryInMs),
  };
}
