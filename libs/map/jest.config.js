module.exports = { preset: '../../jest.preset.js', displayName: 'map', rootDir: __dirname };
