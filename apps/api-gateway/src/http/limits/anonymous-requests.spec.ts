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

it('lets so many requests of an address pass in a minute', () => {
  const counter = new Counter();
  expect([1, 2, 3, 4, 5].map(() => counter.count('192.0.2.1'))).toEqual([2, 1, 0, -1, -1]);
  expect(counter.count('192.0.2.2')).toBe(2);
  counter.nowMs = 60_000;
  expect(counter.count('192.0.2.1')).toBe(2);
});

it('takes an IPv6 /64 for one address, and an IPv4 address for itself however it is written', () => {
  const counter = new Counter();
  expect([counter.count('2001:db8::1'), counter.count('2001:db8::ffff:2')]).toEqual([2, 1]);
  expect(counter.count('2001:db8:0:1::1')).toBe(2);
  expect([counter.count('192.0.2.1'), counter.count('::ffff:192.0.2.1')]).toEqual([2, 1]);
});

it.each(['/health', '/v1/ops/readiness'])('does not count the probe %s', (path) => {
  expect(new Counter().count('192.0.2.1', undefined, path)).toBe(Number.POSITIVE_INFINITY);
});

it('counts nothing where there is no limit', () => {
  expect(new Counter([], 0).count('192.0.2.1')).toBe(Number.POSITIVE_INFINITY);
});

describe('X-Forwarded-For', () => {
  it('is not believed of anybody unless told, and that is said', () => {
    const counter = new Counter();
    expect(['198.51.100.1', '198.51.100.2'].map((forwarded) => counter.count('192.0.2.1', forwarded))).toEqual([2, 1]);
    expect(counter.warnings[0]).toContain('TRUSTED_PROXIES');
  });

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1'])('says nothing of what %s made up', (address) => {
    const counter = new Counter();
    expect(counter.count(address, '198.51.100.1')).toBe(2);
    expect(counter.warnings).toEqual([]);
  });

  it('names callers of trusted proxies, each by itself', () => {
    const counter = new Counter(['10.0.0.0/8', '192.0.2.7']);
    expect(counter.count('10.1.2.3', '198.51.100.1')).toBe(2);
    expect(counter.count('::ffff:10.9.9.9', '198.51.100.2')).toBe(2);
    expect(counter.count('192.0.2.7', '198.51.100.1:4711')).toBe(1);
    expect(counter.count('192.0.2.8', '198.51.100.1')).toBe(2);
    expect(counter.count('10.1.2.3', '[2001:db8::1]:80')).toBe(2);
    expect(counter.count('10.1.2.3', '2001:db8::2')).toBe(1);
  });

  it('is read from its end: what a caller wrote itself moves nothing', () => {
    const counter = new Counter(['10.0.0.0/8']);
    const spoofed = ['1.1.1.1', '2.2.2.2, 10.4.4.4', 'x', ''].map((own) => `${own}, 198.51.100.1, 10.0.0.5`);
    expect(spoofed.map((forwarded) => counter.count('10.1.2.3', forwarded))).toEqual([2, 1, 0, -1]);
  });

  it.each(['unknown', '', ' , ', '300.1.1.1', '_hidden'])('stands for the proxy itself where it is %j', (forwarded) => {
    const counter = new Counter(['10.0.0.0/8']);
    counter.count('10.1.2.3', forwarded);
    expect(counter.count('10.1.2.3')).toBe(1);
  });
});

it('remembers so many addresses and no more', () => {
  const counter = new Counter([], LIMIT, 100);
  for (let index = 0; index <= 100; index += 1) counter.count(`10.0.0.${index}`);
  expect(counter.count('10.0.0.0')).toBe(2);
  expect(counter.count('10.0.0.99')).toBe(1);
});
