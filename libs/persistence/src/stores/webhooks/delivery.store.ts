import { type FailurePhase } from '@iss/domain';
import { Coalescer } from '../../sql/coalescer';
import type { Page, PagePosition } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { hostOf, type SearchBounds, type OverdueDelivery } from './pending-delivery';

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
  /** The target of the attempt. */
  targetUrl: string;
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

const CLAIM = statement<{ deliveryIds: readonly string[]; leaseMs: number }, Omit<DeliveryAttempt, 'targetHost'>>(
  'delivery_claim',
);

/** A result as an input row of the statement. */
type ResultInput = Omit<AttemptResult, 'startedAt'> & { startedAt: string };

const RECORD = statement<
  { inputs: readonly ResultInput[]; disableAfterMs: number },
  { deliveryId: string; disabledReason: DisabledReason | null }
>('delivery_record');

const OVERDUE = statement<
  {
    overdueMs: number;
    nextAt: string | number | null;
    deliveryId: string | number | null;
    rows: number;
    limit: number;
  },
  { item: Omit<OverdueDelivery, 'targetHost'>; targetUrl: string; looked: number; position: PagePosition }
>('delivery_overdue');

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
   * of its current target disables the subscription, and so does an uninterrupted `disableAfterMs` of receiver failures. It is one statement that only
   * accepts the current attempt's number, and concurrent results share it.
   */
  record(result: AttemptResult): Promise<Recorded> {
    return this.results.submit(result);
  }

  /** Returns deliveries that have been overdue without a worker. Founders take turns. */
  async overdue({ overdueMs, rows, limit, after }: SearchBounds): Promise<Page<OverdueDelivery>> {
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
