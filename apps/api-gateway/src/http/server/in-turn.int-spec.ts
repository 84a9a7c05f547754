import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { inTurn } from './in-turn';

let server: Server;
let port: number;
/** The requests that reached the listener, in order. */
const waiting: { path: string; response: ServerResponse }[] = [];

beforeAll(async () => {
  server = createServer(inTurn((request, response) => void waiting.push({ path: request.url ?? '', response })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

beforeEach(() => void waiting.splice(0));

afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

it('inTurn passes on one request per connection at a time, in parallel across connections', async () => {
  const [one, other] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  let received = '';
  one.on('data', (chunk: Buffer) => (received += chunk.toString()));
  one.write(get('/1') + get('/2') + get('/3'));
  await waitFor(() => waiting.length === 1);
  other.write(get('/other'));
  await waitFor(() => waiting.length === 2);
  expect(waiting.map(({ path }) => path)).toEqual(['/1', '/other']);
  for (const [at, path] of [
    [0, '/2'],
    [2, '/3'],
  ] as const) {
    waiting[at]?.response.end('done');
    await waitFor(() => waiting.at(-1)?.path === path);
  }
  waiting.at(-1)?.response.end('done');
  await waitFor(() => received.match(/done/g)?.length === 3);
  one.destroy();
  other.destroy();
});

it('inTurn passes on no further request of a closed connection', async () => {
  const peer = connect(port, '127.0.0.1');
  peer.write(get('/1') + get('/2'));
  const first = await waitFor(() => waiting[0]);
  peer.destroy();
  await new Promise((resolve) => first.response.once('close', resolve));
  first.response.end();
  const next = connect(port, '127.0.0.1');
  next.write(get('/next'));
  await waitFor(() => waiting.length === 2);
  expect(waiting.at(-1)?.path).toBe('/next');
  next.destroy();
});
