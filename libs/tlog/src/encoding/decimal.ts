import { TlogError } from '../errors';

/**
 * An ASCII decimal without leading zeros, up to 2^53 - 1: the largest size or index that this library counts to.
 *
 * @throws TlogError `malformed`, naming `what`; `out_of_range` when it is larger
 */
export function parseDecimal(text: string, what: string): number {
  if (text.length > 20 || !/^(0|[1-9][0-9]*)$/.test(text)) {
    throw new TlogError('malformed', `The ${what} is not a decimal number without leading zeros.`);
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new TlogError('out_of_range', `The ${what} is above 2^53 - 1.`);
  }
  return value;
}

/**
 * Makes sure that a number from a caller is a whole one within bounds.
 *
 * @throws TlogError `out_of_range`, naming `what`
 */
export function requireInteger(value: number, what: string, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new TlogError('out_of_range', `The ${what} is ${value}: give a whole number from ${least} to ${most}.`);
}
