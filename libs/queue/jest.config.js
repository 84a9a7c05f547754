module.exports = { preset: '../../jest.preset.js', displayName: 'queue', rootDir: __dirname };
