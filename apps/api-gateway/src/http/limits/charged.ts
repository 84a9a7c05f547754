import type { Request } from 'express';
import { costOf } from './rate-limiter';

const MICROSECONDS = 1000;

/**
 * Does work of this thread for a request, in one piece, and charges its caller what it took of the processor. For work that
 * may be large, as the text of a page is: to measure takes longer than most requests' own.
 */
export function charged<T>({ principal, settings }: Request, work: () => T): T {
  const { limiter } = settings;
  if (principal === undefined || limiter.window.limit === 0) return work();
  const before = process.threadCpuUsage();
  try {
    return work();
  } finally {
    const { user, system } = process.threadCpuUsage(before);
    limiter.charge(principal.principalId, costOf((user + system) / MICROSECONDS));
  }
}
