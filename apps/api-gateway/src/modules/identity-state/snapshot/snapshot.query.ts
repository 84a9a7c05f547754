import { DomainError, parsePeriod, type TimeBasis, type VerifyMode } from '@iss/domain';
import type { AsOf, TimeWindow } from '@iss/persistence';
import { ALL_PARENTS, HistoryQuery, VerifyQuery } from '@iss/contract';

/**
 * Returns the requested verification. Throws `validation_error` for a depth above the server's maximum, which `all`
 * selects.
 */
export function verifyOptions(sent: VerifyQuery, maxDepth: number): { verify: VerifyMode; depth: number } {
  const depth = sent.depth === ALL_PARENTS ? maxDepth : Number(sent.depth ?? 1);
  if (depth > maxDepth) {
    throw new DomainError(
      'validation_error',
      `depth must be at most ${maxDepth}. Send ${ALL_PARENTS} to go as far as allowed.`,
      [{ path: '/query/depth', message: `must be at most ${maxDepth}, or ${ALL_PARENTS}`, code: 'too_large' }],
    );
  }
  return { verify: sent.verify ?? 'none', depth };
}

interface SentMoment {
  as_of?: string | undefined;
  basis?: TimeBasis | undefined;
}

/**
 * Returns the requested moment; null: the latest state. `basis=effective` without a moment means now, because versions
 * may take effect later.
 */
export function asOfSent({ as_of, basis }: SentMoment): AsOf | null {
  if (as_of === undefined && basis === 'effective') return { at: new Date(), basis };
  const period = as_of === undefined ? null : parsePeriod(as_of);
  return period === null ? null : { at: period.last, basis: basis ?? 'recorded' };
}

/**
 * Returns the requested time window; null: the whole history. Throws `validation_error` if it ends before it begins,
 * and for `verify=chain` of versions that may not be consecutive.
 */
export function windowSent({ from: fromText, to: toText, basis, verify }: HistoryQuery): TimeWindow | null {
  if (fromText === undefined && toText === undefined) return null;
  const from = fromText === undefined ? null : (parsePeriod(fromText)?.first ?? null);
  const to = toText === undefined ? null : (parsePeriod(toText)?.last ?? null);
  if (from !== null && to !== null && from > to) {
    const message = 'must not be later than to';
    throw new DomainError('validation_error', `from ${message}.`, [
      { path: '/query/from', message, code: 'out_of_range' },
    ]);
  }
  if (basis === 'effective' && verify === 'chain') {
    const message =
      'follows the version numbers, but a window of effective times does not: send verify=hash or basis=recorded';
    throw new DomainError('validation_error', `verify=chain ${message}.`, [
      { path: '/query/verify', message, code: 'mismatch' },
    ]);
  }
  return { basis: basis ?? 'recorded', from, to };
}
