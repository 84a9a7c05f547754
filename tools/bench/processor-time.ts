import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in units of 10 ms. */
const MS_PER_TICK = 10;
/** The number of the state, the first field of /proc/PID/stat after the name in parentheses; proc_pid_stat(5) counts from 1. */
const FIRST_FIELD = 3;
const [PARENT, USER, SYSTEM, ENDED_CHILDREN_USER, ENDED_CHILDREN_SYSTEM] = [4, 14, 15, 16, 17];

interface Times {
  parent: number;
  ownMs: number;
  endedChildrenMs: number;
}

/** Reads the times of a process or of one of its threads; undefined if it does not exist. */
function timesOf(pid: number | string, thread?: number): Times | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/${thread === undefined ? '' : `task/${thread}/`}stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - FIRST_FIELD]);
  return {
    parent: field(PARENT),
    ownMs: (field(USER) + field(SYSTEM)) * MS_PER_TICK,
    endedChildrenMs: (field(ENDED_CHILDREN_USER) + field(ENDED_CHILDREN_SYSTEM)) * MS_PER_TICK,
  };
}

/**
 * Returns the processor time of a process since its start, or of one of its threads, in milliseconds. The first thread has the
 * id of the process. Returns NaN without /proc.
 */
export function processorMs(pid: number, thread?: number): number {
  return timesOf(pid, thread)?.ownMs ?? NaN;
}

/** Includes all running and ended children, since PostgreSQL has a process per connection. */
export function processorMsWithChildren(pid: number): number {
  if (!existsSync('/proc/self/stat')) return NaN;
  const own = timesOf(pid);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(name))
    .filter((times) => times?.parent === pid);
  return children.reduce((sum, child) => sum + (child?.ownMs ?? 0), (own?.ownMs ?? NaN) + (own?.endedChildrenMs ?? NaN));
}

/** Returns the resident memory of a process in MiB; NaN without /proc. */
export function residentMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}
