import { type SpanStart, telemetry, type Tracer } from '@iss/platform';
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

describe('with spans', () => {
  /** The beginnings and ends of spans, in their order. */
  let begun: SpanStart[];
  let ended: [name: string, outcome: object | undefined][];

  beforeEach(() => {
    [begun, ended] = [[], []];
    const tracer: Tracer = {
      begin: (start) => {
        begun.push(start);
        const traceparent = `00-${TRACE_ID}-${String(begun.length).padStart(16, '0')}-01`;
        return { traceparent, end: (outcome) => ended.push([start.name, outcome]) };
      },
      within: (_, work) => work(),
      bound: (work) => work,
      note: () => undefined,
      carrying: (_, work) => work(),
      statement: (_, work) => work(),
    };
    telemetry.tracer = tracer;
  });
  afterEach(() => {
    telemetry.tracer = null;
  });

  it('continues the trace of the event with a span of the delivery, and one of the request in it', () => {
    const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
    const trace = traceAttempt({ ...attemptOf(traceparent), targetHost: 'receiver.example:8443', attempt: 3 });
    expect(trace).toMatchObject({ traceId: TRACE_ID, traceparent: `00-${TRACE_ID}-0000000000000002-01` });
    expect(begun).toMatchObject([
      {
        ...{ name: 'process identity.snapshot.created', kind: 'consumer', parent: traceparent },
        attributes: { 'messaging.message.id': `evt_${EVENT_ID}`, 'iss.delivery_id': EVENT_ID },
      },
      {
        ...{ name: 'POST', kind: 'client', parent: `00-${TRACE_ID}-0000000000000001-01` },
        attributes: {
          ...{ 'server.address': 'receiver.example', 'server.port': 8443, 'http.request.resend_count': 2 },
        },
      },
    ]);
    expect(begun[0]).not.toHaveProperty('traceId');
    trace.sent({ statusCode: 503, errorPhase: 'status' });
    trace.end({ status: 'pending' });
    expect(ended).toEqual([
      ['POST', { attributes: { 'http.response.status_code': 503 }, error: '503' }],
      ['process identity.snapshot.created', { attributes: { 'iss.delivery_status': 'pending' }, error: 'pending' }],
    ]);
  });

  it('begins the trace of an event that has none, and names no error after a success', () => {
    const trace = traceAttempt(attemptOf(null));
    expect(begun[0]).toMatchObject({ parent: null, traceId: EVENT_ID.replaceAll('-', '') });
    expect(Object.keys(begun[1]?.attributes ?? {}).sort()).toEqual(['http.request.method', 'server.address']);
    trace.sent({ statusCode: 204, errorPhase: null });
    trace.end({ status: 'succeeded' });
    expect(ended.map(([, outcome]) => outcome)).toEqual([
      { attributes: { 'http.response.status_code': 204 } },
      { attributes: { 'iss.delivery_status': 'succeeded' } },
    ]);
  });

  it('names the phase as the error if there was no response', () => {
    traceAttempt(attemptOf(null)).sent({ statusCode: null, errorPhase: 'connect' });
    expect(ended).toEqual([['POST', { error: 'connect' }]]);
  });
});
