/**
 * The credential of the examples, with the key of its issuer. It is really signed, so that the documented requests work.
 * It never expires and has no status.
 */
export const EXAMPLE_CREDENTIAL = {
  issuer: 'https://registry.example',
  vct: 'https://registry.example/company-extract',
  key: {
    kty: 'EC',
    crv: 'P-256',
    kid: 'registry-1',
    alg: 'ES256',
    x: 'JsAFF1V1UYMsmnnckwdbRDxGg5u1Pzb3Bblu1Wl4jVU',
    y: 'FsBTR2Q_H6sAe2IpCbLWcU7I6aL_lxFMNU9jUX8wMT8',
  },
  text:
    'eyJhbGciOiJFUzI1NiIsInR5cCI6ImRjK3NkLWp3dCIsImtpZCI6InJlZ2lzdHJ5LTEifQ.eyJpc3MiOiJodHRwczovL3JlZ' +
    '2lzdHJ5LmV4YW1wbGUiLCJ2Y3QiOiJodHRwczovL3JlZ2lzdHJ5LmV4YW1wbGUvY29tcGFueS1leHRyYWN0IiwiaWF0IjoxN' +
    'zY4NDcxMjAwLCJfc2QiOlsiMmZfaV9NdzJkUjNmUE1pczBtalY2dWUtNkZXbTdrV0tic1g4MjhCWFh6VSJdLCJfc2RfYWxnI' +
    'joic2hhLTI1NiJ9.lBMF0E9WfURiRJDmqaHgfPMTgx9hsW5i7X2DYGlqCZg6TihAlL4XUEgOHIkTBghmJUX9raKS-IymhNGH' +
    'foZevw~WyIyR0xDNDJzS1F2ZUNmR2ZyeU5STjl3IiwibGVnYWxfbmFtZSIsIkFjbWUgQ29ycG9yYXRpb24gQUciXQ~',
  digest: '14359119661326f5e65ee30b2855b8353966c436567c699bbda0521e8354d59b',
} as const;
