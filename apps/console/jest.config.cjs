module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'console',
  rootDir: __dirname,
  globalSetup: '<rootDir>/test/testing/global-setup.ts',
  globalTeardown: '<rootDir>/test/testing/global-teardown.ts',
};
