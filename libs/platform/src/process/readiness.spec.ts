import { databaseChecks, following, inStep, reachable, sharedChecks, Unfit } from './readiness';

/** Checks whose number, clock and end the test controls. */
function watched(patienceMs = 10_000, unseen: number | 'nothing' = -1) {
  const world = { nowMs: 0, made: 0, end: (): void => undefined };
  const ask = sharedChecks(
    () => {
      world.made += 1;
      return new Promise<number>((resolve) => (world.end = () => resolve(world.made)));
    },
    unseen === 'nothing' ? undefined : unseen,
    () => world.nowMs,
    patienceMs,
  );
  return { world, ask };
}

it('sharedChecks runs the checks once for concurrent callers', async () => {
  const { world, ask } = watched();
  const first = Array.from({ length: 100 }, () => ask());
  world.nowMs = 5_000;
  const late = ask();
  world.end();
  expect(await Promise.all([...first, late])).toEqual(Array.from({ length: 101 }, () => 1));
  expect(world.made).toBe(1);
});

it('sharedChecks caches a result for one second', async () => {
  const { world, ask } = watched();
  const first = ask();
  world.end();
  await first;
  for (const nowMs of [0, 500, 999]) {
    world.nowMs = nowMs;
    expect(await ask()).toBe(1);
  }
  world.nowMs = 1_000;
  const second = ask();
  world.end();
  expect(await second).toBe(2);
});

it('sharedChecks repeats checks that failed', async () => {
  let made = 0;
  const ask = sharedChecks(() => Promise.reject(new Error(String(++made))), null);
  await expect(ask()).rejects.toThrow('1');
  await expect(ask()).rejects.toThrow('2');
});

it('sharedChecks returns the last result while the checks hang', async () => {
  const { world, ask } = watched(1);
  expect(await ask()).toBe(-1);
  world.end();
  expect(await ask()).toBe(1);
  world.nowMs = 1_000;
  expect(await ask()).toBe(1);
  expect(world.made).toBe(2);
  world.end();
  expect(await ask()).toBe(2);
});

it('sharedChecks waits for the first result if it has no initial value', async () => {
  const { world, ask } = watched(0, 'nothing');
  const first = ask();
  await new Promise((resolve) => setTimeout(resolve, 0));
  world.end();
  expect(await first).toBe(1);
});

it.each([
  [async () => 1, { status: 'ok' }],
  [() => Promise.reject(new Error('password')), { status: 'degraded', detail: 'unreachable' }],
  [() => Promise.reject(new Unfit('full')), { status: 'degraded', detail: 'full' }],
])('reachable hides the error of a failed probe unless it is Unfit (%#)', async (probe, expected) => {
  expect(await reachable(probe, 'degraded')).toEqual(expected);
});

it('reachable leaves no timer after an answer, so that a command can end', async () => {
  jest.useFakeTimers();
  try {
    await reachable(async () => 1, 'failed');
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

it.each([
  [{ isThere: false, lagSeconds: null }, 'degraded'],
  [{ isThere: true, lagSeconds: null }, 'ok'],
  [{ isThere: true, lagSeconds: 59 }, 'ok'],
  [{ isThere: true, lagSeconds: 60 }, 'degraded'],
])('following reports a replica with %j as %s', (replica, status) => {
  expect(following(replica).status).toBe(status);
});

it.each([
  [0, 'ok', undefined],
  [4_999, 'ok', undefined],
  [-4_999, 'ok', undefined],
  [61_000, 'degraded', expect.stringContaining('61 s ahead of')],
  [-7_000, 'degraded', expect.stringContaining('7 s behind')],
])('inStep reports clocks that are %d ms apart as %s', async (aheadMs, status, detail) => {
  const check = await inStep(async () => aheadMs);
  expect([check.status, check.detail]).toEqual([status, detail]);
});

describe('databaseChecks', () => {
  const sound = {
    ping: async () => 0,
    missingMigrations: async (): Promise<string[]> => [],
    schemaFaults: async (): Promise<string[]> => [],
    server: async () => ({ most: 97 }),
  };
  const ok = { status: 'ok' };
  const allOk = { database: ok, migrations: ok, schema: ok, clock: ok };

  it('reports missing migrations and too few connections', async () => {
    expect(await databaseChecks(sound, undefined)).toEqual(allOk);
    expect(await databaseChecks(sound, 97)).toEqual({ ...allOk, connections: ok });
    const detail = expect.stringMatching(/has 97 connections .* need 98/);
    expect(await databaseChecks(sound, 98)).toEqual({ ...allOk, connections: { status: 'degraded', detail } });
    const missingMigrations = async (): Promise<string[]> => ['7-x'];
    expect((await databaseChecks({ ...sound, missingMigrations }, undefined)).migrations).toEqual({
      status: 'failed',
      detail: 'missing: 7-x; run npm run db:migrate',
    });
  });

  it.each([
    [['one'], { status: 'failed', detail: 'one' }],
    [['one', 'two', 'three'], { status: 'failed', detail: 'one (and 2 more)' }],
  ])('reports a schema with the faults %j as %j', async (faults, schema) => {
    expect(await databaseChecks({ ...sound, schemaFaults: async () => faults }, undefined)).toEqual({
      ...allOk,
      schema,
    });
  });

  it('reports a database that hangs after three seconds, with its migrations unknown', async () => {
    jest.useFakeTimers();
    try {
      const hangs = (): Promise<never> => new Promise(() => undefined);
      const checks = databaseChecks(
        { ping: hangs, missingMigrations: hangs, schemaFaults: hangs, server: hangs },
        undefined,
      );
      await jest.advanceTimersByTimeAsync(3_000);
      const unknown = { status: 'degraded', detail: 'unknown while the database does not answer' };
      expect(await checks).toEqual({
        database: { status: 'failed', detail: 'does not answer' },
        migrations: unknown,
        schema: unknown,
        clock: unknown,
      });
    } finally {
      jest.useRealTimers();
    }
  });
});
