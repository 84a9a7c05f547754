import { gatewayEnv } from '@iss/platform';
import type { GatewaySettings } from '../../settings';
import { readProtectedResource } from './protected-resource';

const VARIABLES = {
  APP_ENV: 'local',
  DATABASE_URL: 'postgresql://localhost/iss',
  SECRETS_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_PROJECT_ID: 'identity',
};

function settingsOf(changes: Record<string, string> = {}): GatewaySettings {
  return gatewayEnv({ ...VARIABLES, ...changes });
}

function read(host: string | undefined, settings = settingsOf()) {
  return readProtectedResource({ headers: host === undefined ? {} : { host } }, settings);
}

it('the metadata names the issuer, the scopes and the origin', () => {
  expect(read('identity.example.com')).toEqual({
    resource: 'https://identity.example.com',
    authorization_servers: ['https://id.example.com/identity'],
    scopes_supported: ['openid', 'profile'],
    bearer_methods_supported: ['header'],
    resource_name: 'Identity State Service',
    resource_documentation: 'https://identity.example.com/docs',
  });
});

it.each([
  ['Identity.Example.com:443', 'https://identity.example.com'],
  ['identity.example.com:8443', 'https://identity.example.com:8443'],
  ['10.0.0.7:3000', 'https://10.0.0.7:3000'],
  ['localhost:3000', 'http://localhost:3000'],
  ['127.0.0.1:80', 'http://127.0.0.1'],
  ['[::1]:3000', 'http://[::1]:3000'],
  ['localhost.example.com', 'https://localhost.example.com'],
])('the Host %s gives the origin %s', (host, origin) => {
  expect(read(host).resource).toBe(origin);
});

it.each([
  undefined,
  '',
  'a b',
  'user@identity.example.com',
  'identity.example.com/path',
  'identity.example.com?x',
  'x"y',
  'x, y',
  '[::zz]',
])('readProtectedResource refuses the Host %p', (host) => {
  expect(() => read(host)).toThrow('The Host header names no host. Send the host of the service.');
});

it('PUBLIC_ORIGIN takes precedence over the Host', () => {
  const settings = settingsOf({ PUBLIC_ORIGIN: 'https://identity.example.com' });
  expect(read('evil.example', settings).resource).toBe('https://identity.example.com');
});

it('the metadata names no issuer without authentication', () => {
  expect(read('localhost:3000', settingsOf({ AUTH_MODE: 'disabled' }))).not.toHaveProperty('authorization_servers');
});
