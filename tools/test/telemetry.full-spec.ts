import { randomBytes } from 'node:crypto';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../testing/otlp-receiver.ts';
import { type Product, startProduct } from '../testing/product.ts';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import { envelope, TestTenant } from '../testing/tenant.ts';
import { waitFor } from '../testing/wait-for.ts';

const [INTERNAL, SERVER, CLIENT, CONSUMER] = [1, 2, 3, 5];
const STOP_MS = 10_000;
const TOGETHER = 60;

let otlp: OtlpReceiver;
let receiver: Receiver;
let product: Product;
let tenant: TestTenant;

beforeAll(async () => {
  [otlp, receiver] = await Promise.all([startOtlpReceiver(), startReceiver()]);
  product = await startProduct({
    queue: 'postgresql',
    database: 'tests',
    gateways: 1,
    workers: 1,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=p%40ss',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      // Spans are sent only when the processes end.
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_BSP_MAX_QUEUE_SIZE: '100000',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    },
  });
  tenant = await TestTenant.open(product, 'acme');
  await tenant.subscribe(receiver);
});

afterAll(async () => {
  await product?.close();
  await Promise.all([otlp?.stop(), receiver?.stop()]);
});

interface Sent {
  traceId: string;
  parentSpanId: string;
  requestId: string | null;
}

/** Creates a subject with a trace context of the caller. */
async function create(subjectId: string, flags = '01'): Promise<Sent> {
  const [traceId, parentSpanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const response = await fetch(`${product.gateways[0]?.url}/v1/tenants/acme/entity-states`, {
    method: 'POST',
    headers: {
      ...(await product.authorization(tenant.owner)),
      'Content-Type': 'application/json',
      traceparent: `00-${traceId}-${parentSpanId}-${flags}`,
    },
    body: JSON.stringify(envelope(subjectId)),
  });
  expect([response.status, await response.text()]).toEqual([201, expect.any(String)]);
  return { traceId, parentSpanId, requestId: response.headers.get('x-request-id') };
}

const ofTrace = (traceId: string): ReceivedSpan[] => otlp.spans.filter((span) => span.traceId === traceId);

const only = <T>(found: readonly T[]): T => {
  const [one, ...others] = found;
  if (one === undefined || others.length > 0) throw new Error(`${found.length} found`);
  return one;
};

describe('enabled telemetry', () => {
  let alone: Sent;
  let unsampled: Sent;
  let together: Sent[];
  const secretSubject = `named-after-somebody-${randomBytes(4).toString('hex')}`;

  beforeAll(async () => {
    receiver.script({ status: 503 });
    alone = await create(secretSubject);
    await receiver.waitForRequests(2);
    unsampled = await create(`${secretSubject}-2`, '00');
    together = await Promise.all(Array.from({ length: TOGETHER }, (_, index) => create(`together-${index}`)));
    await receiver.waitForRequests(3 + TOGETHER);
    const settled = `SELECT count(*)::int AS open FROM deliveries WHERE status = 'pending'`;
    await waitFor(async () => (await product.query<{ open: number }>(settled))[0]?.open === 0, {
      what: 'every delivery to be recorded',
    });
    expect(otlp.spans).toEqual([]);
    await Promise.all([...product.gateways, ...product.workers].map((each) => each.terminate()));
  });

  it('sends one trace from the caller to the receiver before the processes exit', () => {
    const spans = ofTrace(alone.traceId);
    const request = only(spans.filter(({ kind }) => kind === SERVER));
    expect(request).toMatchObject({
      service: 'api-gateway',
      name: 'POST /v1/tenants/:tenant_id/entity-states',
      parentSpanId: alone.parentSpanId,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/tenants/:tenant_id/entity-states',
        'http.response.status_code': 201,
        'iss.request_id': alone.requestId,
      },
      isError: false,
    });
    const statements = spans.filter(({ service, kind }) => service === 'api-gateway' && kind === CLIENT);
    expect(statements.map(({ name }) => name)).toContain('snapshot_create');
    for (const statement of statements) {
      expect(statement).toMatchObject({
        parentSpanId: request.spanId,
        attributes: { 'db.system.name': 'postgresql', 'db.query.summary': statement.name },
      });
    }

    // The receiver answered the first attempt with 503.
    const deliveries = spans.filter(({ kind }) => kind === CONSUMER);
    expect(deliveries.map(({ isError }) => isError).sort()).toEqual([false, true]);
    for (const delivery of deliveries) {
      expect(delivery).toMatchObject({
        service: 'webhook-worker',
        name: 'process identity.snapshot.created',
        parentSpanId: request.spanId,
      });
      const inside = spans.filter(({ parentSpanId }) => parentSpanId === delivery.spanId);
      expect(inside.map(({ name }) => name).sort()).toEqual(['POST', 'delivery_record']);
    }
    const posts = spans.filter(({ name }) => name === 'POST');
    expect(posts.map(({ attributes }) => attributes['http.response.status_code']).sort()).toEqual([204, 503]);
    const told = receiver.requests.map(({ headers }) => headers['traceparent']);
    for (const { spanId } of posts) expect(told).toContain(`00-${alone.traceId}-${spanId}-01`);
  });

  it('records no spans for an unsampled trace, and forwards its context', () => {
    expect(ofTrace(unsampled.traceId)).toEqual([]);
    const told = receiver.requests.map(({ headers }) => String(headers['traceparent']));
    expect(told).toContainEqual(expect.stringMatching(new RegExp(`^00-${unsampled.traceId}-[0-9a-f]{16}-00$`)));
  });

  it('links the spans of requests that share a statement to that statement', () => {
    const traces = together.map(({ traceId }) => ofTrace(traceId));
    const creates = traces.map((spans) => {
      const request = only(spans.filter(({ kind }) => kind === SERVER));
      const one = only(spans.filter(({ name }) => name === 'snapshot_create'));
      expect(one.parentSpanId).toBe(request.spanId);
      return one;
    });
    const shared = creates.filter(({ attributes }) => Number(attributes['db.operation.batch.size']) > 1);
    expect(shared.length).toBeGreaterThan(0);
    for (const statement of shared) {
      const size = Number(statement.attributes['db.operation.batch.size']);
      expect(statement.kind).toBe(CLIENT);
      // The spans of the other requests link to the shared statement, which links to those requests.
      const others = creates.filter(({ links }) => links.some(({ spanId }) => spanId === statement.spanId));
      expect(others).toHaveLength(size - 1);
      expect(others.every(({ kind }) => kind === INTERNAL)).toBe(true);
      expect(statement.links.map(({ spanId }) => spanId).sort()).toEqual(
        others.map(({ parentSpanId }) => parentSpanId).sort(),
      );
    }
    expect(creates.filter(({ kind }) => kind === CLIENT).length).toBeLessThan(TOGETHER);
  });

  it('contains no subject ids, principals, tokens or attributes', async () => {
    const { Authorization } = await product.authorization(tenant.owner);
    const all = JSON.stringify([otlp.spans, otlp.points]);
    const { attributes } = envelope('x') as { attributes: unknown };
    const secrets = [secretSubject, 'together-1', tenant.owner, String(Authorization).slice(7)];
    for (const secret of [...secrets, JSON.stringify(attributes)]) expect(all).not.toContain(secret);
  });

  it('also records requests that Express handles', () => {
    const request = only(otlp.spans.filter(({ name }) => name === 'POST /v1/webhook-subscriptions'));
    const statements = otlp.spans.filter(({ parentSpanId }) => parentSpanId === request.spanId);
    expect(statements.map(({ kind }) => kind)).toContain(CLIENT);
    expect(request.parentSpanId).toBe('');
  });

  it('records no spans for probes', () => {
    expect(otlp.spans.filter(({ name }) => name.includes('readiness') || name.includes('health'))).toEqual([]);
  });

  it('sends the metrics of both processes with the configured headers', () => {
    const route = '/v1/tenants/:tenant_id/entity-states';
    const durations = otlp.points.filter(
      ({ name, attributes }) => name === 'http_request_duration_seconds' && attributes['route'] === route,
    );
    const last = durations.at(-1);
    expect(last).toMatchObject({ service: 'api-gateway', type: 'histogram', value: TOGETHER + 2 });
    expect(last?.buckets).toHaveLength((last?.bounds.length ?? 0) + 1);
    expect(last?.buckets.reduce((sum, count) => sum + count, 0)).toBe(TOGETHER + 2);
    const attempts = otlp.points.filter(
      ({ name, attributes }) => name === 'webhook_attempts_total' && attributes['status'] === 'succeeded',
    );
    expect(attempts.at(-1)).toMatchObject({ service: 'webhook-worker', type: 'sum', value: TOGETHER + 2 });
    expect(otlp.points).toContainEqual(
      expect.objectContaining({ name: 'service_ready', type: 'gauge', service: 'api-gateway' }),
    );
    expect(otlp.points.some(({ attributes }) => 'service' in attributes)).toBe(false);
    expect(new Set(otlp.headers.map((headers) => headers['x-api-key']))).toEqual(new Set(['p@ss']));
  });

  it('delays nothing while the collector is down, and warns at most once a minute', async () => {
    await otlp.stop();
    const startedAt = new Date();
    await Promise.all([...product.gateways, ...product.workers].map((each) => each.start()));
    const before = receiver.requests.length;
    await Promise.all(Array.from({ length: 20 }, (_, index) => create(`unheard-${index}`)));
    await receiver.waitForRequests(before + 20);
    // Counts the warnings in each log since the restart.
    const said = (): number[] =>
      product
        .logTail()
        .split('--- ')
        .filter((log) => /^(gateway|worker)/.test(log))
        .map(
          (log) => log.split('\n').filter((line) => line.includes('Telemetry cannot be sent') && isSince(line)).length,
        );
    const isSince = (line: string): boolean => new Date(line.split(' ')[0] ?? '') >= startedAt;
    await waitFor(() => said().every((lines) => lines > 0), { what: 'a warning of each process' });
    const minutes = Math.ceil((Date.now() - startedAt.getTime()) / 60_000);
    for (const lines of said()) expect(lines).toBeLessThanOrEqual(minutes);
    const ends = await Promise.all([...product.gateways, ...product.workers].map((each) => each.terminate()));
    for (const { how, tookMs } of ends) {
      expect(how).toBe('exit code 0');
      expect(tookMs).toBeLessThan(STOP_MS);
    }
    expect(product.faults()).toEqual([]);
  });
});
