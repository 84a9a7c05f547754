/** True under `npm run test:all`, which includes large documents and many random inputs. */
export const IS_FULL = process.env.ISS_TEST_ALL === 'true';

/**
 * True with `EXHAUSTIVE=true`, for what no two runs need: the largest documents, the faults that no queue can influence with both
 * queues, and each operation in Swagger UI.
 */
export const IS_EXHAUSTIVE = process.env.EXHAUSTIVE === 'true';

/** Returns the number of random inputs of a property: a tenth of them in `npm test`. */
export function runs(inFull: number): number {
  return IS_FULL ? inFull : Math.ceil(inFull / 10);
}
