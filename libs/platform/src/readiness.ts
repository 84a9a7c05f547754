import { TookTooLong, within } from './within';

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
/** A dependency that hangs counts as one that is away. */
const ANSWER_MS = 3_000;
/** Whoever asks waits for so long for checks that are under way, and gets what was last seen then. */
const PATIENCE_MS = 400;

/** For so long an answer is good enough for a probe. */
const FRESH_MS = 1_000;

/**
 * The checks, made once for all who ask within a second, at the same time or one after the other: whoever asks needs no
 * token, so asking must cost the dependencies next to nothing. Answers within {@link PATIENCE_MS} whatever hangs: with
 * what was last seen. Callers before the first answer wait for it, within the checks' own deadlines, or get `unseen`.
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

/** A dependency that answers, and does not do its work. Its message is shown to whoever asks for readiness. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
}

/** `ok` when the probe resolves, else `onFailure`, with the reason where it is {@link Unfit}. */
export async function reachable(probe: () => Promise<unknown>, onFailure: 'degraded' | 'failed'): Promise<Check> {
  try {
    await within(ANSWER_MS, probe());
    return OK;
  } catch (error) {
    const detail = error instanceof TookTooLong ? 'does not answer' : 'unreachable';
    return { status: onFailure, detail: error instanceof Unfit ? error.message : detail };
  }
}

/** The questions of readiness to a database. */
export interface CheckedDatabase {
  /** Resolves with the milliseconds by which its clock is ahead of this one. */
  ping: () => Promise<number>;
  missingMigrations: () => Promise<readonly string[]>;
  schemaFaults: () => Promise<readonly string[]>;
  /** Resolves with the number of connections that the server has for logins. */
  server: () => Promise<{ most: number }>;
}

const UNKNOWN: Check = { status: 'degraded', detail: 'unknown while the database does not answer' };

/**
 * Checks the database and what is in it. One that is away or hangs is named once: the others are unknown then, and not failed.
 * `connections` is what all processes need at their maxima (`MAX_GATEWAYS`, `MAX_WORKERS`), where those are known.
 */
export async function databaseChecks(
  database: CheckedDatabase,
  connections: number | undefined,
): Promise<Record<'database' | 'migrations' | 'schema' | 'clock', Check> & { connections?: Check }> {
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

/** `degraded` while the server has fewer connections than are needed. */
async function enough(server: () => Promise<{ most: number }>, needed: number): Promise<Check> {
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

/** `failed` while the database lacks migrations that this build has. */
async function migrated(missing: () => Promise<readonly string[]>): Promise<Check> {
  try {
    const names = await within(ANSWER_MS, missing());
    return names.length === 0
      ? OK
      : { status: 'failed', detail: `missing: ${names.join(', ')}; run npm run db:migrate` };
  } catch {
    return { status: 'failed', detail: 'unknown: is the database reachable and migrated? (npm run db:migrate)' };
  }
}

/** `failed` while the schema is not as the migrations leave it: the first of the faults, and how many there are. */
async function intact(faults: () => Promise<readonly string[]>): Promise<Check> {
  try {
    const [first, ...others] = await within(ANSWER_MS, faults());
    if (first === undefined) return OK;
    return { status: 'failed', detail: others.length === 0 ? first : `${first} (and ${others.length} more)` };
  } catch {
    return { status: 'failed', detail: 'unknown: is the database reachable?' };
  }
}

/** Clocks that differ by more than this date what happens before or after what it follows. */
const CLOCKS_APART_MS = 5_000;

/** `degraded` while the database's clock and ours are apart. `aheadMs` gives by how much it is ahead, in milliseconds. */
export async function inStep(aheadMs: () => Promise<number>): Promise<Check> {
  try {
    const ahead = await within(ANSWER_MS, aheadMs());
    if (Math.abs(ahead) < CLOCKS_APART_MS) return OK;
    const apart = `${Math.round(Math.abs(ahead) / 1_000)} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
    return { status: 'degraded', detail: `the database's clock is ${apart} this machine's: see that both follow NTP` };
  } catch {
    return { status: 'degraded', detail: 'unknown' };
  }
}

/** `degraded` while the replica does not answer, or lags by a minute. Reads go to the primary then. */
export function following(replica: { isThere: boolean; lagSeconds: number | null }): Check {
  if (!replica.isThere) return { status: 'degraded', detail: 'unreachable: the primary answers what it would' };
  const lag = replica.lagSeconds ?? 0;
  return lag * 1_000 < LATE_MS ? OK : { status: 'degraded', detail: `it lags by ${Math.round(lag)} s` };
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
