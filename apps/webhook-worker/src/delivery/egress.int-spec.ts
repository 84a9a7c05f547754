import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { reservePort } from '../../../../tools/processes';
import { type ConnectProxy, type ProxyReaction, startConnectProxy } from '../../../../tools/testing/connect-proxy';
import { type DnsServer, startDnsServer } from '../../../../tools/testing/dns-server';
import { type Receiver, startReceiver } from '../../../../tools/testing/receiver';
import type { DeliveryFailure } from './delivery-failure';
import { resolver } from './resolve';
import { WebhookClient, type WebhookClientSettings } from './webhook-client';

const NAME = 'receiver.example';

let receiver: Receiver;
let proxy: ConnectProxy;
let dns: DnsServer;
/** For `receiver.example` and 127.0.0.1, where the proxies listen. It is trusted here. */
let certificate: { key: string; cert: string };
let secure: { server: Server; port: number; names: (string | false | null)[] };
const trusted = getCACertificates('default');
const clients: WebhookClient[] = [];

beforeAll(async () => {
  certificate = selfSigned(NAME, `subjectAltName=DNS:${NAME},IP:127.0.0.1`);
  setDefaultCACertificates([...trusted, certificate.cert]);
  [receiver, proxy, dns] = await Promise.all([startReceiver(), startConnectProxy(), startDnsServer()]);
  const names: (string | false | null)[] = [];
  const server = createTlsServer(certificate, (request, response) => {
    names.push((request.socket as TLSSocket).servername);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  secure = { server, port: (server.address() as AddressInfo).port, names };
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  proxy.react(undefined);
  receiver.clear();
});

afterAll(async () => {
  setDefaultCACertificates(trusted);
  secure?.server.closeAllConnections();
  await Promise.all([
    receiver?.stop(),
    proxy?.stop(),
    dns?.stop(),
    new Promise((resolve) => (secure === undefined ? resolve(null) : secure.server.close(resolve))),
  ]);
});

function selfSigned(name: string, extension: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'iss-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-out', cert];
  const of = ['-subj', `/CN=${name}`, '-addext', extension, '-days', '1'];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...of, ...made], { stdio: 'ignore' });
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}

function client(settings: Partial<WebhookClientSettings> = {}): WebhookClient {
  const made = new WebhookClient({
    allowPrivateTargets: true,
    connectTimeoutMs: 1_000,
    headersTimeoutMs: 2_000,
    totalTimeoutMs: 3_000,
    dns: 'system',
    egressProxyUrl: proxy.url,
    resolve: resolver('direct', [dns.address]),
    ...settings,
  });
  clients.push(made);
  return made;
}

const failureOf = (target: string, settings?: Partial<WebhookClientSettings>): Promise<DeliveryFailure> =>
  client(settings)
    .post(target, {}, '{}')
    .then(
      ({ statusCode }) => {
        throw new Error(`answered ${statusCode}`);
      },
      (failure: DeliveryFailure) => failure,
    );

const portOf = (url: string): string => new URL(url).port;
const plainTarget = (): string => `http://${NAME}:${portOf(receiver.url)}/hook`;
const secureTarget = (name = NAME): string => `https://${name}:${secure.port}/hook`;

describe('deliveries through a proxy', () => {
  beforeAll(() => dns.know(NAME, ['127.0.0.1']));

  it('tunnel to the verified address and send the original host name', async () => {
    const before = proxy.asked.length;
    const one = client();
    expect(await one.post(plainTarget(), { 'x-a': 'b' }, '{"a":1}')).toMatchObject({ statusCode: 204 });
    expect(proxy.asked.slice(before)).toEqual([
      { authority: `127.0.0.1:${portOf(receiver.url)}`, authorization: undefined },
    ]);
    const [request] = receiver.requests;
    expect(request?.headers).toMatchObject({ host: `${NAME}:${portOf(receiver.url)}`, 'x-a': 'b' });
    expect(request?.headers).not.toHaveProperty('proxy-authorization');
    expect(request?.body.toString()).toBe('{"a":1}');
    await expect(one.pingEgress()).resolves.toBeUndefined();
  });

  it('reuse a tunnel', async () => {
    const before = proxy.asked.length;
    const one = client();
    for (let count = 0; count < 6; count += 1) await one.post(plainTarget(), {}, '{}');
    expect(receiver.requests).toHaveLength(6);
    expect(proxy.asked.length - before).toBeLessThanOrEqual(2);
  });

  it('use TLS with the receiver and verify its certificate against the host name', async () => {
    expect(await client().post(secureTarget(), {}, '{}')).toMatchObject({ statusCode: 204 });
    expect(secure.names).toEqual([NAME]);
    dns.know('another.example', ['127.0.0.1']);
    expect(await failureOf(secureTarget('another.example'))).toMatchObject({ phase: 'tls' });
  });

  it('send the proxy credentials only to the proxy', async () => {
    const egressProxyUrl = proxy.url.replace('//', '//worker:p%40ss%3Aword@');
    await client({ egressProxyUrl }).post(plainTarget(), {}, '{}');
    const sent = `Basic ${Buffer.from('worker:p@ss:word').toString('base64')}`;
    expect(proxy.asked.at(-1)).toMatchObject({ authorization: sent });
    expect(JSON.stringify(receiver.requests.map(({ headers }) => headers))).not.toContain('Basic');
  });

  it('use a proxy over TLS, but refuse one with an untrusted certificate', async () => {
    const inTls = await startConnectProxy({ tls: certificate });
    const stranger = await startConnectProxy({ tls: selfSigned('proxy', 'subjectAltName=IP:127.0.0.1') });
    try {
      const one = client({ egressProxyUrl: inTls.url });
      expect(await one.post(secureTarget(), {}, '{}')).toMatchObject({ statusCode: 204 });
      expect(await one.post(plainTarget(), {}, '{}')).toMatchObject({ statusCode: 204 });
      await expect(one.pingEgress()).resolves.toBeUndefined();
      expect(await failureOf(secureTarget(), { egressProxyUrl: stranger.url })).toMatchObject({ phase: 'proxy' });
      expect(stranger.asked).toHaveLength(0);
    } finally {
      await Promise.all(clients.splice(0).map((made) => made.close()));
      await Promise.all([inTls.stop(), stranger.stop()]);
    }
  });

  it.each<[ProxyReaction, string]>([
    [407, 'The egress proxy answered 407.'],
    [403, 'The egress proxy answered 403.'],
    [502, 'The egress proxy answered 502.'],
    [301, 'The egress proxy answered 301.'],
    ['hang', 'The egress proxy made no connection in time.'],
    ['close', 'The egress proxy cannot be reached.'],
    ['garbage', 'The egress proxy cannot be reached.'],
  ])('fail in the phase proxy when the proxy reacts with %s', async (reaction, message) => {
    proxy.react(reaction);
    expect(await failureOf(plainTarget(), { connectTimeoutMs: 200 })).toMatchObject({ phase: 'proxy', message });
    expect(receiver.requests).toHaveLength(0);
  });

  it('fail in the phase proxy when the total timeout ends before the connect timeout', async () => {
    proxy.react('hang');
    expect(await failureOf(plainTarget(), { totalTimeoutMs: 200 })).toMatchObject({ phase: 'proxy' });
  });

  it('fail without revealing the proxy or its credentials when the proxy is down', async () => {
    const port = await reservePort();
    const one = client({ egressProxyUrl: `http://worker:hunter2@127.0.0.1:${port}` });
    const failure: unknown = await one.post(plainTarget(), {}, '{}').catch((error: unknown) => error);
    expect(failure).toMatchObject({ phase: 'proxy', message: 'The egress proxy cannot be reached.' });
    expect(failure).toHaveProperty('cause.cause.code', 'ECONNREFUSED');
    expect(JSON.stringify(failure)).not.toContain('hunter2');
    await expect(one.pingEgress()).rejects.toThrow('The egress proxy cannot be reached.');
  });

  it('report refused credentials in pingEgress until the proxy accepts them', async () => {
    const one = client();
    proxy.react(407);
    await one.post(plainTarget(), {}, '{}').catch(() => undefined);
    await expect(one.pingEgress()).rejects.toThrow('refuses the credentials');
    proxy.react(undefined);
    await one.post(plainTarget(), {}, '{}');
    await expect(one.pingEgress()).resolves.toBeUndefined();
  });

  it('try the next address of the name when the proxy cannot reach the first', async () => {
    dns.know('two.example', ['127.0.0.2', '127.0.0.1']);
    proxy.react((authority) => (authority.startsWith('127.0.0.2') ? 504 : undefined));
    const before = proxy.asked.length;
    expect(await client().post(`http://two.example:${portOf(receiver.url)}/`, {}, '{}')).toMatchObject({
      statusCode: 204,
    });
    expect(proxy.asked.slice(before).map(({ authority }) => authority.split(':')[0])).toEqual([
      '127.0.0.2',
      '127.0.0.1',
    ]);
  });

  it('try no other address when the proxy answers 407', async () => {
    dns.know('two.example', ['127.0.0.2', '127.0.0.1']);
    proxy.react(407);
    const before = proxy.asked.length;
    expect(await failureOf(`http://two.example:${portOf(receiver.url)}/`)).toMatchObject({ phase: 'proxy' });
    expect(proxy.asked).toHaveLength(before + 1);
  });

  it('are aborted when the client is closed', async () => {
    proxy.react('hang');
    const before = proxy.asked.length;
    const one = client({ connectTimeoutMs: 60_000, totalTimeoutMs: 120_000 });
    const posted = one.post(plainTarget(), {}, '{}').catch((error: unknown) => error);
    while (proxy.asked.length === before) await new Promise((resolve) => setImmediate(resolve));
    await one.close();
    expect(await posted).toHaveProperty('phase');
  });
});

describe('target addresses, with and without a proxy', () => {
  it.each(['10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:127.0.0.1]'])(
    'the client refuses the literal %s without asking the proxy',
    async (host) => {
      const before = proxy.asked.length;
      const failure = await failureOf(`https://${host}/`, { allowPrivateTargets: false });
      expect(failure).toMatchObject({ phase: 'blocked' });
      expect(proxy.asked).toHaveLength(before);
    },
  );

  it('the client refuses a name with one private address without asking the proxy', async () => {
    const before = proxy.asked.length;
    dns.know('mixed.example', ['93.184.215.14', '2606:4700:4700::1111', 'fd00::1']);
    expect(await failureOf('https://mixed.example/', { allowPrivateTargets: false })).toMatchObject({
      phase: 'blocked',
    });
    expect(proxy.asked).toHaveLength(before);
  });

  it.each([
    ['behind a proxy', true],
    ['without one', false],
  ])('the client checks a name again for each connection, %s', async (_, isProxied) => {
    const name = isProxied ? 'rebind-proxied.example' : 'rebind.example';
    dns.know(name, ['127.0.0.1'], ['169.254.169.254']);
    receiver.always({ status: 204, headers: { connection: 'close' } });
    const before = proxy.asked.length;
    const one = client(isProxied ? {} : { egressProxyUrl: undefined });
    const target = `http://${name}:${portOf(receiver.url)}/`;
    expect(await one.post(target, {}, '{}')).toMatchObject({ statusCode: 204 });
    await expect(one.post(target, {}, '{}')).rejects.toMatchObject({ phase: 'blocked' });
    // One question of each type per connection: the address that was checked is the one that is used.
    expect(dns.asked.filter((asked) => asked === name)).toHaveLength(4);
    expect(receiver.requests).toHaveLength(1);
    expect(proxy.asked).toHaveLength(before + (isProxied ? 1 : 0));
    receiver.always({ status: 204 });
  });
});

describe('host names', () => {
  it('resolve to the IPv4 and IPv6 addresses that the name servers have', async () => {
    const resolve = resolver('direct', [dns.address]);
    dns.know('both.example', ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    dns.know('six.example', ['2001:db8::2']);
    expect(await resolve('both.example')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    expect(await resolve('six.example')).toEqual(['2001:db8::2']);
    await expect(resolve('nowhere.example')).rejects.toThrow();
  });

  it('fail after four seconds without an answer', async () => {
    dns.know('silent.example', 'silent');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const ended = jest.fn();
      const asked = resolver('direct', [dns.address])('silent.example').finally(ended);
      jest.advanceTimersByTime(3_999);
      await new Promise(setImmediate);
      expect(ended).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      await expect(asked).rejects.toThrow('ECANCELLED');
    } finally {
      jest.useRealTimers();
    }
  });

  it('resolve with the operating system and its hosts file in system mode', async () => {
    expect(await resolver('system')('localhost')).toContain('127.0.0.1');
    await expect(resolver('system')('nowhere.invalid')).rejects.toThrow();
  });

  it.each([
    ['behind a proxy', true],
    ['without one', false],
  ])('fail in the phase dns when they are unknown, %s', async (_, isProxied) => {
    const settings = isProxied ? {} : { egressProxyUrl: undefined };
    expect(await failureOf('http://nowhere.example/', settings)).toMatchObject({ phase: 'dns' });
  });
});
