const { availableParallelism } = require('node:os');

module.exports = {
  projects: ['<rootDir>/libs/*', '<rootDir>/apps/*', '<rootDir>/tools'],
  // A further worker costs processor time and saves none: all of them together already use every processor.
  maxWorkers: availableParallelism(),
  // A worker that exceeds this is replaced, and loads the product again.
  workerIdleMemoryLimit: '2000MB',
  reporters: ['default', '<rootDir>/tools/testing/closing-line.cjs'],
  testSequencer: '<rootDir>/tools/testing/longest-first.cjs',
  // Tests wait for conditions, with shorter deadlines; this one is for a machine that is busy with others.
  testTimeout: 300_000,
};
