import { leaseMs, stuckAfterMs } from './settings';

it('lets an attempt belong to its worker for its whole time and 15 seconds for recording', () => {
  expect(leaseMs({ totalTimeoutMs: 30_000 })).toBe(45_000);
});

it('takes work as stuck once its attempt has ended and the sweep has run three times', () => {
  expect(stuckAfterMs({ totalTimeoutMs: 30_000, sweepIntervalMs: 20_000 })).toBe(60_000);
  expect(stuckAfterMs({ totalTimeoutMs: 30_000, sweepIntervalMs: 1_000 })).toBe(45_000);
});
