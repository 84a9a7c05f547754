module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'api-gateway',
  rootDir: __dirname,
  testEnvironment: '../../tools/testing/product-environment.cjs',
  globalSetup: '../../tools/testing/global-setup.ts',
  globalTeardown: '../../tools/testing/global-teardown.ts',
};
