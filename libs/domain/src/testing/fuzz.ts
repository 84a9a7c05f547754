import * as fc from 'fast-check';
import { runs } from '../../../../tools/testing/runs';

/** FUZZ_SECONDS limits the properties of one file together. A failure prints its seed for FUZZ_SEED. */
const { FUZZ_SECONDS, FUZZ_SEED } = process.env;

/**
 * Returns a function that declares tests of properties. `properties` is their number, because they share the time of
 * their file.
 */
export function fuzzing(properties: number) {
  const parameters: fc.Parameters<unknown> = {
    ...(FUZZ_SEED === undefined ? {} : { seed: Number(FUZZ_SEED) }),
    ...(FUZZ_SECONDS === undefined
      ? { numRuns: runs(200) }
      : { numRuns: 1_000_000_000, interruptAfterTimeLimit: (Number(FUZZ_SECONDS) * 1000) / properties }),
  };
  return <Inputs extends [unknown, ...unknown[]]>(
    name: string,
    arbitraries: { [At in keyof Inputs]: fc.Arbitrary<Inputs[At]> },
    holds: (...inputs: Inputs) => void,
  ): void => {
    test(name, () => fc.assert(fc.property<Inputs>(...arbitraries, holds), parameters as fc.Parameters<Inputs>));
  };
}
