import type { RateReservation } from '@iss/persistence';
import { RateLimiter } from './rate-limiter';

const LIMIT = 40;
const WINDOW_MS = 60_000;

/** The table of all processes, with a clock that the test moves. */
class Table {
  nowMs = 1_000;
  statements = 0;
  private readonly rows = new Map<string, { window: number; used: number }>();

  limiter(limit = LIMIT): RateLimiter {
    return new RateLimiter(limit, this, () => this.nowMs);
  }

  async reserve(principalId: string, wanted: number, limit: number): Promise<RateReservation> {
    this.statements += 1;
    await Promise.resolve();
    const window = Math.floor(this.nowMs / WINDOW_MS);
    const row = this.rows.get(principalId);
    const used = row?.window === window ? row.used : 0;
    const granted = Math.min(wanted, limit - used);
    this.rows.set(principalId, { window, used: used + granted });
    return { granted, left: limit - used - granted, endsInMs: (window + 1) * WINDOW_MS - this.nowMs };
  }
}

const passed = async (limiter: RateLimiter, count: number, name = 'a'): Promise<number> => {
  const allowances = await Promise.all(Array.from({ length: count }, () => limiter.take(name)));
  return allowances.filter(({ isAllowed }) => isAllowed).length;
};

describe('RateLimiter', () => {
  it('lets exactly the limit pass in a window, over several processes', async () => {
    const table = new Table();
    const processes = [table.limiter(), table.limiter(), table.limiter()];
    const counts = await Promise.all(processes.map((limiter) => passed(limiter, 50)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(LIMIT);
  });

  it('asks once for a share of a twentieth, also for requests that come together', async () => {
    const table = new Table();
    const limiter = table.limiter(1000);
    expect(await passed(limiter, 50)).toBe(50);
    expect(table.statements).toBe(1);
    await passed(limiter, 1);
    expect(table.statements).toBe(2);
  });

  it('asks no more until the window ends, once the limit is reached', async () => {
    const table = new Table();
    const limiter = table.limiter();
    await passed(limiter, LIMIT);
    const { statements } = table;
    table.nowMs = WINDOW_MS - 400;
    expect(await limiter.take('a')).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 1 });
    expect(table.statements).toBe(statements);
    table.nowMs = WINDOW_MS;
    expect(await limiter.take('a')).toEqual({ isAllowed: true, remaining: LIMIT - 1, resetSeconds: 60 });
  });

  it('drops what is left of a share when its window ends', async () => {
    const table = new Table();
    const limiter = table.limiter(1000);
    await passed(limiter, 10);
    table.nowMs = WINDOW_MS;
    const { remaining } = await limiter.take('a');
    expect(remaining).toBe(999);
    expect(table.statements).toBe(2);
  });

  it('counts each principal alone', async () => {
    const limiter = new Table().limiter();
    expect(await passed(limiter, LIMIT + 5, 'a')).toBe(LIMIT);
    expect(await passed(limiter, LIMIT + 5, 'b')).toBe(LIMIT);
  });

  it('forgets the oldest of very many principals, which then begins a new share', async () => {
    const table = new Table();
    const limiter = table.limiter(1000);
    const many = 100_000;
    await Promise.all(Array.from({ length: many }, (_, index) => limiter.take(String(index))));
    await limiter.take('0');
    expect(table.statements).toBe(many);
    await limiter.take('one more');
    expect((await limiter.take('0')).remaining).toBe(1000 - 51);
    expect(table.statements).toBe(many + 2);
  }, 30_000);

  it('fails while the table is away, and goes on when it is back', async () => {
    const table = new Table();
    const limiter = table.limiter();
    const reserve = jest.spyOn(table, 'reserve').mockRejectedValueOnce(new Error('away'));
    await expect(Promise.all([limiter.take('a'), limiter.take('a')])).rejects.toThrow('away');
    expect(reserve).toHaveBeenCalledTimes(1);
    expect((await limiter.take('a')).isAllowed).toBe(true);
  });
});
