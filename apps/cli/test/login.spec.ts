import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Profiles } from '../src/identity/profiles';
import { settingsOf } from '../src/settings';
import { type FakeService, fakeService } from './testing/fake-service';
import { iss } from './testing/run-iss';

const tenants = { items: [], next_cursor: null };
let folder: string;
let service: FakeService;
let issuer: FakeService;
let questions: string[];
let opened: URL[];

beforeAll(async () => {
  [service, issuer] = await Promise.all([fakeService(), fakeService()]);
});
afterAll(() => {
  service.close();
  issuer.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iss-login-'));
  [questions, opened] = [[], []];
  for (const fake of [service, issuer]) fake.asked.length = 0;
  service.answers = {
    'GET /.well-known/oauth-protected-resource': { resource: service.url, authorization_servers: [issuer.url] },
    'GET /v1/tenants': tenants,
  };
  issuer.answers = {
    'GET /.well-known/openid-configuration': {
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`,
    },
    'POST /token': { access_token: 'access', refresh_token: 'refresh' },
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Signs in with these arguments, and answers the question with `answer`. */
function login(words: string, answer: boolean | null = null) {
  return iss(['login', ...words.split(' ').filter((word) => word !== '')], {
    settings: settingsOf({ XDG_CONFIG_HOME: folder, ISS_BASE_URL: service.url }, 'linux'),
    input: async () => tokenOf('https://elsewhere.example'),
    confirm: async (question) => {
      questions.push(question);
      return answer;
    },
    browse: async (address) => {
      const url = new URL(address);
      opened.push(url);
      const answered = new URLSearchParams({ code: 'c', state: url.searchParams.get('state') ?? '' });
      await fetch(`${url.searchParams.get('redirect_uri')}?${answered.toString()}`);
      return true;
    },
  });
}

const profiles = (): Profiles => new Profiles(join(folder, 'iss'));
const tokenOf = (iss: string): string => `h.${Buffer.from(JSON.stringify({ iss })).toString('base64url')}.s`;
const sent = (): string[] => [...service.asked, ...issuer.asked].map(({ request }) => request);

it('login asks for confirmation at the first sign-in to a service only', async () => {
  const first = await login('', true);
  expect(first).toMatchObject({ exitCode: 0, printed: `Signed in at ${service.url}, profile default.` });
  expect(first.complaint).toMatch(
    `Service: ${service.url}\nIssuer:  ${issuer.url}/\nSign in in the browser: ${issuer.url}`,
  );
  expect(questions).toEqual([
    `This is your first sign-in at ${service.url}. The service will be able to act as you. Continue?`,
  ]);
  expect(opened.map(({ searchParams }) => searchParams.get('resource'))).toEqual([service.url]);
  const refresh = { token: 'refresh', tokenEndpoint: `${issuer.url}/token`, clientId: 'iss', resource: service.url };
  expect(profiles().read('default')).toMatchObject({ issuer: issuer.url, refresh });
  expect(await login('--profile other')).toMatchObject({ exitCode: 0 });
  expect(questions).toHaveLength(1);
});

it.each([
  ['standard input is not a terminal', null, /must be confirmed, but standard input is not a terminal\. Add --yes\.$/],
  ['the user declines', false, /was not confirmed\. No token was requested\.$/],
])('login to a new service requests no token if %s', async (_what, answer, complaint) => {
  const outcome = await login('', answer);
  expect(outcome).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(complaint) });
  expect([opened, sent()]).toEqual([[], ['GET /.well-known/oauth-protected-resource']]);
  expect(profiles().names()).toEqual([]);
});

it('login --yes asks for no confirmation', async () => {
  expect(await login('--yes')).toMatchObject({ exitCode: 0 });
  expect(questions).toEqual([]);
});

it('login refuses metadata of another service before any request to the issuer', async () => {
  const metadata = { resource: 'https://identity.example.com', authorization_servers: [issuer.url] };
  service.answers['GET /.well-known/oauth-protected-resource'] = metadata;
  expect(await login('--yes')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/describes https:\/\/identity\.example\.com instead of http/),
  });
  expect([opened, issuer.asked]).toEqual([[], []]);
});

describe('the issuer of a profile', () => {
  const pinned = (name: string, issuerOfProfile: string | null, accessToken = 'a-1') =>
    profiles().write(name, { baseUrl: service.url, tenant: null, accessToken, issuer: issuerOfProfile, refresh: null });

  it.each([
    ['stored at the sign-in', 'https://id.example', 'a-1'],
    ['named by the token of an older profile', null, tokenOf('https://id.example')],
  ])('can change only with --issuer-changed: %s', async (_what, known, accessToken) => {
    pinned('default', known, accessToken);
    const refused = await login('--yes');
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.complaint).toBe(
      `The profile default belongs to the issuer https://id.example, but this sign-in uses ${issuer.url}. ` +
        'If the operator of the service confirms the change, add --issuer-changed. To keep both, use another --profile.',
    );
    expect([opened, issuer.asked]).toEqual([[], []]);
    expect(await login('--issuer-changed')).toMatchObject({ exitCode: 0 });
    expect(profiles().read('default')).toMatchObject({ issuer: issuer.url });
  });

  it('also applies to --token-stdin and --issuer', async () => {
    pinned('default', 'https://id.example');
    expect(await login('--token-stdin')).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/belongs to the issuer/),
    });
    expect(await login(`--issuer ${issuer.url}`)).toMatchObject({
      exitCode: 1,
      complaint: expect.stringMatching(/belongs to the issuer/),
    });
    expect(sent()).toEqual([]);
    expect(await login('--token-stdin --issuer-changed')).toMatchObject({ exitCode: 0 });
    expect(profiles().read('default')).toMatchObject({ issuer: 'https://elsewhere.example' });
  });
});

it('login refuses http to another machine, and user names in the address', async () => {
  expect(await login('--yes --base-url http://identity.example.com')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/^The address of the service is http:.*It must be an https address/),
  });
  expect(await login('--base-url https://me:secret@identity.example.com')).toMatchObject({
    exitCode: 2,
    complaint: '--base-url takes a URL without a user name and password.',
  });
});
