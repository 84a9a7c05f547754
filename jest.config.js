module.exports = {
  projects: ['<rootDir>/libs/*', '<rootDir>/apps/*', '<rootDir>/tools'],
  // Tests wait for conditions, with deadlines of their own; this one is for a machine that is busy with others.
  testTimeout: 60_000,
  // A suite that fails while it starts its servers leaves them behind; the run has to end all the same.
  forceExit: true,
};
