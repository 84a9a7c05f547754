module.exports = { preset: '../../jest.preset.js', displayName: 'archive', rootDir: __dirname };
