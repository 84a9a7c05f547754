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
  it('is stuck when due work makes no progress for the limit', async () => {
    const { world, watch } = watched();
    world.oldestDueMs = async () => world.nowMs;
    world.nowMs = LIMIT_MS;
    expect(await watch.isStuck()).toBe(false);
    world.nowMs = 2 * LIMIT_MS - 1;
    expect(await watch.isStuck()).toBe(false);
    world.nowMs = 2 * LIMIT_MS;
    expect(await watch.isStuck()).toBe(true);
  });

  it('restarts its limit with every completed piece of work', async () => {
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

  it('is not stuck while no work is due or has only just become due', async () => {
    const { world, watch } = watched();
    for (const dueMs of [0, LIMIT_MS - 1, 0, LIMIT_MS - 1]) {
      world.nowMs += 100 * LIMIT_MS;
      world.oldestDueMs = async () => dueMs;
      expect(await watch.isStuck()).toBe(false);
    }
  });

  it('is not stuck while the database is down, and restarts its limit afterwards', async () => {
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

  it('answers even if the database does not', async () => {
    const { world, watch } = watched();
    world.nowMs = 5 * LIMIT_MS;
    world.oldestDueMs = () => new Promise(() => undefined);
    expect(await watch.isStuck()).toBe(false);
  });
});

describe('Liveness', () => {
  it('detects stuck deliveries while events make progress', async () => {
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
