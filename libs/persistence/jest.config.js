module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'persistence',
  rootDir: __dirname,
  globalSetup: '../../tools/testing/global-setup.ts',
  globalTeardown: '../../tools/testing/global-teardown.ts',
};
