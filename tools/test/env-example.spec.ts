import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { GatewayVariables, namesOf, SECRET_VARIABLES, WorkerVariables } from '@iss/platform';
import { readStartSettings } from '../dev/settings.ts';
import { repositoryRoot } from '../root.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const example = parseEnv(read('.env.example'));

describe('.env.example', () => {
  it('lists exactly the variables that the apps and the start command read', () => {
    const ofApps = [...namesOf(GatewayVariables), ...namesOf(WorkerVariables)];
    expect(ofApps.length).toBeGreaterThan(20);
    expect(Object.keys(example).sort()).toEqual(
      [
        ...new Set(ofApps),
        ...SECRET_VARIABLES.map((name) => `${name}_FILE`),
        ...['DATA_DIR', 'IDP_PORT', 'INBOX_PORT', 'SEED', 'WITNESS_PORT', 'WORKER_METRICS_PORT'],
      ].sort(),
    );
    expect(SECRET_VARIABLES.filter((name) => !ofApps.includes(name))).toEqual([]);
  });

  it('contains the defaults of the start command', () => {
    expect(readStartSettings(example)).toEqual(readStartSettings({}));
  });
});

describe('readStartSettings', () => {
  it.each([
    [{ PORT: 'abc' }, /^PORT: abc is not a port/],
    [{ INBOX_PORT: '65536' }, /^INBOX_PORT: /],
    [{ APP_ENV: 'production' }, /^DATABASE_URL is missing/],
    [{ APP_ENV: 'staging', DATABASE_URL: 'postgres://localhost/x' }, /^OIDC_ISSUER is missing/],
    [{ OIDC_PROJECT_ID: 'a/b' }, /^OIDC_PROJECT_ID: /],
  ])('refuses %j in one line that names the variable', (env, message) => {
    expect(() => readStartSettings(env)).toThrow(message);
  });

  it('returns a foreign issuer without its trailing slash', () => {
    expect(readStartSettings({ OIDC_ISSUER: 'https://id.example/', OIDC_PROJECT_ID: 'p' })).toMatchObject({
      foreignIssuer: 'https://id.example',
      projectId: 'p',
      audience: 'p',
    });
  });
});
