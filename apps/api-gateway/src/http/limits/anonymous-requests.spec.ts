import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { ClientAddresses } from '../request/client-address';
import { AnonymousRequests } from './anonymous-requests';

const LIMIT = 3;

/** Counts requests of peers and reads the limit from the responses. */
class Counter {
  nowMs = 0;
  readonly warnings: string[] = [];
  readonly requests: AnonymousRequests;

  constructor(trustedProxies: string[] = [], limit = LIMIT, maxAddresses?: number) {
    this.requests = new AnonymousRequests(
      limit,
      new ClientAddresses(trustedProxies, (message) => this.warnings.push(message)),
      () => this.nowMs,
      maxAddresses,
    );
  }

  /** Returns how many requests the peer has left, or -1 if it was refused. */
  count(remoteAddress: string, forwarded?: string, path = '/v1/meta'): number {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
    const request: IncomingMessage & { path?: string } = new IncomingMessage(socket);
    request.path = path;
    if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
    const response = new ServerResponse(request);
    try {
      this.requests.count(request as Request, response as Response);
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited' });
      expect(response.getHeader('Retry-After')).toBe(response.getHeader('RateLimit-Reset'));
      return -1;
    }
    const remaining = response.getHeader('RateLimit-Remaining');
    return remaining === undefined ? Number.POSITIVE_INFINITY : Number(remaining);
  }
}

it('AnonymousRequests allows a limited number of requests per address and minute', () => {
  const counter = new Counter();
  expect([1, 2, 3, 4, 5].map(() => counter.count('192.0.2.1'))).toEqual([2, 1, 0, -1, -1]);
  expect(counter.count('192.0.2.2')).toBe(2);
  counter.nowMs = 60_000;
  expect(counter.count('192.0.2.1')).toBe(2);
});

it('AnonymousRequests counts an IPv6 /64 as one address, and mapped IPv4 as the same IPv4 address', () => {
  const counter = new Counter();
  expect([counter.count('2001:db8::1'), counter.count('2001:db8::ffff:2')]).toEqual([2, 1]);
  expect(counter.count('2001:db8:0:1::1')).toBe(2);
  expect([counter.count('192.0.2.1'), counter.count('::ffff:192.0.2.1')]).toEqual([2, 1]);
});

it.each(['/health', '/v1/ops/readiness'])('AnonymousRequests does not count the probe %s', (path) => {
  expect(new Counter().count('192.0.2.1', undefined, path)).toBe(Number.POSITIVE_INFINITY);
});

it('AnonymousRequests counts nothing without a limit', () => {
  expect(new Counter([], 0).count('192.0.2.1')).toBe(Number.POSITIVE_INFINITY);
});

describe('X-Forwarded-For', () => {
  it('is ignored without trusted proxies, with a warning about TRUSTED_PROXIES', () => {
    const counter = new Counter();
    expect(['198.51.100.1', '198.51.100.2'].map((forwarded) => counter.count('192.0.2.1', forwarded))).toEqual([2, 1]);
    expect(counter.warnings[0]).toContain('TRUSTED_PROXIES');
  });

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1'])(
    'is ignored without a warning from the public address %s',
    (address) => {
      const counter = new Counter();
      expect(counter.count(address, '198.51.100.1')).toBe(2);
      expect(counter.warnings).toEqual([]);
    },
  );

  it('identifies the callers behind trusted proxies', () => {
    const counter = new Counter(['10.0.0.0/8', '192.0.2.7']);
    expect(counter.count('10.1.2.3', '198.51.100.1')).toBe(2);
    expect(counter.count('::ffff:10.9.9.9', '198.51.100.2')).toBe(2);
    expect(counter.count('192.0.2.7', '198.51.100.1:4711')).toBe(1);
    expect(counter.count('192.0.2.8', '198.51.100.1')).toBe(2);
    expect(counter.count('10.1.2.3', '[2001:db8::1]:80')).toBe(2);
    expect(counter.count('10.1.2.3', '2001:db8::2')).toBe(1);
  });

  it('is read from its end, so entries from the caller have no effect', () => {
    const counter = new Counter(['10.0.0.0/8']);
    const spoofed = ['1.1.1.1', '2.2.2.2, 10.4.4.4', 'x', ''].map((own) => `${own}, 198.51.100.1, 10.0.0.5`);
    expect(spoofed.map((forwarded) => counter.count('10.1.2.3', forwarded))).toEqual([2, 1, 0, -1]);
  });

  it.each(['unknown', '', ' , ', '300.1.1.1', '_hidden'])('counts for the proxy itself if it is %j', (forwarded) => {
    const counter = new Counter(['10.0.0.0/8']);
    counter.count('10.1.2.3', forwarded);
    expect(counter.count('10.1.2.3')).toBe(1);
  });
});

it('AnonymousRequests remembers a limited number of addresses', () => {
  const counter = new Counter([], LIMIT, 100);
  for (let index = 0; index <= 100; index += 1) counter.count(`10.0.0.${index}`);
  expect(counter.count('10.0.0.0')).toBe(2);
  expect(counter.count('10.0.0.99')).toBe(1);
});
