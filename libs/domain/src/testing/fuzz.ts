import * as fc from 'fast-check';
import { runs } from '../../../../tools/testing/runs';

/** The seconds that a file of properties may take. A failure names its seed, which `FUZZ_SEED` takes. */
const { FUZZ_SECONDS, FUZZ_SEED } = process.env;

/** Declares tests of properties, which share the time of their file: so many there are. */
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
