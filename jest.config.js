const { availableParallelism } = require('node:os');

module.exports = {
  projects: ['<rootDir>/libs/*', '<rootDir>/apps/*', '<rootDir>/tools'],
  maxWorkers: Math.max(2, availableParallelism() - 1),
  // Jest keeps what a suite has loaded, some 20 MB a gateway: a worker that holds so much is replaced.
  workerIdleMemoryLimit: '600MB',
  reporters: ['default', '<rootDir>/tools/testing/closing-line.cjs'],
  testSequencer: '<rootDir>/tools/testing/longest-first.cjs',
  // Tests wait for conditions, with deadlines of their own; this one is for a machine that is busy with others.
  testTimeout: 60_000,
};
