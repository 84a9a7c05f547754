import { randomUUID } from 'node:crypto';
import { statement } from '../../sql/statement';
import { openWorld, type World } from '../../testing/world';
import { RateLimitStore } from './rate-limit.store';

/** A row whose minute is so many away from the current one. */
const SET = statement<{ principal: string; minutes: number; used: number }>(
  'spec_rate_limit',
  `INSERT INTO rate_limits VALUES (:principal, date_trunc('minute', now()) + :minutes * interval '1 minute', :used)`,
);

let world: World;
let store: RateLimitStore;
let principal: string;

beforeAll(async () => {
  world = await openWorld();
  store = new RateLimitStore(world.database.sql);
});

afterAll(() => world?.close());

beforeEach(() => {
  principal = randomUUID();
});

/** In a minute that does not end while the test runs. */
const used = (count: number) => world.database.sql.run(SET, { principal, minutes: 5, used: count });

describe('RateLimitStore.reserve', () => {
  it('gives what was wanted until only less is left, then nothing', async () => {
    await used(0);
    expect(await store.reserve(principal, 4, 10)).toMatchObject({ granted: 4, left: 6 });
    expect(await store.reserve(principal, 4, 10)).toMatchObject({ granted: 4, left: 2 });
    expect(await store.reserve(principal, 4, 10)).toMatchObject({ granted: 2, left: 0 });
    expect(await store.reserve(principal, 4, 10)).toMatchObject({ granted: 0, left: 0 });
    expect(await store.reserve(principal, 4, 10)).toMatchObject({ granted: 0, left: 0 });
  });

  it('never gives more than the limit, whoever races, for shares of every size', async () => {
    await used(0);
    const taken = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await store.reserve(principal, 1 + (index % 7), 50)).granted),
    );
    expect(taken.reduce((sum, granted) => sum + granted)).toBe(50);
  });

  it('gives nothing under a limit that has been lowered', async () => {
    await used(30);
    expect(await store.reserve(principal, 5, 20)).toMatchObject({ granted: 0, left: 0 });
    expect(await store.reserve(principal, 5, 40)).toMatchObject({ granted: 5, left: 5 });
  });

  it('begins with a new minute, and tells when it ends', async () => {
    await world.database.sql.run(SET, { principal, minutes: -1, used: 1000 });
    const { granted, left, endsInMs } = await store.reserve(principal, 3, 10);
    expect([granted, left]).toEqual([3, 7]);
    expect(endsInMs).toBeLessThanOrEqual(60_000);
    expect((await store.reserve(randomUUID(), 1, 1)).granted).toBe(1);
  });
});
