import { TlogError } from '../errors';

/**
 * Parses an ASCII decimal without leading zeros, up to 2^53 - 1, which is the largest size or index of this library.
 *
 * @throws TlogError `malformed`, naming `what`; `out_of_range` if it is larger
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
 * Checks that a caller's number is an integer within bounds.
 *
 * @throws TlogError `out_of_range`, naming `what`
 */
export function requireInteger(value: number, what: string, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new TlogError('out_of_range', `The ${what} is ${value}: give a whole number from ${least} to ${most}.`);
}
