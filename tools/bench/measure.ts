/** A figure with the repetitions it was taken from. */
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

/**
 * Measures several things in alternation (A B C, A B C, …), so that what changes on the machine meanwhile meets all of
 * them alike. Each gives one number a round; one round comes first and is not counted.
 */
export async function alternate<Name extends string>(
  rounds: number,
  measurements: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, Figure>> {
  const names = Object.keys(measurements).filter((name): name is Name => name in measurements);
  const values = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const value = await measurements[name]();
      if (round > 0) values.get(name)?.push(value);
    }
  }
  const result: Partial<Record<Name, Figure>> = {};
  for (const name of names) result[name] = figure(values.get(name) ?? []);
  return requireAll(names, result);
}

function requireAll<Name extends string>(
  names: readonly Name[],
  result: Partial<Record<Name, Figure>>,
): Record<Name, Figure> {
  if (names.some((name) => result[name] === undefined)) throw new Error('a measurement gave nothing');
  return result as Record<Name, Figure>;
}
