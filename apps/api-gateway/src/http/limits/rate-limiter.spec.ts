import type { RateReservation, RateWindow } from '@iss/persistence';
import { costOf, RateLimiter } from './rate-limiter';

const LIMIT = 40;
const WINDOW_MS = 60_000;

/** The table that all processes share, with a clock that the test moves. */
class Table {
  nowMs = 1_000;
  statements = 0;
  private readonly rows = new Map<string, { window: number; used: number }>();

  limiter(limit = LIMIT, maxPrincipals?: number): RateLimiter {
    const window = { name: 'requests_per_minute', limit, seconds: 60 } as const;
    return new RateLimiter(window, this, () => this.nowMs, maxPrincipals);
  }

  async reserve({ limit }: RateWindow, principalId: string, owed: number): Promise<RateReservation> {
    this.statements += 1;
    await Promise.resolve();
    const window = Math.floor(this.nowMs / WINDOW_MS);
    const row = this.rows.get(principalId);
    const used = (row?.window === window ? row.used : 0) + owed;
    const granted = Math.max(0, Math.min(Math.max(1, Math.floor(limit / 20)), limit - used));
    this.rows.set(principalId, { window, used: used + granted });
    const left = Math.max(0, limit - used - granted);
    return { granted, left, limit, endsInMs: (window + 1) * WINDOW_MS - this.nowMs };
  }
}

const passed = async (limiter: RateLimiter, count: number, name = 'a'): Promise<number> => {
  const allowances = await Promise.all(Array.from({ length: count }, () => limiter.take(name)));
  return allowances.filter(({ isAllowed }) => isAllowed).length;
};

describe('RateLimiter', () => {
  it('allows exactly the limit per window across several processes', async () => {
    const table = new Table();
    const processes = [table.limiter(), table.limiter(), table.limiter()];
    const counts = await Promise.all(processes.map((limiter) => passed(limiter, 50)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(LIMIT);
  });

  it('reserves a share of a twentieth once, also for concurrent requests', async () => {
    const table = new Table();
    const limiter = table.limiter(1000);
    expect(await passed(limiter, 50)).toBe(50);
    expect(table.statements).toBe(1);
    await passed(limiter, 1);
    expect(table.statements).toBe(2);
  });

  it('sends no statements until the window ends, once the limit is reached', async () => {
    const table = new Table();
    const limiter = table.limiter();
    await passed(limiter, LIMIT);
    const { statements } = table;
    table.nowMs = WINDOW_MS - 400;
    expect(await limiter.take('a')).toEqual({ isAllowed: false, limit: LIMIT, remaining: 0, resetSeconds: 1 });
    expect(table.statements).toBe(statements);
    table.nowMs = WINDOW_MS;
    expect(await limiter.take('a')).toEqual({
      isAllowed: true,
      limit: LIMIT,
      remaining: LIMIT - 1,
      resetSeconds: 60,
    });
  });

  it('drops the rest of a share when its window ends', async () => {
    const table = new Table();
    const limiter = table.limiter(1000);
    await passed(limiter, 10);
    table.nowMs = WINDOW_MS;
    const { remaining } = await limiter.take('a');
    expect(remaining).toBe(999);
    expect(table.statements).toBe(2);
  });

  it('counts each principal separately', async () => {
    const limiter = new Table().limiter();
    expect(await passed(limiter, LIMIT + 5, 'a')).toBe(LIMIT);
    expect(await passed(limiter, LIMIT + 5, 'b')).toBe(LIMIT);
  });

  it('forgets the oldest of too many principals, which then reserves a new share', async () => {
    const table = new Table();
    const many = 100;
    const limiter = table.limiter(1000, many);
    await Promise.all(Array.from({ length: many }, (_, index) => limiter.take(String(index))));
    await limiter.take('0');
    expect(table.statements).toBe(many);
    await limiter.take('one more');
    expect((await limiter.take('0')).remaining).toBe(1000 - 51);
    expect(table.statements).toBe(many + 2);
  });

  it('fails while the table is unavailable, and works again afterwards', async () => {
    const table = new Table();
    const limiter = table.limiter();
    const reserve = jest.spyOn(table, 'reserve').mockRejectedValueOnce(new Error('away'));
    await expect(Promise.all([limiter.take('a'), limiter.take('a')])).rejects.toThrow('away');
    expect(reserve).toHaveBeenCalledTimes(1);
    expect((await limiter.take('a')).isAllowed).toBe(true);
  });

  it('deducts the cost of a request from the share, and reports it with the next request', async () => {
    const limiter = new Table().limiter(1000);
    expect((await limiter.take('a')).remaining).toBe(999);
    limiter.charge('a', 30);
    expect((await limiter.take('a')).remaining).toBe(968);
    limiter.charge('a', 0);
    expect((await limiter.take('a')).remaining).toBe(967);
  });

  it('shares a cost beyond the share with all processes, and refuses the rest of the window', async () => {
    const table = new Table();
    const [one, other] = [table.limiter(1000), table.limiter(1000)];
    await one.take('a');
    one.charge('a', 500);
    await Promise.resolve();
    expect((await other.take('a')).remaining).toBeLessThanOrEqual(499);
    one.charge('a', 10_000);
    // `other` may still use up the rest of its share.
    expect(await passed(other, 1000)).toBeLessThan(50);
    expect((await one.take('a')).isAllowed).toBe(false);
    table.nowMs = WINDOW_MS;
    expect((await one.take('a')).remaining).toBe(999);
  });

  it('charges the current window for a request of the previous one', async () => {
    const table = new Table();
    const limiter = table.limiter(100);
    await limiter.take('a');
    table.nowMs = WINDOW_MS;
    limiter.charge('a', 60);
    expect((await limiter.take('a')).remaining).toBe(39);
  });

  it('keeps charges that arrive while a share is reserved', async () => {
    const table = new Table();
    const limiter = table.limiter(100);
    const first = limiter.take('a');
    for (let count = 0; count < 10; count += 1) limiter.charge('a', 5);
    expect((await first).isAllowed).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await limiter.take('a')).remaining).toBe(100 - 2 - 50);
  });

  it('sends no statements for charges at the limit, or without a limit', async () => {
    const table = new Table();
    const limiter = table.limiter();
    await passed(limiter, LIMIT);
    const { statements } = table;
    for (let count = 0; count < 100; count += 1) limiter.charge('a', 500);
    table.limiter(0).charge('b', 500);
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.statements).toBe(statements);
  });

  it('charges without an error while the table is unavailable', async () => {
    const table = new Table();
    const limiter = table.limiter();
    jest.spyOn(table, 'reserve').mockRejectedValueOnce(new Error('away'));
    limiter.charge('a', 5);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await limiter.take('a')).isAllowed).toBe(true);
  });

  it('returns a request to the share on giveBack', async () => {
    const limiter = new Table().limiter(2);
    await limiter.take('a');
    limiter.giveBack('a');
    expect(await passed(limiter, 5)).toBe(2);
  });

  it('applies an operator’s higher limit within a minute, also in a long window', async () => {
    const table = new Table();
    const answers = [
      { granted: 1, left: 0, limit: 1, endsInMs: 86_400_000 },
      { granted: 5, left: 94, limit: 100, endsInMs: 86_300_000 },
    ];
    jest.spyOn(table, 'reserve').mockImplementation(async () => answers.shift() ?? Promise.reject(new Error('asked')));
    const limiter = table.limiter(1);
    expect(await passed(limiter, 3)).toBe(1);
    table.nowMs += 59_000;
    expect(await passed(limiter, 1)).toBe(0);
    table.nowMs += 1_000;
    expect(await limiter.take('a')).toMatchObject({ isAllowed: true, limit: 100, remaining: 98 });
  });
});

it.each([
  [0, 0],
  [0.2, 0],
  [1, 0],
  [1.01, 1],
  [2, 1],
  [500, 499],
  [Number.NaN, 0],
])('%d ms of processor time cost %i requests beyond the first', (ms, requests) => {
  expect(costOf(ms)).toBe(requests);
});
