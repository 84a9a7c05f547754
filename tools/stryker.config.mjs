/**
 * Configures Stryker for tools/mutate.ts, which sets `MUTATE_LIBRARY` and passes everything that depends on it.
 * @see docs/decisions/0036-mutation-testing.md
 */
const library = process.env.MUTATE_LIBRARY;

export default {
  testRunner: 'specs',
  plugins: ['./tools/testing/mutation-runner.ts'],
  coverageAnalysis: 'perTest',
  mutate: [
    `libs/${library}/src/**/*.ts`,
    `!libs/${library}/src/**/*spec.ts`,
    // Support for specs is not part of the product.
    `!libs/${library}/src/testing/**`,
    // Hashing is the innermost loop: instrumented, each run of the specs takes 95 seconds instead of 6. Published examples hold it.
    `!libs/${library}/src/hash/**`,
  ],
  // The copy that is mutated needs one library and the support for tests.
  ignorePatterns: [
    '*',
    '!libs',
    `!libs/${library}/**`,
    '!libs/domain/src/testing/**',
    '!tools',
    '!tools/testing/**',
    '!docs',
    '!docs/limits.md',
    '!package.json',
    'dist',
  ],
  // Constants of a module are evaluated once while it loads. Every such mutant would need a full run of all specs.
  ignoreStatic: true,
  concurrency: 1,
  // A busy machine must not turn a slow run into a killed mutant.
  timeoutMS: 15_000,
  timeoutFactor: 2,
  incremental: true,
  incrementalFile: `.data/mutation/${library}/incremental.json`,
  // Jest ignores `.data/`, and git ignores `coverage/`.
  tempDirName: `coverage/mutation/${library}`,
  reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportMutants: false },
  htmlReporter: { fileName: `.data/mutation/${library}/report.html` },
  jsonReporter: { fileName: `.data/mutation/${library}/report.json` },
  thresholds: { high: 95, low: 90, break: 85 },
  allowConsoleColors: false,
};
