import { eventIdOf, signDelivery } from '@iss/domain';
import { type AttemptResult, type DeliveryAttempt, DeliveryStore, type PendingDelivery } from '@iss/persistence';
import { type LineMembers, lineWriter, LOGGER, type Logger, rarely, type Warn, warnTo } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Injectable } from '@nestjs/common';
import { Liveness, type WorkWatch } from '../health/liveness';
import { WorkerMetrics } from '../health/worker-metrics';
import { NewestCheckpoint } from '../log/newest-checkpoint';
import { leaseMs, SETTINGS, type WorkerSettings } from '../settings';
import { DeliveryFailure } from './delivery-failure';
import type { AttemptOutcome } from './lane';
import { decideRetry } from './retry-policy';
import { type AttemptTrace, traceAttempt } from './trace';
import { untilDeadline } from './until-deadline';
import { type WebhookAnswer, WebhookClient } from './webhook-client';

const USER_AGENT = 'identity-state-service-webhooks/1.0';
/** A wake-up that arrives too early would find nothing to do. */
const WAKE_MARGIN_MS = 20;

/** Makes attempts: claims, signs, sends and records. */
@Injectable()
export class DeliveryService {
  private recordings = 0;
  private onRecorded: (() => void) | undefined;
  private readonly warn: Warn;
  private readonly logDelivered: (members: LineMembers) => void;

  constructor(
    @Inject(DeliveryStore) private readonly deliveries: Pick<DeliveryStore, 'claim' | 'record'>,
    @Inject(EventQueue) private readonly queue: Pick<EventQueue, 'wakeDelivery'>,
    @Inject(WebhookClient) private readonly client: Pick<WebhookClient, 'post'>,
    @Inject(WorkerMetrics)
    private readonly metrics: Pick<WorkerMetrics, 'attempt' | 'delivered' | 'subscriptionDisabled'>,
    @Inject(Liveness) private readonly liveness: { readonly deliveries: Pick<WorkWatch, 'moved'> },
    @Inject(NewestCheckpoint) private readonly checkpoint: Pick<NewestCheckpoint, 'header'>,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'retryScheduleMs' | 'secretBox' | 'totalTimeoutMs'>,
  ) {
    this.logDelivered = lineWriter(logger, 'info', 'Delivered');
    this.warn = rarely(warnTo(logger));
  }

  /** Makes the delivery's next attempt if it is due. Resolves when it was sent. Its result is recorded afterwards. */
  async deliver(pending: PendingDelivery): Promise<AttemptOutcome> {
    let attempt: DeliveryAttempt | null;
    try {
      attempt = await this.deliveries.claim(pending.deliveryId);
      this.liveness.deliveries.moved();
    } catch (error) {
      this.warn('Deliveries cannot be claimed; the sweep will retry', error);
      return { kind: 'nothing' };
    }
    if (attempt === null) return { kind: 'nothing' };
    const trace = traceAttempt(attempt);
    const result = await this.send(attempt, trace);
    trace.sent(result);
    this.recordings += 1;
    const { targetHost } = attempt;
    trace
      .within(() => this.record({ ...pending, targetHost }, attempt, trace, result))
      .catch((error: unknown) => this.warn('The result of an attempt was lost; the sweep will retry', error))
      .finally(() => {
        trace.end(result);
        this.recordings -= 1;
        if (this.recordings === 0) this.onRecorded?.();
      });
    return { kind: result.status === 'succeeded' ? 'succeeded' : 'failed', latencyMs: result.latencyMs, targetHost };
  }

  /** Resolves when the result of every attempt is recorded. */
  async recorded(): Promise<void> {
    if (this.recordings > 0) await new Promise<void>((resolve) => (this.onRecorded = resolve));
  }

  private async send(attempt: DeliveryAttempt, trace: AttemptTrace): Promise<AttemptResult> {
    const checkpoint = await this.checkpoint.header();
    const startedAt = new Date();
    const started = performance.now();
    let answer: WebhookAnswer | undefined;
    let failure: DeliveryFailure | undefined;
    try {
      const headers = this.headersFor(attempt, trace, startedAt, checkpoint);
      answer = await this.client.post(attempt.targetUrl, headers, attempt.body);
      failure = failureOf(answer);
    } catch (error) {
      failure = error instanceof DeliveryFailure ? error : new DeliveryFailure('response', 'The request failed.');
    }
    const latencyMs = performance.now() - started;
    if (failure?.phase === 'proxy') this.warn('Deliveries cannot pass the egress proxy', failure.cause);
    this.metrics.attempt(failure?.phase ?? 'none', latencyMs);
    const base = {
      deliveryId: attempt.deliveryId,
      targetUrl: attempt.targetUrl,
      attempt: attempt.attempt,
      startedAt,
      latencyMs,
      statusCode: answer?.statusCode ?? null,
      errorPhase: failure?.phase ?? null,
      error: failure?.message ?? null,
    };
    if (failure === undefined) return { ...base, status: 'succeeded', retryInMs: null };
    const decision = decideRetry(
      {
        attempt: attempt.scheduledAttempt,
        retryAfterMs: answer?.retryAfterMs ?? null,
        isGone: answer?.statusCode === 410,
      },
      this.settings.retryScheduleMs,
      Math.random(),
    );
    return decision.retry
      ? { ...base, status: 'pending', retryInMs: decision.inMs }
      : { ...base, status: 'dead', retryInMs: null };
  }

  private headersFor(
    attempt: DeliveryAttempt,
    trace: AttemptTrace,
    at: Date,
    checkpoint: string | null,
  ): Record<string, string> {
    return {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      ...(attempt.requestId !== null && { 'x-request-id': attempt.requestId }),
      traceparent: trace.traceparent,
      ...(checkpoint !== null && { 'x-iss-log-checkpoint': checkpoint }),
      ...signDelivery({
        secrets: this.secretsOf(attempt),
        id: eventIdOf(attempt.eventId),
        timestampSeconds: at.getTime() / 1_000,
        body: attempt.body,
      }),
    };
  }

  private secretsOf(attempt: DeliveryAttempt): string[] {
    try {
      return [attempt.secretSealed, attempt.previousSecretSealed]
        .filter((sealed) => sealed !== null)
        .map((sealed) => this.settings.secretBox.open(sealed, attempt.subscriptionId));
    } catch (error) {
      this.logger.error({ err: error, subscription_id: attempt.subscriptionId }, 'A secret cannot be opened');
      throw new DeliveryFailure('signing', 'The signing secret cannot be opened. Rotate it.');
    }
  }

  /**
   * Records the result and writes the attempt's only log line. The line has the target and the outcome, and never the
   * content.
   */
  private async record(
    pending: PendingDelivery,
    attempt: DeliveryAttempt,
    trace: AttemptTrace,
    result: AttemptResult,
  ): Promise<void> {
    // Until the lease ends, because then another worker may make the attempt.
    const recorded = await untilDeadline(
      () => this.deliveries.record(result),
      result.startedAt.getTime() + leaseMs(this.settings),
      (error) => this.warn('Results of attempts cannot be recorded', error),
    );
    const facts = {
      trace_id: trace.traceId,
      request_id: attempt.requestId,
      event_id: eventIdOf(attempt.eventId),
      event_type: attempt.eventType,
      delivery_id: attempt.deliveryId,
      subscription_id: attempt.subscriptionId,
      tenant_id: attempt.tenantId,
      target_host: attempt.targetHost,
      attempt: result.attempt,
      status: result.status,
      status_code: result.statusCode,
      error_phase: result.errorPhase,
      latency_ms: Math.round(result.latencyMs),
    };
    if (recorded === null || !recorded.isRecorded) {
      this.logger.warn(facts, 'The result was not recorded, because the attempt no longer owns the delivery');
      return;
    }
    this.liveness.deliveries.moved();
    this.metrics.delivered(result.status);
    const { disabledReason } = recorded;
    if (result.status === 'succeeded') this.logDelivered(facts);
    else if (disabledReason === null) this.logger.warn(facts, 'Not delivered');
    else {
      this.metrics.subscriptionDisabled(disabledReason);
      this.logger.warn({ ...facts, disabled_reason: disabledReason }, 'Not delivered. Subscription disabled');
    }
    if (disabledReason === null && result.retryInMs !== null) {
      // If the wake-up is lost, the sweep finds the delivery.
      await this.queue
        .wakeDelivery([pending], result.retryInMs + WAKE_MARGIN_MS)
        .catch((error: unknown) => this.warn('The queue does not accept retries; the sweep will make them', error));
    }
  }
}

/** Returns the failure that a status means. Any 2xx is a success; redirects are not followed. */
function failureOf({ statusCode }: WebhookAnswer): DeliveryFailure | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  const isRedirect = statusCode >= 300 && statusCode < 400;
  return new DeliveryFailure(
    'status',
    `The answer was ${statusCode}${isRedirect ? '; redirects are not followed' : ''}.`,
  );
}
