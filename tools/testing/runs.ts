/** Tells whether `npm run test:all` runs the tests. Large documents and many random inputs then take part. */
export const IS_FULL = process.env.ISS_TEST_ALL === 'true';

/** Returns how many random inputs a property is checked with: a tenth of them in `npm test`. */
export function runs(inFull: number): number {
  return IS_FULL ? inFull : Math.ceil(inFull / 10);
}
