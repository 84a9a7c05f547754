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
];
module.exports = {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['iss-source', 'node', 'node-addons'] },
  testMatch: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: { '^.+\\.(ts|js|mjs)$': ['@swc/jest', { configFile: `${__dirname}/.swcrc` }] },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
};
