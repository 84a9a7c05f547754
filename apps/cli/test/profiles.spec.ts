import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asCaller } from '../src/service/caller';
import { type Profile, Profiles } from '../src/identity/profiles';
import { listenSecret } from '../src/listen/listen-secret';
import { settingsOf } from '../src/settings';
import { type FakeService, fakeService, Refusal } from './testing/fake-service';
import { iss, testContext } from './testing/run-iss';

let folder: string;
let service: FakeService;
beforeAll(async () => {
  service = await fakeService();
});
afterAll(() => service.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iss-profiles-'));
  service.asked.length = 0;
  service.answers = {};
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configFolder = (): string => join(folder, 'iss');
const profile = (changes: Partial<Profile> = {}): Profile => ({
  baseUrl: service.url,
  tenant: 'agency',
  accessToken: 'a-1',
  issuer: null,
  refresh: null,
  ...changes,
});
const settings = (variables: Record<string, string> = {}) =>
  settingsOf({ XDG_CONFIG_HOME: folder, ...variables }, 'linux');

describe('the file of profiles', () => {
  it('stores and removes profiles, and only its owner can read it', () => {
    const profiles = new Profiles(configFolder());
    expect([profiles.read('one'), profiles.names(), profiles.remove('one')]).toEqual([null, [], false]);
    const refresh = { token: 'r-1', tokenEndpoint: `${service.url}/token`, clientId: 'iss', resource: service.url };
    profiles.write('one', profile({ refresh }));
    profiles.write('two', profile({ tenant: null }));
    profiles.write('one', profile({ refresh, accessToken: 'a-2' }));
    const again = new Profiles(configFolder());
    expect(again.names()).toEqual(['one', 'two']);
    expect(again.read('one')).toEqual(profile({ refresh, accessToken: 'a-2' }));
    expect(again.read('two')).toEqual(profile({ tenant: null }));
    expect(statSync(join(configFolder(), 'profiles.json')).mode & 0o777).toBe(0o600);
    expect([again.remove('one'), again.names()]).toEqual([true, ['two']]);
  });

  it('reads profiles of an older iss, without issuer and resource', () => {
    const profiles = new Profiles(configFolder());
    profiles.write('one', profile());
    const refresh = { token: 'r-1', token_endpoint: `${service.url}/token`, client_id: 'iss' };
    const one = { base_url: service.url, tenant: null, access_token: 'a-1', refresh };
    writeFileSync(join(configFolder(), 'profiles.json'), JSON.stringify({ one }));
    expect(profiles.read('one')).toMatchObject({ issuer: null, refresh: { token: 'r-1', resource: null } });
  });

  it.each(['', '.hidden', 'a b', '../x', 'x'.repeat(65)])('refuses the name %j', (name) => {
    const profiles = new Profiles(configFolder());
    expect(() => profiles.write(name, profile())).toThrow(
      '--profile takes a name of letters, digits, dots, underscores and hyphens.',
    );
    expect(() => profiles.read(name)).toThrow(/^--profile takes/);
  });

  it('is refused if its content is not valid', () => {
    const profiles = new Profiles(configFolder());
    profiles.write('one', profile());
    for (const content of ['{', '[]', '{"one":{}}', '{"one":{"base_url":1}}']) {
      writeFileSync(join(configFolder(), 'profiles.json'), content);
      expect(() => profiles.read('one')).toThrow(/profiles\.json/);
    }
  });

  it('allows one task at a time to change it', async () => {
    const profiles = [new Profiles(configFolder()), new Profiles(configFolder())];
    profiles[0]?.write('one', profile());
    let working = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++working);
      await new Promise(setImmediate);
      working--;
    };
    await Promise.all(profiles.flatMap((one) => [one.exclusively(work), one.exclusively(work)]));
    expect(most).toBe(1);
    const failing = profiles[0]?.exclusively(async () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    // A failed command leaves no lock.
    await profiles[1]?.exclusively(work);
  });
});

it('Profiles ignores the expired lock of a crashed process', async () => {
  const profiles = new Profiles(configFolder());
  profiles.write('one', profile());
  writeFileSync(join(configFolder(), 'profiles.json.lock'), '');
  let nowMs = 0;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => (nowMs += 20_000));
  expect(await profiles.exclusively(async () => 'done')).toBe('done');
  clock.mockRestore();
});

describe('the access token of a command', () => {
  const tenants = { items: [], next_cursor: null };
  const expiring = (expiresAtMs: number): string =>
    `h.${Buffer.from(JSON.stringify({ exp: Math.floor(expiresAtMs / 1000) })).toString('base64url')}.s`;
  const call = (variables: Record<string, string> = {}) =>
    asCaller({}, testContext({ settings: settings(variables) }).context, async (caller) => {
      await caller.iss.request('GET', '/v1/tenants');
      return [caller.tenantId, caller.token];
    });

  it.each<[string, Partial<Profile>, Record<string, string>, [tenant: string | null, authorization: string]]>([
    ['is that of the default profile', {}, {}, ['agency', 'Bearer a-1']],
    ['is that of the profile, also for another tenant', {}, { ISS_TENANT: 'other' }, ['other', 'Bearer a-1']],
    ['is that of the profile that ISS_PROFILE names', {}, { ISS_PROFILE: 'second' }, ['lender', 'Bearer a-2']],
  ])('%s', async (_what, changes, variables, [tenant, authorization]) => {
    service.answers = { 'GET /v1/tenants': tenants };
    const profiles = new Profiles(configFolder());
    profiles.write('default', profile(changes));
    profiles.write('second', profile({ tenant: 'lender', accessToken: 'a-2' }));
    expect((await call(variables))[0]).toBe(tenant);
    expect(service.asked.map(({ authorization: sent }) => sent)).toEqual([authorization]);
  });

  it('from ISS_TOKEN is sent to ISS_BASE_URL, and profiles are ignored', async () => {
    service.answers = { 'GET /v1/tenants': tenants };
    new Profiles(configFolder()).write('default', profile({ baseUrl: 'http://127.0.0.1:1' }));
    expect(await call({ ISS_TOKEN: 't', ISS_BASE_URL: `${service.url}/` })).toEqual([null, 't']);
    expect(service.asked).toMatchObject([{ authorization: 'Bearer t' }]);
    await expect(call({ ISS_TOKEN: 't' })).rejects.toThrow(
      'ISS_TOKEN is set without ISS_BASE_URL. Set ISS_BASE_URL to the URL of the service.',
    );
    // The token of a profile goes only to the profile's service.
    await expect(call({ ISS_BASE_URL: service.url })).rejects.toThrow(/127\.0\.0\.1:1\.$/);
    expect(service.asked).toHaveLength(1);
  });

  it.each<[string, () => string, boolean]>([
    ['is kept while it is valid', () => expiring(Date.now() + 3_600_000), false],
    ['is kept if it is opaque', () => 'opaque', false],
    ['is refreshed before it expires', () => expiring(Date.now() + 1_000), true],
    ['is refreshed after it expired', () => expiring(0), true],
  ])('%s', async (_what, token, isRefreshed) => {
    service.answers = {
      'GET /v1/tenants': tenants,
      'POST /token': { access_token: 'fresh', refresh_token: 'r-2' },
    };
    const profiles = new Profiles(configFolder());
    const refresh = { token: 'r-1', tokenEndpoint: `${service.url}/token`, clientId: 'iss', resource: service.url };
    const before = token();
    profiles.write('default', profile({ accessToken: before, refresh }));
    expect((await call())[1]).toBe(isRefreshed ? 'fresh' : before);
    expect(service.asked.at(-1)?.authorization).toBe(`Bearer ${isRefreshed ? 'fresh' : before}`);
    expect(profiles.read('default')).toEqual(
      profile({
        accessToken: isRefreshed ? 'fresh' : before,
        refresh: { ...refresh, token: isRefreshed ? 'r-2' : 'r-1' },
      }),
    );
    if (!isRefreshed) return;
    const form = { grant_type: 'refresh_token', refresh_token: 'r-1', client_id: 'iss', resource: service.url };
    expect(service.asked[0]).toMatchObject({ request: 'POST /token', body: form });
  });

  it('is refreshed once for concurrent commands', async () => {
    const answers: Record<string, unknown>[] = [{ access_token: 'fresh', refresh_token: 'r-2' }];
    service.answers = { 'GET /v1/tenants': tenants, 'POST /token': () => answers.shift() };
    const refresh = { token: 'r-1', tokenEndpoint: `${service.url}/token`, clientId: 'iss', resource: service.url };
    new Profiles(configFolder()).write('default', profile({ accessToken: expiring(0), refresh }));
    expect(await Promise.all([call(), call()])).toEqual([
      ['agency', 'fresh'],
      ['agency', 'fresh'],
    ]);
  });

  it('is missing before a sign-in, and the error names iss login', async () => {
    await expect(call()).rejects.toThrow('No profile default exists. Sign in first: iss login.');
    await expect(call({ ISS_PROFILE: 'x' })).rejects.toThrow(
      /profile x exists\. Sign in first: iss login --profile x\.$/,
    );
  });

  it('is not sent to a route of a tenant if no tenant is selected', async () => {
    new Profiles(configFolder()).write('default', profile({ tenant: null }));
    expect(await iss(['log', 'harbour'], { settings: settings() })).toMatchObject({
      exitCode: 2,
      complaint: expect.stringMatching(/^No tenant is selected/),
    });
    expect(service.asked).toEqual([]);
  });

  it('causes an error that suggests iss login if the service refuses it', async () => {
    new Profiles(configFolder()).write('default', profile());
    service.answers = { 'GET /v1/tenants': new Refusal(401, 'unauthorized', 'The token has expired.') };
    await expect(call()).rejects.toThrow('The token has expired (401, request r-1). Sign in again: iss login.');
  });
});

it('listenSecret creates one secret that only its owner can read', () => {
  const secret = listenSecret(configFolder());
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/);
  expect(listenSecret(configFolder())).toBe(secret);
  const file = join(configFolder(), 'listen-secret');
  expect(readFileSync(file, 'utf8')).toBe(`${secret}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
