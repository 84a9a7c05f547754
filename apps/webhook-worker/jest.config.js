module.exports = { preset: '../../jest.preset.js', displayName: 'webhook-worker', rootDir: __dirname };
