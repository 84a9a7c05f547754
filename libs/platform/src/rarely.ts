import type { Warn } from './logger';

const PERIOD_MS = 10_000;

/**
 * Warns at most once in ten seconds, or in `periodMs`; calls in between are dropped. For a dependency that is down, of which there would
 * otherwise be as many warnings as requests.
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
