import { useMemo } from 'react';
import { TEXT } from './words.ts';
import { Plot } from '../../ui/plot/plot.tsx';
import ui from '../../ui/ui.module.css';
import { type Attempt, type Delivery, isSuccess } from './webhooks.ts';

const MINUTE_MS = 60_000;
/** The possible periods of a bar. The shortest one is used that needs no more than the maximum number of bars. */
const WIDTHS_MS = [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 6 * 60 * MINUTE_MS, 24 * 60 * MINUTE_MS];
const MOST_BARS = 60;

/** Plots the success and the latency of attempts. */
export function DeliveryPlots({ deliveries, isWhole }: { deliveries: readonly Delivery[]; isWhole: boolean }) {
  const attempts = useMemo(
    () =>
      deliveries
        .flatMap((delivery) => delivery.attempts)
        .sort((one, other) => Date.parse(one.started_at) - Date.parse(other.started_at)),
    [deliveries],
  );
  const bars = useMemo(() => attemptBars(attempts), [attempts]);
  const latency = useMemo(
    () => ({
      times: attempts.map(({ started_at: at }) => Date.parse(at) / 1000),
      values: attempts.map(({ latency_ms: ms }) => ms),
    }),
    [attempts],
  );
  if (attempts.length === 0) return null;
  const sorted = latency.values.toSorted((a, b) => a - b);
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return (
    <div className={ui.cards}>
      <div>
        <h3>{TEXT.success}</h3>
        <Plot
          title={TEXT.success}
          times={bars.times}
          series={[
            { label: TEXT.attempted, colour: '--good', values: bars.all, kind: 'bars' },
            { label: TEXT.failed, colour: '--bad', values: bars.failed, kind: 'bars' },
          ]}
        >
          <p className={ui.quiet}>
            {TEXT.successSaid(attempts.filter(isSuccess).length, attempts.length)}{' '}
            {!isWhole && TEXT.ofNewest(deliveries.length)}
          </p>
        </Plot>
      </div>
      <div>
        <h3>{TEXT.latencyPlot}</h3>
        <Plot
          title={TEXT.latencyPlot}
          times={latency.times}
          series={[{ label: TEXT.milliseconds, colour: '--accent', values: latency.values, kind: 'points' }]}
        >
          <p className={ui.quiet}>{TEXT.latencySaid(quantile(0.5), quantile(0.95), quantile(1))}</p>
        </Plot>
      </div>
    </div>
  );
}

export function attemptBars(attempts: readonly Attempt[]): { times: number[]; all: number[]; failed: number[] } {
  const times = attempts.map(({ started_at: at }) => Date.parse(at));
  const [first, last] = [times[0] ?? 0, times[times.length - 1] ?? 0];
  const width = WIDTHS_MS.find((ms) => (last - first) / ms <= MOST_BARS) ?? 24 * 60 * MINUTE_MS;
  // Empty periods before them keep a single bar narrow.
  const start = Math.floor(first / width) * width - 4 * width;
  const count = Math.floor((last - start) / width) + 4;
  const all = Array.from({ length: count }, () => 0);
  const failed = Array.from({ length: count }, () => 0);
  attempts.forEach((attempt, index) => {
    const place = Math.floor(((times[index] ?? start) - start) / width);
    all[place] = (all[place] ?? 0) + 1;
    if (!isSuccess(attempt)) failed[place] = (failed[place] ?? 0) + 1;
  });
  return { times: all.map((_, index) => (start + index * width) / 1000), all, failed };
}
