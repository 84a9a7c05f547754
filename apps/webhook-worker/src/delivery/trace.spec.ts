import { traceAttempt } from './trace';

const EVENT_ID = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

const attemptOf = (traceparent: string | null) => ({
  traceparent,
  eventId: EVENT_ID,
  eventType: 'identity.snapshot.created',
  deliveryId: EVENT_ID,
  subscriptionId: EVENT_ID,
  targetHost: 'receiver.example',
  attempt: 1,
});

it.each(['00', '01'])('continues the trace with a new span id and the same flags %s', (flags) => {
  const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-${flags}`;
  const attempts = [1, 2].map(() => traceAttempt(attemptOf(traceparent)));
  for (const attempt of attempts) {
    expect(attempt.traceId).toBe(TRACE_ID);
    expect(attempt.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-${flags}$`));
  }
  expect(new Set([traceparent, ...attempts.map((attempt) => attempt.traceparent)]).size).toBe(3);
});

it.each([null, '', 'nonsense', `01-${TRACE_ID}-00f067aa0ba902b7-01`])(
  'derives one trace id for all attempts of an event with the traceparent %j',
  (traceparent) => {
    const attempt = traceAttempt(attemptOf(traceparent));
    expect(attempt.traceId).toBe('5b1f3f4e1c5e4a0e9d0c2f6f3f0f7a10');
    expect(attempt.traceparent).toMatch(/^00-5b1f3f4e1c5e4a0e9d0c2f6f3f0f7a10-[0-9a-f]{16}-01$/);
  },
);
