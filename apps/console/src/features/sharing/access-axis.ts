import type { api } from '@identity-state/client';

type Period = api.AccessPeriod;

const MOST_STEPS = 2_000;
const HOUR_MS = 3_600_000;
/** Steps of the slider's keys. The smallest one is used that needs no more than the maximum number of steps. */
const STEPS_MS = [1_000, 10_000, 60_000, 600_000, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];
const LONGEST_STEP_MS = 7 * 24 * HOUR_MS;
/** The axis extends at least this far into the future, or as far as into the past. */
const AHEAD_MS = 90 * 24 * HOUR_MS;
const MARGIN = 0.08;

export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Returns the range of the axis: it includes the first beginning, the last known end, and now. */
export function boundsOf(periods: readonly Period[], now: number): Bounds {
  const from = Math.min(now, ...periods.map((period) => Date.parse(period.from)));
  const last = Math.max(now, ...periods.map(({ until }) => (until === null ? now : Date.parse(until))));
  // A grant that ends in years must not squeeze the past.
  const to = Math.min(last, now + Math.max(now - from, AHEAD_MS));
  const margin = Math.max(60_000, (to - from) * MARGIN);
  return { from: from - margin, to: to + margin };
}

/** Returns the moments at which access changes, in rising order. */
export function momentsOfChange(periods: readonly Period[]): number[] {
  const times = periods.flatMap(({ from, until }) => (until === null ? [from] : [from, until]));
  return [...new Set(times.map((time) => Date.parse(time)))].sort((a, b) => a - b);
}

export function lanesOf(periods: readonly Period[]): [string, Period[]][] {
  const lanes = new Map<string, Period[]>();
  for (const period of periods) {
    const lane = lanes.get(period.grantee_tenant_id) ?? [];
    lane.push(period);
    lanes.set(period.grantee_tenant_id, lane);
  }
  return [...lanes];
}

/** Returns the step of the slider's keys. */
export function stepOf({ from, to }: Bounds): number {
  return STEPS_MS.find((ms) => (to - from) / ms <= MOST_STEPS) ?? LONGEST_STEP_MS;
}

/** Returns a moment's place on the axis as a percentage. */
export function shareOf(time: number, { from, to }: Bounds): string {
  return `${Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100))}%`;
}
