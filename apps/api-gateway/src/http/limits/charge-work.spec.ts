import type { Request } from 'express';
import type { RateLimiter } from './rate-limiter';
import { chargeWork } from './charge-work';

/** Returns a request of alice and the list of its charges. */
function requestOf(limit: number): { request: Request; charges: number[] } {
  const charges: number[] = [];
  const limiter: Pick<RateLimiter, 'window' | 'charge'> = {
    window: { name: 'requests_per_minute', limit, seconds: 60 },
    charge: (_principalId, requests) => charges.push(requests),
  };
  const principal = { principalId: 'oidc:test#alice', subject: 'alice', claimedType: 'human' };
  return { request: Object.assign(Object.create(null), { principal, settings: { limiter } }), charges };
}

function spin(milliseconds: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= milliseconds * 1000) return;
  }
}

it('chargeWork charges the processor time of the work, even if it fails', () => {
  const { request, charges } = requestOf(600);
  expect(chargeWork(request, () => (spin(20), 'done'))).toBe('done');
  expect(() =>
    chargeWork(request, () => {
      spin(20);
      throw new Error('failed');
    }),
  ).toThrow('failed');
  const [first = 0, second = 0] = charges;
  expect(charges).toHaveLength(2);
  // The first millisecond is included in the request itself.
  expect(first).toBeGreaterThanOrEqual(19);
  expect(second).toBeGreaterThanOrEqual(19);
  expect(first + second).toBeGreaterThanOrEqual(39);
  expect(first + second).toBeLessThan(2_000);
});

it('chargeWork charges many short pieces of one request like one long piece', () => {
  const { request, charges } = requestOf(600);
  for (let piece = 0; piece < 100; piece += 1) chargeWork(request, () => spin(0.2));
  expect(charges.reduce((sum, charge) => sum + charge, 0)).toBeGreaterThanOrEqual(19);
});

it('chargeWork charges each millisecond once', () => {
  const { request, charges } = requestOf(600);
  const measured = jest.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 9_000, system: 1_000 });
  for (let piece = 0; piece < 3; piece += 1) chargeWork(request, () => undefined);
  measured.mockRestore();
  expect(charges).toEqual([9, 10, 10]);
});

it('chargeWork charges nothing for quick work', () => {
  const { request, charges } = requestOf(600);
  chargeWork(request, () => 1);
  expect(charges).toEqual([0]);
});

it('chargeWork charges nothing without a limit', () => {
  const { request, charges } = requestOf(0);
  expect(chargeWork(request, () => 'done')).toBe('done');
  expect(charges).toEqual([]);
});
