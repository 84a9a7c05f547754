module.exports = { preset: '../../jest.preset.js', displayName: 'client', rootDir: __dirname };
