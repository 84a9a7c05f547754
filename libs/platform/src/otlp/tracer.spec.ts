import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { SpanTracer, TraceIds } from './tracer';

const exporter = new InMemorySpanExporter();
const ids = new TraceIds();
const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = new SpanTracer(provider.getTracer('test'), ids);

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

afterEach(() => exporter.reset());

const begin = (parent: string | null = null, traceId?: string) =>
  tracer.begin({ name: 'request', kind: 'server', parent, attributes: {}, ...(traceId !== undefined && { traceId }) });

const idOf = (span: { traceparent: string }): string => span.traceparent.slice(36, 52);
const statements = () => exporter.getFinishedSpans().filter(({ name }) => name === 'statement');
const parentsOf = (): (string | undefined)[] => statements().map(({ parentSpanContext }) => parentSpanContext?.spanId);

it('continues the trace of the caller with its sampling decision', () => {
  expect(begin(CALLER).traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
  expect(begin(CALLER.replace(/01$/, '00')).traceparent).toMatch(
    /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/,
  );
});

it.each(['', 'nonsense', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])('starts a trace for the parent %j', (given) => {
  expect(begin(given).traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

it('starts a trace with a given id only once', () => {
  const traceId = '5b1f3f4e1c5e4a0e9d0c2f6f3f0f7a10';
  expect(begin(null, traceId).traceparent).toContain(traceId);
  expect(begin(null).traceparent).not.toContain(traceId);
});

it('records a statement only within a running span, as its child', async () => {
  const span = begin();
  expect(await tracer.statement('statement', async () => 1)).toBe(1);
  expect(statements()).toEqual([]);
  await tracer.within(span, () => tracer.statement('statement', async () => 2));
  expect(parentsOf()).toEqual([idOf(span)]);
});

it('assigns bound work to the span that bound it', async () => {
  const [one, other] = [begin(), begin()];
  const later = tracer.within(one, () => tracer.bound(() => tracer.statement('statement', async () => 1)));
  await tracer.within(other, later);
  expect(parentsOf()).toEqual([idOf(one)]);
});

it('records a shared statement in every trace with links between them', async () => {
  const [one, other] = [begin(), begin()];
  const pieces = [{}, {}, {}];
  [one, other].forEach((span, index) => tracer.within(span, () => tracer.note(pieces[index] ?? {})));
  await tracer.carrying(pieces, () => tracer.statement('statement', async () => 1));
  const [leader, rider] = statements();
  expect([leader?.parentSpanContext?.spanId, rider?.parentSpanContext?.spanId]).toEqual([idOf(one), idOf(other)]);
  expect(leader?.attributes).toMatchObject({ 'db.operation.batch.size': 3 });
  expect(leader?.links.map(({ context }) => context.spanId)).toEqual([idOf(other)]);
  expect(rider?.links.map(({ context }) => context.spanId)).toEqual([leader?.spanContext().spanId]);
});

it('records the SQLSTATE of a failed statement and rethrows the error', async () => {
  const failure = Object.assign(new Error('gone'), { code: '57014' });
  const asked = tracer.within(begin(), () => tracer.statement('statement', () => Promise.reject(failure)));
  await expect(asked).rejects.toBe(failure);
  expect(statements()[0]).toMatchObject({
    status: { code: 2 },
    attributes: { 'db.response.status_code': '57014', 'error.type': '57014' },
  });
});

it('records no statement after the end of its span', async () => {
  const span = begin();
  span.end({ name: 'GET /', attributes: { 'http.route': '/' }, error: '500' });
  await tracer.within(span, () => tracer.statement('statement', async () => 1));
  expect(exporter.getFinishedSpans()).toMatchObject([
    { name: 'GET /', attributes: { 'http.route': '/', 'error.type': '500' }, status: { code: 2 } },
  ]);
});
