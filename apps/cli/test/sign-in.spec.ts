import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { discover, issuerOf, signInByBrowser, signInByDevice } from '../src/service/sign-in';
import { freePort } from '../../../tools/processes';
import { testContext } from './testing/run-iss';

/** What the issuer answers, by path; a text is sent as it is. */
let answers: Record<string, unknown>;
let asked: { path: string; form: URLSearchParams }[];
let server: Server;
let origin: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  server = createServer((request, response) => {
    const path = request.url ?? '';
    const answered = async (): Promise<void> => {
      asked.push({ path, form: new URLSearchParams(await text(request)) });
      const answer = answers[path];
      const given: unknown = Array.isArray(answer) ? answer.shift() : answer;
      response
        .writeHead(given === undefined ? 404 : 200)
        .end(typeof given === 'string' ? given : JSON.stringify(given));
    };
    answered().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
});
afterAll(() => server.close());
beforeEach(() => {
  asked = [];
  answers = {
    '/.well-known/openid-configuration': {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      device_authorization_endpoint: `${origin}/device`,
    },
    '/token': { access_token: 'access', refresh_token: 'refresh' },
    '/device': { device_code: 'd', user_code: 'ABCD', verification_uri: `${origin}/go`, expires_in: 60, interval: 0 },
  };
});

/** Signs in in a browser that comes back with what `answer` makes of the request. */
async function signIn(answer: (request: URLSearchParams) => Record<string, string>) {
  let page: Promise<string> | undefined;
  const browse = async (url: string): Promise<boolean> => {
    const { searchParams: request } = new URL(url);
    const back = `${request.get('redirect_uri')}?${new URLSearchParams(answer(request)).toString()}`;
    page = fetch(back).then((response) => response.text());
    return true;
  };
  const signedIn = await signInByBrowser(await discover(origin, 'iss'), testContext({ browse }).context);
  return { signedIn, page: await page };
}

const stateOf = (request: URLSearchParams): string => request.get('state') ?? '';

it('exchanges the code with the verifier of its challenge', async () => {
  let challenge = '';
  const { signedIn, page } = await signIn((request) => {
    challenge = request.get('code_challenge') ?? '';
    return { code: 'c', state: stateOf(request), iss: origin };
  });
  expect(signedIn).toEqual({ accessToken: 'access', refreshToken: 'refresh' });
  expect(page).toMatch(/^You are signed in/);
  const form = asked.at(-1)?.form;
  const verifier = form?.get('code_verifier') ?? '';
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(verifier));
  expect(Buffer.from(digest).toString('base64url')).toBe(challenge);
  expect(form?.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
});

it.each([
  [
    'an answer of another issuer',
    { code: 'c', iss: 'https://other.example' },
    /the answer is of https:\/\/other\.example/,
  ],
  ['a refusal', { error: 'access_denied', error_description: 'You may not' }, /did not sign you in: You may not\.$/],
  ['an answer without a code', {}, /it gave no code/],
])('takes %s for none', async (_what, answer, message) => {
  await expect(signIn((request) => ({ ...answer, state: stateOf(request) }))).rejects.toThrow(message);
  expect(asked.map(({ path }) => path)).not.toContain('/token');
});

it('lets nobody else on the machine end the sign-in', async () => {
  const strangers: Promise<number>[] = [];
  const browse = async (url: string): Promise<boolean> => {
    const { searchParams: request } = new URL(url);
    const back = request.get('redirect_uri') ?? '';
    strangers.push(
      ...['?code=x&state=guess', '?error=x', '/../other'].map(async (end) => (await fetch(back + end)).status),
    );
    await Promise.all(strangers);
    await fetch(`${back}?code=c&state=${stateOf(request)}`);
    return true;
  };
  await signInByBrowser(await discover(origin, 'iss'), testContext({ browse }).context);
  expect(await Promise.all(strangers)).toEqual([400, 400, 404]);
});

it('says why the issuer gave no token', async () => {
  answers['/token'] = { error: 'invalid_grant', error_description: 'too late' };
  const signedIn = signIn((request) => ({ code: 'c', state: stateOf(request) }));
  await expect(signedIn).rejects.toThrow('The issuer gave no token: invalid_grant, too late');
});

it('asks again while nobody has signed in on the other device', async () => {
  const pending = { error: 'authorization_pending' };
  answers['/token'] = [pending, pending, { access_token: 'access' }];
  const { context, complaints } = testContext();
  const signedIn = await signInByDevice(await discover(origin, 'iss'), context);
  expect(signedIn).toEqual({ accessToken: 'access', refreshToken: null });
  expect(complaints).toEqual([`Sign in at ${origin}/go, code ABCD`]);
});

it('ends where the other device refuses, or there is no such flow', async () => {
  answers['/token'] = { error: 'access_denied' };
  const issuer = await discover(origin, 'iss');
  await expect(signInByDevice(issuer, testContext().context)).rejects.toThrow(/access_denied/);
  const without = signInByDevice({ ...issuer, deviceEndpoint: null }, testContext().context);
  await expect(without).rejects.toThrow(/has no device flow/);
});

it('takes the issuer that the service names, and none that says to be another one', async () => {
  answers['/.well-known/openid-configuration'] = { issuer: 'https://other.example' };
  await expect(discover(origin, 'iss')).rejects.toThrow(/is of the issuer https:\/\/other\.example, and not of/);
  await expect(discover('ftp://x', 'iss')).rejects.toThrow(/^--issuer takes/);
  const scheme = { openIdConnectUrl: 'https://id.example/p/.well-known/openid-configuration' };
  answers['/openapi.json'] = { components: { securitySchemes: { oidc: scheme } } };
  expect(await issuerOf(origin)).toBe('https://id.example/p');
  answers['/openapi.json'] = { components: { securitySchemes: {} } };
  await expect(issuerOf(origin)).rejects.toThrow(/names no issuer of tokens/);
});
