import type { Request } from 'express';
import { costOf } from './rate-limiter';

const MICROSECONDS = 1000;

/** Milliseconds of processor time that were measured so far for each request. */
const measured = new WeakMap<Request, number>();

/**
 * Does work of this thread for a request, in one piece, and charges its caller what it took of the processor, as a part of
 * all that the request has taken. For work that may be large, as the text of a page is: to measure takes longer than most
 * requests' own.
 */
export function charged<T>(request: Request, work: () => T): T {
  const { principal } = request;
  if (principal === undefined) return work();
  const { limiter } = request.settings;
  if (limiter.window.limit === 0) return work();
  const before = process.threadCpuUsage();
  try {
    return work();
  } finally {
    const { user, system } = process.threadCpuUsage(before);
    const earlierMs = measured.get(request) ?? 0;
    const allMs = earlierMs + (user + system) / MICROSECONDS;
    measured.set(request, allMs);
    limiter.charge(principal.principalId, costOf(allMs) - costOf(earlierMs));
  }
}
