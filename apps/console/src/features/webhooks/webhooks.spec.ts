import { attemptBars } from './delivery-plots.tsx';
import { type Attempt, type Delivery, isRetried, isSuccess, lastAttempt, subscriptionPath } from './webhooks.ts';

const attempt = (startedAt: string, code: number | null = 200): Attempt => ({
  attempt: 1,
  started_at: startedAt,
  latency_ms: 5,
  status_code: code,
  error_phase: null,
  error: null,
});
const delivery = (status: Delivery['status'], attempts: Attempt[]): Delivery => ({
  delivery_id: 'd',
  event_id: 'e',
  event_type: 'webhook.test',
  subscription_id: 's',
  status,
  attempt_count: attempts.length,
  next_attempt_at: null,
  created_at: '',
  finished_at: null,
  skipped_reason: null,
  request_id: null,
  traceparent: null,
  attempts,
});

it.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
  [null, false],
])('an attempt with status code %s is a success: %s', (code, expected) => {
  expect(isSuccess(attempt('', code))).toBe(expected);
});

it.each([
  ['pending', 0, false],
  ['pending', 1, true],
  ['dead', 1, false],
] as const)('isRetried of a %s delivery after %i attempts is %s', (status, count, expected) => {
  expect(
    isRetried(
      delivery(
        status,
        Array.from({ length: count }, () => attempt('')),
      ),
    ),
  ).toBe(expected);
});

it('lastAttempt returns the newest attempt', () => {
  expect(lastAttempt(delivery('dead', [attempt('a'), attempt('b')]))?.started_at).toBe('b');
  expect(lastAttempt(delivery('dead', []))).toBeUndefined();
});

it('subscriptionPath encodes ids', () => expect(subscriptionPath('a/b')).toBe('/v1/webhook-subscriptions/a%2Fb'));

const MINUTE = 60;
it.each([
  ['one moment', ['2026-01-15T10:00:30Z'], MINUTE, 8],
  ['less than an hour', ['2026-01-15T10:00:00Z', '2026-01-15T10:59:00Z'], MINUTE, 67],
  ['an hour', ['2026-01-15T10:00:00Z', '2026-01-15T11:00:00Z'], MINUTE, 68],
  ['more than an hour', ['2026-01-15T10:00:00Z', '2026-01-15T11:01:00Z'], 10 * MINUTE, 14],
  ['some days', ['2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'], 60 * MINUTE, 56],
  ['months', ['2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'], 24 * 60 * MINUTE, 67],
])('attemptBars counts the attempts of %s', (_what, times, width, count) => {
  const bars = attemptBars(times.map((at, index) => attempt(at, index === 0 ? 200 : 500)));
  expect((bars.times[1] ?? 0) - (bars.times[0] ?? 0)).toBe(width);
  expect(bars.all).toHaveLength(count);
  const placed = times.map((at) => bars.times.findLastIndex((time) => time * 1000 <= Date.parse(at)));
  for (const place of placed) expect(bars.all[place]).toBe(1);
  expect(bars.failed.map((value, index) => (value > 0 ? index : -1)).filter((index) => index >= 0)).toEqual(
    placed.slice(1),
  );
});
