module.exports = { preset: '../../jest.preset.js', displayName: 'proof', rootDir: __dirname };
