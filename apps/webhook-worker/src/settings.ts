import type { WorkerEnv } from '@iss/platform';

/** What the worker was started with, injected by this token. */
export const SETTINGS = Symbol('SETTINGS');
export type WorkerSettings = WorkerEnv;

/** Beyond the time of an attempt: for recording it, also while the database restarts. */
const RECORDING_MS = 15_000;

/** For so long an attempt belongs to the worker that claimed it; then another may make it. */
export function leaseMs({ totalTimeoutMs }: WorkerSettings): number {
  return totalTimeoutMs + RECORDING_MS;
}

/** From when on work counts as stuck: by then every attempt has ended, and a sweep has found what is left. */
export function stuckAfterMs(settings: WorkerSettings): number {
  return Math.max(leaseMs(settings), 3 * settings.sweepIntervalMs);
}
