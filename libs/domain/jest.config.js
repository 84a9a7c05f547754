module.exports = { preset: '../../jest.preset.js', displayName: 'domain', rootDir: __dirname };
