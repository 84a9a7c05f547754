/** A figure with its repetitions. */
export interface Figure {
  median: number;
  /** Half the distance between the smallest and the largest repetition, as a share of the median. */
  spread: number;
  values: readonly number[];
}

export function figure(values: readonly number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? sorted[0] ?? 0)) / 2;
  const width = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  return { median, spread: median === 0 ? 0 : width / 2 / median, values };
}

/** The results of each measurement, by round. */
export type Measured<Measurements extends Readonly<Record<string, () => Promise<unknown>>>> = {
  [Name in keyof Measurements]: Awaited<ReturnType<Measurements[Name]>>[];
};

/**
 * Measures several things in alternation (A B C, A B C, …), so that changes on the machine affect all of them alike. Starts
 * with `uncounted` rounds.
 */
export async function alternate<Measurements extends Readonly<Record<string, () => Promise<unknown>>>>(
  { rounds, uncounted }: { rounds: number; uncounted: number },
  measurements: Measurements,
): Promise<Measured<Measurements>> {
  const values: Record<string, unknown[]> = {};
  for (let round = 0; round < uncounted + rounds; round++) {
    for (const [name, measure] of Object.entries(measurements)) {
      const value = await measure();
      if (round >= uncounted) (values[name] ??= []).push(value);
    }
  }
  // Each name has the results of its own measurement, which the compiler cannot infer from a loop.
  return values as Measured<Measurements>;
}

/** Measures one thing at several sizes in alternation. */
export async function alternateOver<Size, Value>(
  { rounds, uncounted }: { rounds: number; uncounted: number },
  sizes: readonly Size[],
  measure: (size: Size) => Promise<Value>,
): Promise<{ size: Size; values: Value[] }[]> {
  const measured = sizes.map((size): { size: Size; values: Value[] } => ({ size, values: [] }));
  for (let round = 0; round < uncounted + rounds; round++) {
    for (const { size, values } of measured) {
      const value = await measure(size);
      if (round >= uncounted) values.push(value);
    }
  }
  return measured;
}

/** Returns the first and the last value. */
export function ends<Value>(values: readonly Value[]): [Value, Value] {
  const [first] = values;
  const last = values.at(-1);
  if (first === undefined || last === undefined) throw new Error('Nothing was measured');
  return [first, last];
}
