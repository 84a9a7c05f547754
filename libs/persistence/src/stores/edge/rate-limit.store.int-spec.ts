import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { statement } from '../../sql/statement';
import { openWorld, type World } from '../../testing/world';
import { RateLimitStore, type RateWindow } from './rate-limit.store';

/** Inserts a row whose minute is this many minutes after the current one. */
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

/** Sets the used requests in a minute that does not end during the test. */
const used = (count: number) => world.database.sql.run(SET, { principal, minutes: 5, used: count });

/** A window of `limit` requests per minute. One reservation is a twentieth of it. */
const minute = (limit: number): RateWindow => ({ name: 'requests_per_minute', limit, seconds: 60 });
const reserve = (limit: number, owed = 0) => store.reserve(minute(limit), principal, owed);

async function override(value: number): Promise<void> {
  const owner = new Client({ connectionString: world.url });
  await owner.connect();
  await owner.query(`INSERT INTO limit_overrides VALUES ('principal', $1, 'requests_per_minute', $2)`, [
    principal,
    value,
  ]);
  await owner.end();
}

describe('RateLimitStore.reserve', () => {
  it('reserves a twentieth of the limit each time, then the rest, then nothing', async () => {
    await used(50);
    expect(await reserve(60)).toMatchObject({ granted: 3, left: 7, limit: 60 });
    expect(await reserve(60)).toMatchObject({ granted: 3, left: 4 });
    expect(await reserve(60)).toMatchObject({ granted: 3, left: 1 });
    expect(await reserve(60)).toMatchObject({ granted: 1, left: 0 });
    expect(await reserve(60)).toMatchObject({ granted: 0, left: 0 });
  });

  it('reserves one at a time if the limit is below twenty', async () => {
    await used(0);
    expect(await reserve(2)).toMatchObject({ granted: 1, left: 1 });
    expect(await reserve(2)).toMatchObject({ granted: 1, left: 0 });
    expect(await reserve(2)).toMatchObject({ granted: 0, left: 0 });
  });

  it('never reserves more than the limit under concurrency', async () => {
    await used(0);
    const taken = await Promise.all(Array.from({ length: 40 }, async () => (await reserve(50)).granted));
    expect(taken.reduce((sum, granted) => sum + granted)).toBe(50);
  });

  it('reserves nothing after the limit was lowered below the count', async () => {
    await used(30);
    expect(await reserve(20)).toMatchObject({ granted: 0, left: 0 });
    expect(await reserve(200)).toMatchObject({ granted: 10, left: 160 });
  });

  it('charges owed requests, even beyond the limit', async () => {
    await used(0);
    expect(await reserve(40, 10)).toMatchObject({ granted: 2, left: 28 });
    expect(await reserve(40, 1_000_000)).toMatchObject({ granted: 0, left: 0 });
    expect(await reserve(40)).toMatchObject({ granted: 0, left: 0 });
    expect(await reserve(2_000_000)).toMatchObject({ granted: 100_000 });
    expect(await reserve(1_000_000_000, Number.MAX_SAFE_INTEGER)).toMatchObject({ limit: 1_000_000_000 });
  });

  it('applies an operator’s override for the principal immediately', async () => {
    await used(0);
    expect(await reserve(40)).toMatchObject({ granted: 2, left: 38, limit: 40 });
    await override(400);
    expect(await reserve(40)).toMatchObject({ granted: 20, left: 378, limit: 400 });
    expect(await store.reserve(minute(40), randomUUID(), 0)).toMatchObject({ limit: 40 });
  });

  it('allows nothing if an operator set 0', async () => {
    await override(0);
    expect(await reserve(40)).toMatchObject({ granted: 0, left: 0, limit: 0 });
  });

  it('starts from zero in a new window, and returns its end', async () => {
    await world.database.sql.run(SET, { principal, minutes: -1, used: 1000 });
    const { granted, left, endsInMs } = await reserve(60);
    expect([granted, left]).toEqual([3, 57]);
    expect(endsInMs).toBeLessThanOrEqual(60_000);
  });

  it('counts UTC days separately from minutes', async () => {
    await used(1000);
    const day: RateWindow = { name: 'idempotency_keys_per_day', limit: 20, seconds: 86_400 };
    const { granted, left, endsInMs } = await store.reserve(day, principal, 0);
    expect([granted, left]).toEqual([1, 19]);
    const untilMidnight = 86_400_000 - (Date.now() % 86_400_000);
    expect(Math.abs(((endsInMs - untilMidnight + 43_200_000) % 86_400_000) - 43_200_000)).toBeLessThan(60_000);

    const other = randomUUID();
    // A window in the future does not end between two statements.
    await world.database.sql.run(SET, { principal: `${day.name}/${other}`, minutes: 2_880, used: 1 });
    expect((await store.reserve(day, other, 0)).left).toBe(18);
  });
});
