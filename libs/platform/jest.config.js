module.exports = { preset: '../../jest.preset.js', displayName: 'platform', rootDir: __dirname };
