module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'api-gateway',
  rootDir: __dirname,
  globalSetup: '../../tools/testing/global-setup.ts',
  globalTeardown: '../../tools/testing/global-teardown.ts',
};
