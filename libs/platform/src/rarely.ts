import type { Warn } from './logger';

const PERIOD_MS = 10_000;

/**
 * Returns a function that warns at most once per period (ten seconds by default) and drops the calls in between. While
 * a dependency is down, there would otherwise be as many warnings as requests.
 */
export function rarely(warn: Warn, periodMs = PERIOD_MS): Warn {
  let silentUntil = 0;
  return (message, error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + periodMs;
    warn(message, error);
  };
}
