/** True under `npm run test:all`, which includes large documents and many random inputs. */
export const IS_FULL = process.env.ISS_TEST_ALL === 'true';

/** Returns the number of random inputs of a property: a tenth of them in `npm test`. */
export function runs(inFull: number): number {
  return IS_FULL ? inFull : Math.ceil(inFull / 10);
}
