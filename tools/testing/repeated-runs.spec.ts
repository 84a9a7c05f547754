import { failuresOf, summaryOf } from './repeated-runs.ts';

const suite = (name: string, status: string, tests: [string, string][]) => ({
  name: `/home/me/project/${name}`,
  status,
  assertionResults: tests.map(([fullName, result]) => ({ fullName, status: result })),
});

it('failuresOf lists failed tests by file and name, and suites that did not load', () => {
  const report = {
    testResults: [
      suite('libs/domain/src/a.spec.ts', 'passed', [['holds', 'passed']]),
      suite('tools/test/b.spec.ts', 'failed', [
        ['holds', 'passed'],
        ['breaks', 'failed'],
      ]),
      suite('apps/cli/test/c.spec.ts', 'failed', []),
    ],
  };
  expect(failuresOf(report)).toEqual(['tools/test/b.spec.ts › breaks', 'apps/cli/test/c.spec.ts did not load']);
});

it('summaryOf counts passed runs and lists failures by descending frequency', () => {
  const run = (isBusy: boolean, seconds: number, ...failures: string[]) => ({ isBusy, seconds, failures });
  expect(summaryOf([run(false, 90), run(false, 100, 'a'), run(true, 200, 'b', 'a'), run(false, 80)])).toBe(
    ['2 of 4 runs passed.', '3 alone: 80 to 100 s.', '1 beside busy loops: 200 to 200 s.', '2 × a', '1 × b'].join('\n'),
  );
});
