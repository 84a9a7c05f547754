module.exports = { preset: '../../jest.preset.js', displayName: 'api-gateway', rootDir: __dirname };
