import type { Request } from 'express';
import { costOf } from './rate-limiter';

const MICROSECONDS = 1000;

/** Milliseconds of processor time that were measured so far, by request. */
const measured = new WeakMap<Request, number>();

/**
 * Runs synchronous work for a request, and charges its processor time to the caller as part of the request's total. Use
 * it only for work that may be large, such as the text of a page: the measurement itself takes longer than most
 * requests' own work.
 */
export function chargeWork<T>(request: Request, work: () => T): T {
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
