import type { WorkerEnv } from '@iss/platform';

/** Injection token of the worker's settings. */
export const SETTINGS = Symbol('SETTINGS');
export type WorkerSettings = WorkerEnv;

/** Added to the time of an attempt for recording it, even if the database restarts meanwhile. */
const RECORDING_MS = 15_000;

/** Returns how long an attempt belongs to the worker that claimed it. After that, another worker may make it. */
export function leaseMs({ totalTimeoutMs }: Pick<WorkerSettings, 'totalTimeoutMs'>): number {
  return totalTimeoutMs + RECORDING_MS;
}

/** Returns the age from which work counts as stuck: every attempt has ended, and a sweep has found remaining work. */
export function stuckAfterMs(settings: Pick<WorkerSettings, 'totalTimeoutMs' | 'sweepIntervalMs'>): number {
  return Math.max(leaseMs(settings), 3 * settings.sweepIntervalMs);
}
