import { useSyncExternalStore } from 'react';
import { once } from './once.ts';
import styles from './ui.module.css';

const momentFormat = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }));
const dayFormat = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }));
const relativeFormat = once(() => new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }));

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Beyond this distance, only the date is shown. */
const NEAR_MS = 45 * DAY_MS;
const UNITS = [
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', MINUTE_MS],
] as const;

/** Formats a moment in the reader's time zone. */
export function momentText(at: string | number | Date): string {
  return momentFormat().format(new Date(at));
}

/** Formats a day in the reader's time zone. */
export function dayText(at: string | number | Date): string {
  return dayFormat().format(new Date(at));
}

/** Returns the distance of a moment from now: `3 hours ago`. Null if only the date is shown. */
export function distanceText(at: number, now: number): string | null {
  const distance = at - now;
  if (Math.abs(distance) > NEAR_MS) return null;
  const [unit, size] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? ['minute', MINUTE_MS];
  return relativeFormat().format(Math.trunc(distance / size), unit);
}

/** Returns the distance of a day from today: `yesterday`. */
function daysText(at: Date, now: number): string | null {
  const distance = new Date(at).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0);
  return Math.abs(distance) > NEAR_MS ? null : relativeFormat().format(Math.round(distance / DAY_MS), 'day');
}

/** Shows a moment in the reader's time zone, and its distance from now. The tooltip contains UTC. */
export function Time({ at, dayOnly = false }: { at: string | number; dayOnly?: boolean }) {
  const now = useSyncExternalStore(subscribe, getNow);
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = date.toISOString();
  const distance = dayOnly ? daysText(date, now) : distanceText(date.getTime(), now);
  return (
    <time dateTime={utc} title={utc.replace('T', ' ').replace(/(\.000)?Z$/, ' UTC')}>
      {(dayOnly ? dayFormat() : momentFormat()).format(date)}
      {distance !== null && <small className={styles.distance}> ({distance})</small>}
    </time>
  );
}

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

const getNow = (): number => now;

/** Updates distances every minute. */
function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, MINUTE_MS);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}
