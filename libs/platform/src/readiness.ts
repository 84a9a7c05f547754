import { within } from './within';

/** The state of one dependency. `degraded`: the process does its work without it, later or slower. */
export interface Check {
  status: 'ok' | 'degraded' | 'failed';
  /** What is wrong and, where there is something to do, what. */
  detail?: string;
  /** The same for programs, where there are several. */
  reason?: string;
}

/** Answer of `/v1/ops/readiness`: whether the process should get work, and each dependency by name. */
export interface Readiness<Name extends string> {
  status: 'ready' | 'not_ready';
  checks: Record<Name, Check>;
}

const OK: Check = { status: 'ok' };
/** Age from which events and deliveries count as late. */
const LATE_MS = 60_000;
/** A dependency that hangs counts as one that is away: whoever asks does not wait for long either. */
const ANSWER_MS = 3_000;

/** For so long an answer is good enough for a probe. */
const FRESH_MS = 1_000;

/**
 * The checks, made once for all who ask within a second, at the same time or one after the other: whoever asks needs no
 * token, so asking must cost the dependencies next to nothing.
 */
export function sharedChecks<T>(check: () => Promise<T>, now = (): number => performance.now()): () => Promise<T> {
  let last: { startedAt: number; checks: Promise<T>; isDone: boolean } | undefined;
  return () => {
    if (last !== undefined && (!last.isDone || now() - last.startedAt < FRESH_MS)) return last.checks;
    const current = { startedAt: now(), checks: check(), isDone: false };
    last = current;
    current.checks.then(
      () => (current.isDone = true),
      () => (last = undefined),
    );
    return current.checks;
  };
}

/** `ok` when the probe resolves, else `onFailure`. */
export async function reachable(probe: () => Promise<void>, onFailure: 'degraded' | 'failed'): Promise<Check> {
  try {
    await within(ANSWER_MS, probe());
    return OK;
  } catch {
    return { status: onFailure, detail: 'unreachable' };
  }
}

/** `failed` while the database lacks migrations that this build has. */
export async function migrated(missing: () => Promise<readonly string[]>): Promise<Check> {
  try {
    const names = await within(ANSWER_MS, missing());
    return names.length === 0
      ? OK
      : { status: 'failed', detail: `missing: ${names.join(', ')}; run npm run db:migrate` };
  } catch {
    return { status: 'failed', detail: 'unknown: is the database reachable and migrated? (npm run db:migrate)' };
  }
}

/** `degraded` when the oldest thing that waits has waited for a minute. `ageMs` gives its age in milliseconds. */
export async function timely(what: string, ageMs: () => Promise<number>): Promise<Check> {
  try {
    const age = await within(ANSWER_MS, ageMs());
    if (age < LATE_MS) return OK;
    return { status: 'degraded', detail: `the oldest ${what} has waited for ${Math.round(age / 1_000)} s` };
  } catch {
    return { status: 'degraded', detail: 'unknown' };
  }
}
