import { TookTooLong, within } from '../within';

/** The state of one dependency. `degraded`: the process works without it, but later or slower. */
export interface DependencyCheck {
  status: 'ok' | 'degraded' | 'failed';
  /** Describes the problem and, if possible, how to fix it. */
  detail?: string;
  /** The same as a code for programs, if there are several reasons. */
  reason?: string;
}

/** The response of `/v1/ops/readiness`: whether the process should get work, and each dependency by name. */
export interface Readiness<Name extends string> {
  status: 'ready' | 'not_ready';
  checks: Record<Name, DependencyCheck>;
}

const OK: DependencyCheck = { status: 'ok' };
/** The age from which events and deliveries count as late. */
const LATE_MS = 60_000;
/** A dependency that does not respond within this time counts as unreachable. */
const ANSWER_MS = 3_000;
/** How long a caller waits for running checks before it gets the previous result. */
const PATIENCE_MS = 400;

/** How long a result is reused. */
const FRESH_MS = 1_000;

/**
 * Shares the checks among all callers within a second. Callers need no token, so their requests must cost the
 * dependencies almost nothing. Responds within {@link PATIENCE_MS} even if a dependency hangs, with the previous
 * result. Callers before the first result get `unseen`, or wait for it if `unseen` is undefined.
 */
export function sharedChecks<T>(
  check: () => Promise<T>,
  unseen?: T,
  now = (): number => performance.now(),
  patienceMs = PATIENCE_MS,
): () => Promise<T> {
  let last: { startedAt: number; checks: Promise<T>; isDone: boolean } | undefined;
  let seen = unseen;
  return async () => {
    if (last === undefined || (last.isDone && now() - last.startedAt >= FRESH_MS)) {
      const current = { startedAt: now(), checks: check(), isDone: false };
      last = current;
      current.checks.then(
        (checks) => {
          current.isDone = true;
          seen = checks;
        },
        () => (last = undefined),
      );
    }
    const { checks, isDone } = last;
    if (isDone || seen === undefined) return checks;
    const late = Symbol('late');
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<typeof late>((resolve) => (timer = setTimeout(resolve, patienceMs, late)));
    const answer = await Promise.race([checks, patience]).finally(() => clearTimeout(timer));
    return answer === late ? seen : answer;
  };
}

/** A dependency that responds but cannot do its work. The message is public in readiness. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
}

/** Returns `ok` if the probe resolves, and otherwise `onFailure`, with the message of an {@link Unfit}. */
export async function reachable(
  probe: () => Promise<unknown>,
  onFailure: 'degraded' | 'failed',
): Promise<DependencyCheck> {
  try {
    await within(ANSWER_MS, probe());
    return OK;
  } catch (error) {
    const detail = error instanceof TookTooLong ? 'does not answer' : 'unreachable';
    return { status: onFailure, detail: error instanceof Unfit ? error.message : detail };
  }
}

/** The database queries of readiness. */
export interface CheckedDatabase {
  /** Resolves with the milliseconds by which the database's clock is ahead of this machine's. */
  ping: () => Promise<number>;
  missingMigrations: () => Promise<readonly string[]>;
  schemaFaults: () => Promise<readonly string[]>;
  /** Resolves with the number of connections that the server allows for logins. */
  server: () => Promise<{ most: number }>;
}

const UNKNOWN: DependencyCheck = { status: 'degraded', detail: 'unknown while the database does not answer' };

/**
 * Checks the database and its contents. If it is unreachable, only `database` fails, and the other checks are unknown.
 * `connections` is the number that all processes need at their maximum numbers (`MAX_GATEWAYS`, `MAX_WORKERS`), if
 * known.
 */
export async function databaseChecks(
  database: CheckedDatabase,
  connections: number | undefined,
): Promise<
  Record<'database' | 'migrations' | 'schema' | 'clock', DependencyCheck> & { connections?: DependencyCheck }
> {
  const [answer, migrations, schema, clock, affordable] = await Promise.all([
    reachable(() => database.ping(), 'failed'),
    migrated(() => database.missingMigrations()),
    intact(() => database.schemaFaults()),
    inStep(() => database.ping()),
    connections === undefined ? undefined : enough(() => database.server(), connections),
  ]);
  const isThere = answer.status === 'ok';
  return {
    database: answer,
    migrations: isThere ? migrations : UNKNOWN,
    schema: isThere ? schema : UNKNOWN,
    clock: isThere ? clock : UNKNOWN,
    ...(affordable !== undefined && { connections: isThere ? affordable : UNKNOWN }),
  };
}

/** Returns `degraded` if the server allows fewer connections than needed. */
async function enough(server: () => Promise<{ most: number }>, needed: number): Promise<DependencyCheck> {
  try {
    const { most } = await within(ANSWER_MS, server());
    if (needed <= most) return OK;
    return {
      status: 'degraded',
      detail: `PostgreSQL has ${most} connections for logins, and MAX_GATEWAYS and MAX_WORKERS need ${needed}: raise max_connections or lower the maxima`,
    };
  } catch {
    return { status: 'degraded', detail: 'unknown' };
  }
}

/** Returns `failed` if the database lacks migrations of this build. */
async function migrated(missing: () => Promise<readonly string[]>): Promise<DependencyCheck> {
  try {
    const names = await within(ANSWER_MS, missing());
    return names.length === 0
      ? OK
      : { status: 'failed', detail: `missing: ${names.join(', ')}; run npm run db:migrate` };
  } catch {
    return { status: 'failed', detail: 'unknown: is the database reachable and migrated? (npm run db:migrate)' };
  }
}

/**
 * Returns `failed` if the schema differs from that of the migrations, with the first fault and the number of the
 * others.
 */
async function intact(faults: () => Promise<readonly string[]>): Promise<DependencyCheck> {
  try {
    const [first, ...others] = await within(ANSWER_MS, faults());
    if (first === undefined) return OK;
    return { status: 'failed', detail: others.length === 0 ? first : `${first} (and ${others.length} more)` };
  } catch {
    return { status: 'failed', detail: 'unknown: is the database reachable?' };
  }
}

/** With a larger difference, timestamps no longer show the order of events. */
const CLOCKS_APART_MS = 5_000;

/**
 * Returns `degraded` if the clocks of the database and this machine differ. `aheadMs` resolves with the difference in
 * milliseconds, positive if the database's clock is ahead.
 */
export async function inStep(aheadMs: () => Promise<number>): Promise<DependencyCheck> {
  try {
    const ahead = await within(ANSWER_MS, aheadMs());
    if (Math.abs(ahead) < CLOCKS_APART_MS) return OK;
    const apart = `${Math.round(Math.abs(ahead) / 1_000)} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
    return { status: 'degraded', detail: `the database's clock is ${apart} this machine's: synchronize both with NTP` };
  } catch {
    return { status: 'degraded', detail: 'unknown' };
  }
}

/** Returns `degraded` if the replica is unreachable or lags by a minute or more. Reads then go to the primary. */
export function following(replica: { isThere: boolean; lagSeconds: number | null }): DependencyCheck {
  if (!replica.isThere) return { status: 'degraded', detail: 'unreachable: reads go to the primary' };
  const lag = replica.lagSeconds ?? 0;
  return lag * 1_000 < LATE_MS ? OK : { status: 'degraded', detail: `it lags by ${Math.round(lag)} s` };
}

/**
 * Returns `degraded` if the oldest waiting item has waited for a minute. `ageMs` resolves with its age in milliseconds.
 */
export async function timely(what: string, ageMs: () => Promise<number>): Promise<DependencyCheck> {
  try {
    const age = await within(ANSWER_MS, ageMs());
    if (age < LATE_MS) return OK;
    return { status: 'degraded', detail: `the oldest ${what} has waited for ${Math.round(age / 1_000)} s` };
  } catch {
    return { status: 'degraded', detail: 'unknown' };
  }
}
