module.exports = { preset: '../../jest.preset.js', displayName: 'tlog', rootDir: __dirname };
