const preset = require('../../jest.preset.js');
const typescript = (tsx) => [
  '@swc/jest',
  {
    swcrc: false,
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', tsx },
      transform: { react: { runtime: 'automatic', importSource: '#page' } },
    },
    module: { type: 'commonjs' },
  },
];

/** The suites that walk a browser through one running product, where they are asked for. */
const BROWSER =
  process.env.ISS_TEST_ALL === 'true'
    ? {
        testMatch: ['**/src/**/*.spec.ts', '**/test/**/*.browser-spec.ts'],
        globalSetup: '<rootDir>/test/testing/global-setup.ts',
        globalTeardown: '<rootDir>/test/testing/global-teardown.ts',
      }
    : {};

/** Unit tests, and pages in jsdom against the examples of openapi.json: they need no browser and no service. */
module.exports = {
  ...preset,
  // Each suite gets its own page.
  testEnvironment: 'node',
  runtime: 'jest-runtime',
  displayName: 'console',
  rootDir: __dirname,
  testMatch: ['**/src/**/*.spec.ts'],
  ...BROWSER,
  transform: { '^.+\\.tsx$': typescript(true), '^.+\\.ts$': typescript(false), ...preset.transform },
  moduleNameMapper: {
    '\\.css$': '<rootDir>/src/testing/styles.ts',
    '\\.svg$': '<rootDir>/src/testing/picture.ts',
    '(compare|draft|hash|verify)\\.worker\\.ts\\?worker&url$': '<rootDir>/src/testing/$1.worker-url.ts',
    '^uplot$': '<rootDir>/src/testing/uplot.ts',
    '^@identity-state/client/indexeddb$': '<rootDir>/src/testing/trust-store.ts',
  },
};
