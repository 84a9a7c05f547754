import { randomUUID } from 'node:crypto';

/** The attempt's part of a distributed trace (W3C Trace Context, version 00). */
export interface AttemptTrace {
  /** 32 hexadecimal digits, the same for all that one request caused. */
  traceId: string;
  /** The header of the attempt, under a span id of its own. */
  traceparent: string;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;
const SAMPLED = '01';

/** Continues the trace of the request that caused the event; an event without one has a trace named by its own id. */
export function traceAttempt({ traceparent, eventId }: { traceparent: string | null; eventId: string }): AttemptTrace {
  const [, traceId = eventId.replaceAll('-', ''), flags = SAMPLED] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  return { traceId, traceparent: `00-${traceId}-${spanId()}-${flags}` };
}

/** 16 hexadecimal digits, 62 bits of them random: UUIDs draw on randomness in stock, where random bytes are fetched each time. */
function spanId(): string {
  const uuid = randomUUID();
  return uuid.slice(19, 23) + uuid.slice(24);
}
