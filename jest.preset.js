// Packages that ship as ES modules only are transpiled here: Jest loads them as CommonJS.
const esmOnly = [
  '@nestjs',
  'jose',
  'uuid',
  'canonicalize',
  'marked',
  'file-type',
  'uint8array-extras',
  'token-types',
  '@tokenizer',
  'strtok3',
  '@borewit',
  'pure-rand',
  'fast-check',
  'commander',
  '@noble',
  '@openid4vc',
];
/** Suites that cost much: only `npm run test:all` runs them, and `npm test` where an argument names them. */
const FULL = process.env.ISS_TEST_ALL === 'true' ? ['**/*.full-spec.ts'] : [];

module.exports = {
  testEnvironment: `${__dirname}/tools/testing/shared-environment.cjs`,
  runtime: `${__dirname}/tools/testing/shared-runtime.cjs`,
  testEnvironmentOptions: { customExportConditions: ['iss-source', 'node', 'node-addons'] },
  testMatch: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', ...FULL],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/', '/.data/'],
  transform: { '^.+\\.(ts|js|mjs)$': ['@swc/jest', { configFile: `${__dirname}/.swcrc` }] },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
};
