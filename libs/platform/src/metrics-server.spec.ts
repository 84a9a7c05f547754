import { once } from 'node:events';
import { connect } from 'node:net';
import { EnvError } from './env/env';
import { createRegistry, watchFigure } from './metrics';
import { type MetricsServer, startMetricsServer } from './metrics-server';
import { within } from './within';

const HERE = { metricsPort: 0, host: '127.0.0.1' };

let server: MetricsServer;
let reads = 0;
const url = (path: string): string => `http://127.0.0.1:${server.port}${path}`;

beforeAll(async () => {
  const registry = createRegistry('spec');
  watchFigure(registry, { name: 'spec_figure', help: 'x', read: async () => ++reads });
  server = await startMetricsServer(registry, HERE);
});

afterAll(() => server?.close());

it('serves the metrics, and reads them once for concurrent requests', async () => {
  const peer = connect(server.port, '127.0.0.1');
  peer.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
  peer.write('GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const text = Buffer.concat(await peer.toArray()).toString();
  expect(text.match(/^HTTP\/1\.1 200 OK\r\nContent-Type: text\/plain; version=0\.0\.4/gm)).toHaveLength(3);
  expect(text.match(/^spec_figure.*$/gm)).toEqual(Array.from({ length: 3 }, () => 'spec_figure{service="spec"} 1'));
});

it('returns 404 for another path and 405 for another method', async () => {
  expect((await fetch(url('/health'))).status).toBe(404);
  const posted = await fetch(url('/metrics'), { method: 'POST' });
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
});

it('reports in one line that its port is in use', async () => {
  const second = startMetricsServer(createRegistry('second'), { ...HERE, metricsPort: server.port });
  await expect(second).rejects.toEqual(
    new EnvError(['METRICS_PORT is taken by another process: stop it, or set METRICS_PORT to a free port']),
  );
});

it('closes without an answer to an incomplete request', async () => {
  const other = await startMetricsServer(createRegistry('other'), HERE);
  const peer = connect(other.port, '127.0.0.1');
  // The server has both requests when it answers the first one.
  peer.write('HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\nGET /metrics HTTP/1.1\r\n');
  await once(peer, 'data');
  const rest: Buffer[] = [];
  peer.on('error', () => undefined).on('data', (chunk: Buffer) => rest.push(chunk));
  const closed = once(peer, 'close');
  // Sooner than the connection would be closed because of its silence.
  await within(20_000, other.close());
  await closed;
  expect(rest).toEqual([]);
});
