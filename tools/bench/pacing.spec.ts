import { setTimeout as wait } from 'node:timers/promises';
import { flatOut, Latencies, paced, percentiles } from './pacing.ts';

const now = (): number => performance.now();

describe('percentiles', () => {
  it('returns the value at each share of the sorted values', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentiles(values, [0, 0.5, 0.99, 1])).toEqual([1, 51, 100, 100]);
  });

  it('returns 0 for an empty list', () => {
    expect(percentiles([], [0.5])).toEqual([0]);
  });
});

describe('Latencies', () => {
  it('counts iterations that ended in the measured period, and all in total', () => {
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
  it('repeats each client independently until the end', async () => {
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

  it('keeps the rate even if responses are immediate', async () => {
    jest.useFakeTimers();
    const latencies = new Latencies(now(), now() + 200);
    const pacing = paced([async () => undefined, async () => undefined], 500, latencies);
    await jest.advanceTimersByTimeAsync(201);
    await pacing;
    // 0, 2, 4, … 198 ms
    expect(latencies.total).toBe(100);
  });

  it('measures latency from the due time, including the wait for a busy client', async () => {
    const latencies = new Latencies(now(), now() + 300);
    // Ten are due while the only client waits for the first response.
    let calls = 0;
    await paced([() => wait(calls++ === 0 ? 100 : 0)], 100, latencies);
    const [ofSome = 0, longest = 0] = latencies.percentiles(0.85, 1);
    expect(longest).toBeGreaterThanOrEqual(99);
    expect(ofSome).toBeGreaterThan(40);
  });

  it('returns how late it started iterations, and ends after the last response', async () => {
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
