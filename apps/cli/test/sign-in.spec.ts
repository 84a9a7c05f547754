import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { discover, issuerOf, signInByBrowser, signInByDevice } from '../src/identity/sign-in';
import type { AddressInfo } from 'node:net';
import { testContext } from './testing/run-iss';

/** The service for which tokens are issued. */
const RESOURCE = 'https://identity.example.com';

/** The answers of the issuer, by path. A text is sent unchanged. */
let answers: Record<string, unknown>;
let asked: { path: string; form: URLSearchParams }[];
let server: Server;
let origin: string;

beforeAll(async () => {
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
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

/** Signs in with a browser that returns with the result of `answer` for the request. */
async function signIn(answer: (request: URLSearchParams) => Record<string, string>) {
  let page: Promise<string> | undefined;
  const browse = async (url: string): Promise<boolean> => {
    const { searchParams: request } = new URL(url);
    const back = `${request.get('redirect_uri')}?${new URLSearchParams(answer(request)).toString()}`;
    page = fetch(back).then((response) => response.text());
    return true;
  };
  const signedIn = await signInByBrowser(await discover(origin, 'iss'), RESOURCE, testContext({ browse }).context);
  return { signedIn, page: await page };
}

const stateOf = (request: URLSearchParams): string => request.get('state') ?? '';

it('signInByBrowser exchanges the code with the verifier of its challenge', async () => {
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
    /the answer is from https:\/\/other\.example/,
  ],
  ['a refusal', { error: 'access_denied', error_description: 'You may not' }, /did not sign you in: You may not\.$/],
  ['an answer without a code', {}, /it sent no code/],
])('signInByBrowser requests no token after %s', async (_what, answer, message) => {
  await expect(signIn((request) => ({ ...answer, state: stateOf(request) }))).rejects.toThrow(message);
  expect(asked.map(({ path }) => path)).not.toContain('/token');
});

it('signInByBrowser ignores callbacks with a wrong state or path', async () => {
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
  await signInByBrowser(await discover(origin, 'iss'), RESOURCE, testContext({ browse }).context);
  expect(await Promise.all(strangers)).toEqual([400, 400, 404]);
});

it('signInByBrowser fails with the reason of the issuer if it refuses the token', async () => {
  answers['/token'] = { error: 'invalid_grant', error_description: 'too late' };
  const signedIn = signIn((request) => ({ code: 'c', state: stateOf(request) }));
  await expect(signedIn).rejects.toThrow('The issuer refused the token request (invalid_grant): too late');
});

it('signInByDevice polls until the user has signed in on the other device', async () => {
  const pending = { error: 'authorization_pending' };
  answers['/token'] = [pending, pending, { access_token: 'access' }];
  const { context, complaints } = testContext();
  const signedIn = await signInByDevice(await discover(origin, 'iss'), RESOURCE, context);
  expect(signedIn).toEqual({ accessToken: 'access', refreshToken: null });
  expect(complaints).toEqual([`Sign in at ${origin}/go, code ABCD`]);
});

it('signInByDevice polls less often after slow_down', async () => {
  const given = { device_code: 'd', user_code: 'A', expires_in: 1, verification_uri: `${origin}/go` };
  answers['/device'] = { ...given, interval: 0 };
  answers['/token'] = [{ error: 'slow_down' }, { access_token: 'access' }];
  const begunMs = performance.now();
  const signedIn = await signInByDevice(await discover(origin, 'iss'), RESOURCE, testContext().context);
  expect(signedIn.accessToken).toBe('access');
  // Five seconds more, but no longer than the code is valid.
  expect(performance.now() - begunMs).toBeGreaterThan(900);
});

it('signInByDevice fails if access is denied or the issuer has no device flow', async () => {
  answers['/token'] = { error: 'access_denied' };
  const issuer = await discover(origin, 'iss');
  await expect(signInByDevice(issuer, RESOURCE, testContext().context)).rejects.toThrow(/access_denied/);
  const without = signInByDevice({ ...issuer, deviceEndpoint: null }, RESOURCE, testContext().context);
  await expect(without).rejects.toThrow(/has no device flow/);
});

it('every request to the issuer names the service as its resource', async () => {
  let resource: string | null = null;
  await signIn((request) => {
    resource = request.get('resource');
    return { code: 'c', state: stateOf(request) };
  });
  answers['/token'] = { access_token: 'access' };
  await signInByDevice(await discover(origin, 'iss'), RESOURCE, testContext().context);
  const forms = asked.filter(({ path }) => ['/token', '/device'].includes(path));
  expect([resource, ...forms.map(({ path, form }) => `${path} ${form.get('resource')}`)]).toEqual([
    RESOURCE,
    `/token ${RESOURCE}`,
    `/device ${RESOURCE}`,
    `/token ${RESOURCE}`,
  ]);
});

describe('the metadata of the service', () => {
  const METADATA = '/.well-known/oauth-protected-resource';

  it('return its issuer', async () => {
    answers[METADATA] = { resource: origin, authorization_servers: ['https://id.example/p'] };
    expect(await issuerOf(origin)).toBe('https://id.example/p');
  });

  it.each([
    ['another origin', 'https://identity.example.com'],
    ['another scheme', () => origin.replace('http:', 'https:')],
    ['another port', () => `${origin}0`],
    ['an additional path', () => `${origin}/`],
  ])('are refused if the resource has %s', async (_what, resource) => {
    const given = typeof resource === 'string' ? resource : resource();
    answers[METADATA] = { resource: given, authorization_servers: ['https://id.example/p'] };
    await expect(issuerOf(origin)).rejects.toThrow(`describes ${given} instead of ${origin}. No token`);
  });

  it('without an issuer fail and suggest --issuer', async () => {
    answers[METADATA] = { resource: origin };
    await expect(issuerOf(origin)).rejects.toThrow(/names no token issuer\. Add --issuer URL\.$/);
  });
});

describe('a hostile issuer', () => {
  const DISCOVERY = '/.well-known/openid-configuration';
  const discovered = (changes: object) => {
    answers[DISCOVERY] = {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      ...changes,
    };
    return discover(origin, 'iss');
  };

  it('cannot claim to be another issuer', async () => {
    await expect(discovered({ issuer: 'https://other.example\u001b[2J' })).rejects.toThrow(
      /describes the issuer https:\/\/other\.example\\u001b\[2J instead of/,
    );
  });

  it.each([
    'authorization_endpoint',
    'token_endpoint',
    'device_authorization_endpoint',
    'jwks_uri',
    'end_session_endpoint',
    'userinfo_endpoint',
    'revocation_endpoint',
  ])('cannot put its %s on another origin', async (member) => {
    await expect(discovered({ [member]: 'https://evil.example/x' })).rejects.toThrow(
      `${member} of ${origin} is at https://evil.example. All endpoints must be at the origin of the issuer.`,
    );
    expect(await discovered({ [member]: `${origin}/x` })).toMatchObject({ issuer: origin });
  });

  it.each([
    'file:///etc/passwd',
    'smb://evil.example/share',
    'vscode://extension/run',
    'javascript:alert(1)',
    'data:text/html,x',
    'ms-msdt:/id',
    '-version',
    'http://evil.example/authorize',
    'http://127.0.0.1.evil.example/authorize',
    'https://user:secret@evil.example/authorize',
  ])('cannot make the browser open %s', async (address) => {
    const refused = /^authorization_endpoint of 127\.0\.0\.1:\d+ is .*\. It must be an https address/;
    const failure = discovered({ authorization_endpoint: address });
    await expect(failure).rejects.toThrow(refused);
    await expect(failure).rejects.not.toThrow('secret');
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'http://evil.example/go'])(
    'cannot send a user to %s in the device flow',
    async (address) => {
      const given = { device_code: 'd', user_code: 'A', expires_in: 60, interval: 0 };
      answers['/device'] = { ...given, verification_uri: address };
      const { context, complaints } = testContext();
      const signedIn = signInByDevice(await discover(origin, 'iss'), RESOURCE, context);
      await expect(signedIn).rejects.toThrow(/^verification_uri of .* It must be an https address/);
      expect(complaints).toEqual([]);
    },
  );

  it('cannot forge lines of the terminal in its code or its error', async () => {
    const given = { device_code: 'd', expires_in: 60, interval: 0, verification_uri: `${origin}/go` };
    answers['/device'] = { ...given, user_code: 'A\nSigned in.' };
    answers['/token'] = { error: 'denied\nSigned in.', error_description: 'No.\nSigned in.' };
    const { context, complaints } = testContext();
    const signedIn = signInByDevice(await discover(origin, 'iss'), RESOURCE, context);
    await expect(signedIn).rejects.toThrow(
      /^The issuer refused [^\n]*denied\\u000aSigned in\.[^\n]*No\.\\u000aSigned in\.$/,
    );
    expect(complaints).toEqual([`Sign in at ${origin}/go, code A\\u000aSigned in.`]);
  });

  it('cannot prolong the device flow beyond the validity of its code', async () => {
    const given = { device_code: 'd', user_code: 'A', expires_in: 1, verification_uri: `${origin}/go` };
    answers['/device'] = { ...given, interval: 4_000_000_000 };
    answers['/token'] = { error: 'authorization_pending' };
    const signedIn = signInByDevice(await discover(origin, 'iss'), RESOURCE, testContext().context);
    await expect(signedIn).rejects.toThrow(/^The sign-in timed out/);
    expect(asked.filter(({ path }) => path === '/token').length).toBeLessThan(3);
  });

  it.each(['ftp://x', 'http://id.example', 'https://a:b@id.example', 'javascript:x', 'x'])(
    'cannot have the address %s',
    async (issuer) => {
      await expect(discover(issuer, 'iss')).rejects.toThrow(/^The issuer is .*It must be an https address/);
      expect(asked).toEqual([]);
    },
  );
});
