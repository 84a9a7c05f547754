module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'webhook-worker',
  rootDir: __dirname,
  globalSetup: '../../tools/testing/global-setup.ts',
  globalTeardown: '../../tools/testing/global-teardown.ts',
};
