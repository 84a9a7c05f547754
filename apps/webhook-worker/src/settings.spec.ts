import { leaseMs, stuckAfterMs } from './settings';

it('a lease lasts for the total time of an attempt and 15 seconds for recording', () => {
  expect(leaseMs({ totalTimeoutMs: 30_000 })).toBe(45_000);
});

it('work counts as stuck after the end of its attempt and three sweeps', () => {
  expect(stuckAfterMs({ totalTimeoutMs: 30_000, sweepIntervalMs: 20_000 })).toBe(60_000);
  expect(stuckAfterMs({ totalTimeoutMs: 30_000, sweepIntervalMs: 1_000 })).toBe(45_000);
});
