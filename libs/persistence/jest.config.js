module.exports = { preset: '../../jest.preset.js', displayName: 'persistence', rootDir: __dirname };
