import { z } from 'zod';

/** A text of which `holds` is true. `expectation` completes the sentence that starts with the variable's name. */
export function checkedText(expectation: string, holds: (text: string) => boolean) {
  return z.string(expectation).refine(holds, expectation);
}

/** A decimal integer from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  const expectation = `must be a whole number from ${min} to ${max}`;
  return checkedText(
    expectation,
    (text) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max,
  ).transform(Number);
}

/** `true` or `false`. */
export function flag() {
  return z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
}

/** One of some words. */
export function word<const W extends readonly [string, ...string[]]>(words: W) {
  return z.enum(words, `must be one of ${words.join(', ')}`);
}

/** A URL with one of the schemes (`https:`), kept as written. */
export function url(schemes: readonly string[]) {
  const expectation = `must be a URL starting with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`;
  return checkedText(expectation, (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol));
}
