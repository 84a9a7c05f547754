import { decideRetry, parseRetryAfter } from './retry-policy';

const SCHEDULE = [1_000, 5_000, 30_000];
const failed = { attempt: 1, retryAfterMs: null, isGone: false };

describe('decideRetry', () => {
  it.each([
    [1, 1_000],
    [2, 5_000],
    [3, 30_000],
  ])('after attempt %d waits about %d ms', (attempt, aboutMs) => {
    expect(decideRetry({ ...failed, attempt }, SCHEDULE, 0)).toEqual({ retry: true, inMs: aboutMs * 0.8 });
    expect(decideRetry({ ...failed, attempt }, SCHEDULE, 0.5)).toEqual({ retry: true, inMs: aboutMs });
    expect(decideRetry({ ...failed, attempt }, SCHEDULE, 0.999_999)).toEqual({ retry: true, inMs: aboutMs * 1.2 });
  });

  it('stops after the last delay of the schedule', () => {
    expect(decideRetry({ ...failed, attempt: 4 }, SCHEDULE, 0)).toEqual({ retry: false });
    expect(decideRetry({ ...failed, attempt: 40 }, SCHEDULE, 0)).toEqual({ retry: false });
  });

  it('stops after a 410', () => {
    expect(decideRetry({ ...failed, isGone: true }, SCHEDULE, 0)).toEqual({ retry: false });
  });

  it.each([
    [60_000, 60_000],
    [10, 1_000],
    [86_400_000, 86_400_000],
    [9_999_999_999_000, 86_400_000],
  ])('after a Retry-After of %d ms waits %d ms', (retryAfterMs, inMs) => {
    expect(decideRetry({ ...failed, retryAfterMs }, SCHEDULE, 0.5)).toEqual({ retry: true, inMs });
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-15T09:00:00Z');
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 15 Jan 2026 09:00:30 GMT', 30_000],
    ['Thursday, 15-Jan-26 09:00:30 GMT', 30_000],
    ['Thu Jan 15 09:00:30 2026 GMT', 30_000],
    ['Thu, 15 Jan 2026 08:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['2026', 2_026_000],
    ['', null],
    [undefined, null],
    ['99999999999999999999', null],
  ])('parses %j as %j', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
