module.exports = {
  preset: '../jest.preset.js',
  displayName: 'tools',
  rootDir: __dirname,
  globalSetup: '<rootDir>/testing/global-setup.ts',
  globalTeardown: '<rootDir>/testing/global-teardown.ts',
};
