import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Receiver, startReceiver } from '../../../../tools/testing/receiver';
import type { DeliveryFailure } from './delivery-failure';
import type { Resolve } from './resolve';
import { WebhookClient, type WebhookClientSettings } from './webhook-client';

let receiver: Receiver;
const clients: WebhookClient[] = [];
const servers: { server: Server; sockets: Set<Socket> }[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
});

afterEach(async () => {
  receiver.clear();
  receiver.always({ status: 204 });
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const { server, sockets } of servers.splice(0)) {
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server.close(resolve));
  }
});

afterAll(async () => {
  await receiver?.stop();
});

function client(settings: Partial<WebhookClientSettings> = {}): WebhookClient {
  const made = new WebhookClient({
    allowPrivateTargets: true,
    connectTimeoutMs: 1_000,
    headersTimeoutMs: 2_000,
    totalTimeoutMs: 3_000,
    dns: 'system',
    ...settings,
  });
  clients.push(made);
  return made;
}

async function failureOf(target: string, settings: Partial<WebhookClientSettings> = {}): Promise<DeliveryFailure> {
  return client(settings)
    .post(target, {}, '{}')
    .then(
      (answer) => {
        throw new Error(`answered ${answer.statusCode}`);
      },
      (failure: DeliveryFailure) => failure,
    );
}

/** Starts a TCP server that handles each connection as the test wants. */
async function serve(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onConnection(socket);
  });
  servers.push({ server, sockets });
  return listen(server);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('WebhookClient', () => {
  it('posts the exact body and headers, and returns the status and Retry-After', async () => {
    receiver.script({ status: 503, headers: { 'retry-after': '7' } }, { status: 200, body: 'thanks' });
    const body = '{"name":"Zürich 🏔"}';
    const one = client();
    expect(
      await one.post(`${receiver.url}/hook?x=1`, { 'content-type': 'application/json', 'x-a': 'b' }, body),
    ).toEqual({
      statusCode: 503,
      retryAfterMs: 7_000,
    });
    expect(await one.post(receiver.url, {}, body)).toEqual({ statusCode: 200, retryAfterMs: null });
    const [first] = receiver.requests;
    expect(first).toMatchObject({ method: 'POST', path: '/hook?x=1' });
    expect(first?.headers).toMatchObject({ 'content-type': 'application/json', 'x-a': 'b' });
    expect(first?.body.toString()).toBe(body);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %d redirect', async (status) => {
    receiver.always({ status, headers: { location: `${receiver.url}/elsewhere` } });
    expect(await client().post(receiver.url, {}, '{}')).toMatchObject({ statusCode: status });
    expect(receiver.requests).toHaveLength(1);
  });

  it.each(['endless-body', 'slow-body'] as const)('returns the status and stops reading an %s', async (reaction) => {
    receiver.always(reaction);
    expect(await client({ totalTimeoutMs: 400 }).post(receiver.url, {}, '{}')).toMatchObject({ statusCode: 200 });
  });

  it('times out when the receiver never answers', async () => {
    receiver.always('hang');
    for (const limit of [{ totalTimeoutMs: 200 }, { headersTimeoutMs: 200, totalTimeoutMs: 1_000_000 }])
      expect(await failureOf(receiver.url, limit)).toMatchObject({ phase: 'timeout' });
  });

  it('fails in the phase response when the connection breaks before an answer', async () => {
    receiver.always('reset');
    expect(await failureOf(receiver.url)).toMatchObject({ phase: 'response' });
  });

  it('fails in the phase connect when the receiver is down', async () => {
    const closed = await startReceiver();
    await closed.stop();
    expect(await failureOf(closed.url)).toMatchObject({ phase: 'connect' });
  });

  it('refuses an answer that is not HTTP or has headers that are too long', async () => {
    const garbage = await serve((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
    expect(await failureOf(`http://127.0.0.1:${garbage}/`)).toMatchObject({ phase: 'response' });
    const flood = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      socket.write(`x-flood: ${'a'.repeat(20_000)}\r\n\r\n`);
    });
    expect(await failureOf(`http://127.0.0.1:${flood}/`)).toMatchObject({
      phase: 'response',
      message: 'The response headers are too long.',
    });
  });

  it('refuses an answer with too many short headers', async () => {
    const flood = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      for (let count = 0; count < 2_000; count += 1) socket.write(`x-${count}: 0123456789\r\n`);
      socket.write('\r\n');
    });
    expect(await failureOf(`http://127.0.0.1:${flood}/`)).toMatchObject({ phase: 'response' });
  });

  it.each([
    ['headers', 'x', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['interim answers', 'HTTP/1.1 102 Processing\r\n\r\n', ''],
  ])('fails when %s never end', async (_, piece, start) => {
    const port = await serve((socket) => {
      socket.write(start);
      const timer = setInterval(() => socket.write(piece), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const failure = await failureOf(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 300 });
    expect(['timeout', 'response']).toContain(failure.phase);
  });

  it('times out when the receiver does not read the body', async () => {
    const port = await serve((socket) => socket.pause());
    const posted = client({ totalTimeoutMs: 300 }).post(`http://127.0.0.1:${port}/`, {}, 'x'.repeat(16_000_000));
    await expect(posted).rejects.toMatchObject({ phase: 'timeout' });
  });

  it('does not decompress the response', async () => {
    receiver.always({ status: 200, headers: { 'content-encoding': 'gzip' }, body: 'no gzip at all' });
    expect(await client().post(receiver.url, {}, '{}')).toMatchObject({ statusCode: 200 });
  });

  it.each([
    [429, '3', 3_000],
    [503, '86400', 86_400_000],
    [503, 'soon', null],
    [429, '-1', null],
  ])('parses the Retry-After of a %d with the value %s', async (status, value, retryAfterMs) => {
    receiver.always({ status, headers: { 'retry-after': value } });
    expect(await client().post(receiver.url, {}, '{}')).toEqual({ statusCode: status, retryAfterMs });
  });

  it('fetches a text up to the size limit if the status is 200', async () => {
    const fetched = (body: string, status = 200): Promise<string> => {
      receiver.script({ status, body });
      return client()
        .fetchText(receiver.url, 'text/plain', 10)
        .catch((failure: DeliveryFailure) => failure.message);
    };
    expect(await fetched('0123456789')).toBe('0123456789');
    expect(await fetched('0123456789a')).toBe('The response is longer than 10 bytes.');
    expect(await fetched('0', 206)).toBe('The status of the response is 206.');
    expect(receiver.requests.map(({ method, headers }) => [method, headers['accept']])).toEqual(
      Array.from({ length: 3 }, () => ['GET', 'text/plain']),
    );
  });

  it('parses a Retry-After that is a date', async () => {
    receiver.always({ status: 503, headers: { 'retry-after': new Date(Date.now() + 60_000).toUTCString() } });
    const { retryAfterMs } = await client().post(receiver.url, {}, '{}');
    expect(retryAfterMs).toBeGreaterThan(30_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('fails when the response arrives one byte at a time', async () => {
    const port = await serve((socket) => {
      const timer = setInterval(() => socket.write('H'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const failure = await failureOf(`http://127.0.0.1:${port}/`, { totalTimeoutMs: 200 });
    expect(['timeout', 'response']).toContain(failure.phase);
  });

  it('fails in the phase connect when the TLS handshake never completes', async () => {
    const port = await serve(() => undefined);
    expect(await failureOf(`https://127.0.0.1:${port}/`, { connectTimeoutMs: 200 })).toMatchObject({
      phase: 'connect',
    });
  });

  it('verifies certificates', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iss-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const options = ['-subj', '/CN=localhost', '-days', '1', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', '-nodes', ...options], { stdio: 'ignore' });
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
      response.end();
    });
    rmSync(folder, { recursive: true });
    servers.push({ server, sockets: new Set() });
    const port = await listen(server);
    expect(await failureOf(`https://localhost:${port}/`)).toMatchObject({ phase: 'tls' });
  });

  it('refuses a URL with credentials, another scheme, or invalid syntax', async () => {
    for (const target of ['http://u:p@127.0.0.1/', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'nonsense', 'http://']) {
      expect(await failureOf(target)).toMatchObject({ phase: 'target' });
    }
    expect(await failureOf(receiver.url, { allowPrivateTargets: false })).toMatchObject({ phase: 'target' });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('WebhookClient without private targets', () => {
  const deployed = { allowPrivateTargets: false };

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '127.0.0.1.',
    '１２７.0.0.1',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '100.64.0.1',
    '198.18.0.1',
    '203.0.113.1',
    '240.0.0.1',
    '[2001::7f00:1]',
    '[::]',
    '[fec0::1]',
    '224.0.0.1',
    '255.255.255.255',
  ])('refuses the literal %s without connecting', async (host) => {
    const port = new URL(receiver.url).port;
    expect(await failureOf(`https://${host}:${port}/`, deployed)).toMatchObject({
      phase: 'blocked',
      message: 'The address of the target is not public.',
    });
  });

  it.each([
    ['private addresses', ['127.0.0.1', '::1', '10.1.2.3']],
    ['one private address among public ones', ['93.184.215.14', '2606:4700:4700::1111', '169.254.169.254']],
  ])('refuses a name that resolves to %s without revealing an address', async (_, addresses) => {
    const connections: Socket[] = [];
    const port = await serve((socket) => connections.push(socket));
    const settings = { ...deployed, resolve: async () => addresses };
    const failure = await failureOf(`https://receiver.example:${port}/`, settings);
    expect(failure).toMatchObject({ phase: 'blocked' });
    expect(failure.message).not.toMatch(/\d/);
    expect(connections).toHaveLength(0);
  });

  it.each(['localhost', 'localhost.', 'ｌｏｃａｌｈｏｓｔ'])('refuses the local machine as %s', async (host) => {
    const connections: Socket[] = [];
    const port = await serve((socket) => connections.push(socket));
    const resolve: Resolve = async () => ['127.0.0.1'];
    expect(await failureOf(`https://${host}:${port}/`, { ...deployed, resolve })).toMatchObject({ phase: 'blocked' });
    expect(connections).toHaveLength(0);
  });

  it.each([
    ['https:\\\\127.0.0.1\\', 'blocked'],
    ['https://user@127.0.0.1/', 'target'],
    ['https://:password@example.com/', 'target'],
    ['http://example.com/', 'target'],
    ['https://[fe80::1%25eth0]/', 'target'],
    ['https://127.0.0.1:65536/', 'target'],
    ['https://example.com\r\nHost: internal/', 'target'],
    ['https://exam ple.com/', 'target'],
    ['', 'target'],
  ])('refuses the URL %j in the phase %s', async (target, phase) => {
    const resolve: Resolve = async () => ['127.0.0.1'];
    expect(await failureOf(target, { ...deployed, resolve })).toMatchObject({ phase });
  });

  it('resolves and checks a name once for each connection', async () => {
    const asked: string[] = [];
    const rebinding: Resolve = async (hostname) => {
      asked.push(hostname);
      return asked.length === 1 ? ['127.0.0.1'] : ['169.254.169.254'];
    };
    receiver.always({ status: 204, headers: { connection: 'close' } });
    const one = client({ resolve: rebinding });
    const target = `http://rebind.example:${new URL(receiver.url).port}/`;
    expect(await one.post(target, {}, '{}')).toMatchObject({ statusCode: 204 });
    expect(asked).toHaveLength(1);
    await expect(one.post(target, {}, '{}')).rejects.toMatchObject({ phase: 'blocked' });
    expect(asked).toHaveLength(2);
    expect(receiver.requests).toHaveLength(1);
  });

  it('fails in the phase dns when a name has no address', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await failureOf('https://nowhere.example/', { ...deployed, resolve })).toMatchObject({ phase: 'dns' });
  });

  it('connects to the resolved address with the original host name', async () => {
    const asked: string[] = [];
    const port = new URL(receiver.url).port;
    const resolve: Resolve = async (hostname) => {
      asked.push(hostname);
      return ['127.0.0.1'];
    };
    expect(await client({ resolve }).post(`http://receiver.example:${port}/`, {}, '{}')).toMatchObject({
      statusCode: 204,
    });
    expect(receiver.requests[0]?.headers.host).toBe(`receiver.example:${port}`);
    expect(asked).toEqual(['receiver.example']);
  });
});
