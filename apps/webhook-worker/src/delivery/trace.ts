import { eventIdOf } from '@iss/domain';
import type { AttemptResult, DeliveryAttempt } from '@iss/persistence';
import { telemetry, type Tracer } from '@iss/platform';
import { randomUUID } from 'node:crypto';

/** The attempt's part of a distributed trace (W3C Trace Context, version 00). */
export interface AttemptTrace {
  /** 32 hexadecimal digits, the same for everything that one request caused. */
  readonly traceId: string;
  /** The header of the attempt, with its own span id. */
  readonly traceparent: string;
  /** Notes that the response arrived, or that none did. */
  sent(result: Pick<AttemptResult, 'statusCode' | 'errorPhase'>): void;
  /** Runs the work as part of the attempt. */
  within<T>(work: () => T): T;
  /** Ends the trace of the attempt. */
  end(result: Pick<AttemptResult, 'status'>): void;
}

/** The parts of an attempt that its trace contains. */
type Traced = Pick<
  DeliveryAttempt,
  'traceparent' | 'eventId' | 'eventType' | 'deliveryId' | 'subscriptionId' | 'targetHost' | 'attempt'
>;

const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;
const SAMPLED = '01';

/**
 * Continues the trace of the request that caused the event. For an event without a trace, starts one named after the
 * event's id.
 */
export function traceAttempt(attempt: Traced): AttemptTrace {
  const { tracer } = telemetry;
  return tracer === null ? withoutSpans(attempt) : withSpans(attempt, tracer);
}

function withoutSpans({ traceparent, eventId }: Traced): AttemptTrace {
  const [, traceId = idOf(eventId), flags = SAMPLED] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId()}-${flags}`,
    sent: () => undefined,
    within: (work) => work(),
    end: () => undefined,
  };
}

/** Creates two spans: the delivery, from its claim until it is recorded, and within it the request to the receiver. */
function withSpans(attempt: Traced, tracer: Tracer): AttemptTrace {
  const { eventId, eventType, deliveryId, subscriptionId, targetHost } = attempt;
  const isKnown = TRACEPARENT.test(attempt.traceparent ?? '');
  const delivery = tracer.begin({
    name: `process ${eventType}`,
    kind: 'consumer',
    parent: isKnown ? attempt.traceparent : null,
    ...(!isKnown && { traceId: idOf(eventId) }),
    attributes: {
      'messaging.system': 'iss_outbox',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': eventType,
      'messaging.message.id': eventIdOf(eventId),
      'iss.delivery_id': deliveryId,
      'iss.subscription_id': subscriptionId,
    },
  });
  const { hostname = '', port = '' } = URL.parse(`https://${targetHost}`) ?? {};
  const request = tracer.begin({
    name: 'POST',
    kind: 'client',
    parent: delivery.traceparent,
    attributes: {
      'http.request.method': 'POST',
      'server.address': hostname,
      ...(port !== '' && { 'server.port': Number(port) }),
      ...(attempt.attempt > 1 && { 'http.request.resend_count': attempt.attempt - 1 }),
    },
  });
  return {
    traceId: request.traceparent.slice(3, 35),
    traceparent: request.traceparent,
    sent: ({ statusCode, errorPhase }) =>
      request.end({
        ...(statusCode !== null && { attributes: { 'http.response.status_code': statusCode } }),
        ...(errorPhase !== null && { error: errorPhase === 'status' ? String(statusCode) : errorPhase }),
      }),
    within: (work) => tracer.within(delivery, work),
    end: ({ status }) =>
      delivery.end({
        attributes: { 'iss.delivery_status': status },
        ...(status !== 'succeeded' && { error: status }),
      }),
  };
}

function idOf(eventId: string): string {
  return eventId.replaceAll('-', '');
}

/**
 * Returns 16 hexadecimal digits, 62 bits of them random. UUIDs use a stock of random bytes, whereas `randomBytes`
 * fetches new ones each time.
 */
function spanId(): string {
  const uuid = randomUUID();
  return uuid.slice(19, 23) + uuid.slice(24);
}
