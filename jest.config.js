const { availableParallelism } = require('node:os');

module.exports = {
  projects: ['<rootDir>/libs/*', '<rootDir>/apps/*', '<rootDir>/tools'],
  // One more than there are processors, because suites wait for PostgreSQL, Redis and processes.
  maxWorkers: availableParallelism() + 1,
  // A worker that exceeds this is replaced, and loads the product again.
  workerIdleMemoryLimit: '1200MB',
  reporters: ['default', '<rootDir>/tools/testing/closing-line.cjs'],
  testSequencer: '<rootDir>/tools/testing/longest-first.cjs',
  // Tests wait for conditions, with shorter deadlines; this one is for a machine that is busy with others.
  testTimeout: 300_000,
};
