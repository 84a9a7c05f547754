module.exports = { preset: '../../jest.preset.js', displayName: 'attestation', rootDir: __dirname };
