/** A run of `npm test`. */
export interface Run {
  /** True if busy loops ran at the same time. */
  readonly isBusy: boolean;
  readonly seconds: number;
  /** `file › test`, or a line for a suite that did not load. */
  readonly failures: string[];
}

interface JestReport {
  testResults: {
    name: string;
    status: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/** Lists the failed tests of a report of `jest --json`, as `file › test`. */
export function failuresOf({ testResults }: JestReport): string[] {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.replace(/^.*\/(?=(apps|libs|tools)\/)/, '');
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => `${file} › ${test.fullName}`);
    return status === 'failed' && failed.length === 0 ? [`${file} did not load`] : failed;
  });
}

/** Returns the number of green runs, their durations, and the failures by test. */
export function summaryOf(runs: readonly Run[]): string {
  const counts = new Map<string, number>();
  for (const failure of runs.flatMap(({ failures }) => failures)) counts.set(failure, (counts.get(failure) ?? 0) + 1);
  const green = runs.filter(({ failures }) => failures.length === 0).length;
  const lines = [`${green} of ${runs.length} runs passed.`];
  for (const [isBusy, what] of [
    [false, 'alone'],
    [true, 'beside busy loops'],
  ] as const) {
    const seconds = runs.filter((run) => run.isBusy === isBusy).map((run) => run.seconds);
    if (seconds.length > 0) {
      lines.push(`${seconds.length} ${what}: ${Math.min(...seconds)} to ${Math.max(...seconds)} s.`);
    }
  }
  for (const [failure, count] of [...counts].sort(([, one], [, other]) => other - one))
    lines.push(`${count} × ${failure}`);
  return lines.join('\n');
}
