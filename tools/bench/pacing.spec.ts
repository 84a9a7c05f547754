import { setTimeout as wait } from 'node:timers/promises';
import { flatOut, Latencies, paced, percentiles } from './pacing.ts';

const now = (): number => performance.now();

describe('percentiles', () => {
  it('takes the value that this share does not exceed', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentiles(values, [0, 0.5, 0.99, 1])).toEqual([1, 51, 100, 100]);
  });

  it('is 0 of nothing', () => {
    expect(percentiles([], [0.5])).toEqual([0]);
  });
});

describe('Latencies', () => {
  it('counts what ended within its time, and all in the total', () => {
    const latencies = new Latencies(100, 200);
    latencies.add(90, 99);
    latencies.add(95, 101);
    latencies.add(150, 152);
    latencies.add(199, 200);
    expect(latencies.total).toBe(4);
    expect(latencies.counted).toBe(2);
    expect(latencies.percentiles(0, 1)).toEqual([2, 6]);
  });
});

describe('flatOut', () => {
  it('lets each client go on by itself until the end', async () => {
    const latencies = new Latencies(now(), now() + 100);
    let [slow, fast] = [0, 0];
    await flatOut([() => wait(40).then(() => slow++), () => wait(1).then(() => fast++)], latencies);
    expect(slow).toBeGreaterThan(0);
    expect(fast).toBeGreaterThan(0);
    expect(latencies.total).toBe(slow + fast);
  });

  it('fails when a client fails', async () => {
    await expect(
      flatOut([() => Promise.reject(new Error('500'))], new Latencies(now(), now() + 1_000)),
    ).rejects.toThrow('500');
  });
});

describe('paced', () => {
  afterEach(() => jest.useRealTimers());

  it('keeps to the rate, however fast the answers are', async () => {
    jest.useFakeTimers();
    const latencies = new Latencies(now(), now() + 200);
    const pacing = paced([async () => undefined, async () => undefined], 500, latencies);
    await jest.advanceTimersByTimeAsync(201);
    await pacing;
    // 0, 2, 4, … 198 ms
    expect(latencies.total).toBe(100);
  });

  it('counts the wait for a client that the server holds, from when the iteration was due', async () => {
    const latencies = new Latencies(now(), now() + 300);
    // Ten are due while the only client waits for the first response.
    let calls = 0;
    await paced([() => wait(calls++ === 0 ? 100 : 0)], 100, latencies);
    const [ofSome = 0, longest = 0] = latencies.percentiles(0.85, 1);
    expect(longest).toBeGreaterThanOrEqual(99);
    expect(ofSome).toBeGreaterThan(40);
  });

  it('tells how late it was itself, and ends when the last answer has come', async () => {
    const latencies = new Latencies(now(), now() + 100);
    let answered = 0;
    const lateness = await paced(
      Array.from({ length: 4 }, () => () => wait(5).then(() => answered++)),
      100,
      latencies,
    );
    expect(answered).toBe(latencies.total);
    expect(lateness.every((ms) => ms >= 0)).toBe(true);
    expect(lateness.length).toBeGreaterThan(0);
  });

  it('fails when a client fails', async () => {
    await expect(
      paced([() => Promise.reject(new Error('500'))], 100, new Latencies(now(), now() + 1_000)),
    ).rejects.toThrow('500');
  });
});
