import { Liveness, WorkWatch } from './liveness';

const LIMIT_MS = 60_000;

/** Returns a watch whose clock and database the test controls. */
function watched() {
  const world = { nowMs: 0, oldestDueMs: () => Promise.resolve(0) };
  const watch = new WorkWatch(
    () => world.oldestDueMs(),
    LIMIT_MS,
    () => world.nowMs,
  );
  return { world, watch };
}

describe('WorkWatch', () => {
  it('takes work that has been due for the limit, and was seen so for the limit without anything done, for stuck', async () => {
    const { world, watch } = watched();
    world.oldestDueMs = async () => world.nowMs;
    world.nowMs = LIMIT_MS;
    expect(await watch.isStuck()).toBe(false);
    world.nowMs = 2 * LIMIT_MS - 1;
    expect(await watch.isStuck()).toBe(false);
    world.nowMs = 2 * LIMIT_MS;
    expect(await watch.isStuck()).toBe(true);
  });

  it('begins anew with every piece that is done', async () => {
    const { world, watch } = watched();
    world.oldestDueMs = async () => 10 * LIMIT_MS;
    for (let probes = 0; probes < 20; probes += 1) {
      world.nowMs += LIMIT_MS - 1;
      expect(await watch.isStuck()).toBe(false);
      watch.moved();
    }
    world.nowMs += LIMIT_MS;
    expect(await watch.isStuck()).toBe(false);
    world.nowMs += LIMIT_MS;
    expect(await watch.isStuck()).toBe(true);
    watch.moved();
    expect(await watch.isStuck()).toBe(false);
  });

  it('is not stuck while nothing is due, however long that lasts, nor when work has only just become due', async () => {
    const { world, watch } = watched();
    for (const dueMs of [0, LIMIT_MS - 1, 0, LIMIT_MS - 1]) {
      world.nowMs += 100 * LIMIT_MS;
      world.oldestDueMs = async () => dueMs;
      expect(await watch.isStuck()).toBe(false);
    }
  });

  it('is not stuck while the database is away, and gets its time when that is back', async () => {
    const { world, watch } = watched();
    world.oldestDueMs = () => Promise.reject(new Error('unavailable'));
    for (let probes = 0; probes < 5; probes += 1) {
      world.nowMs += LIMIT_MS;
      expect(await watch.isStuck()).toBe(false);
    }
    world.oldestDueMs = async () => 5 * LIMIT_MS;
    expect(await watch.isStuck()).toBe(false);
    world.nowMs += LIMIT_MS;
    expect(await watch.isStuck()).toBe(true);
    world.oldestDueMs = () => Promise.reject(new Error('unavailable'));
    expect(await watch.isStuck()).toBe(false);
  });

  it('answers although the database does not', async () => {
    const { world, watch } = watched();
    world.nowMs = 5 * LIMIT_MS;
    world.oldestDueMs = () => new Promise(() => undefined);
    expect(await watch.isStuck()).toBe(false);
  });
});

describe('Liveness', () => {
  it('does not take the one kind of work for the other', async () => {
    const [events, deliveries] = [watched(), watched()];
    const liveness = new Liveness(events.watch, deliveries.watch);
    deliveries.world.oldestDueMs = async () => LIMIT_MS;
    for (const nowMs of [LIMIT_MS, 2 * LIMIT_MS]) {
      events.world.nowMs = deliveries.world.nowMs = nowMs;
      events.watch.moved();
      expect(await liveness.isAlive()).toBe(nowMs === LIMIT_MS);
    }
  });
});
