/** @jest-environment ./src/testing/environment.cjs */
import '../testing/dom.ts';
import { ErrorResponse, User, UserManager } from 'oidc-client-ts';
import { NotFoundError, UnauthorizedError } from '@identity-state/client';
import { encodePath, tenantPath } from '../app/api.ts';
import { queriesOf } from '../app/queries.ts';
import { Session } from '../app/session.ts';
import { readSettings } from '../app/settings.ts';
import { serve } from '../app/worker-side.ts';
import { startWorker, WorkerRoom } from '../app/worker.ts';
import { versionOf } from '../entities/versions.tsx';
import { RIGHTS } from '../generated/rights.ts';
import { curlOf } from '../ui/copy.tsx';
import { makeRouter } from './router.tsx';

const failure = {
  status: 401,
  code: 'unauthorized',
  message: 'No.',
  details: [],
  requestId: null,
  retryAfterMs: null,
  erased: null,
} as const;

it.each([
  [encodePath('v1', 'a/b', 3), '/v1/a%2Fb/3'],
  [tenantPath('acme', 'subjects', 'organization', 'a b#?'), '/v1/tenants/acme/subjects/organization/a%20b%23%3F'],
])('the path %s has encoded segments', (path, expected) => {
  expect(path).toBe(expected);
});

it.each([
  [{ version: '3' }, '?version=3'],
  [{ version: '3', basis: '' }, '?version=3'],
  [{ find: 'a b', status: undefined }, '?find=a+b'],
  [{ find: '' }, ''],
])('stringifySearch of %j is "%s"', (search, expected) => {
  expect(makeRouter().options.stringifySearch(search)).toBe(expected);
});

it.each([
  ['1', 1],
  ['1234567890', 1_234_567_890],
  ['12345678901', null],
  ['0', null],
  ['01', null],
  ['1x', null],
  ['', null],
  [undefined, null],
])('versionOf(%s) is %s', (text, expected) => {
  expect(versionOf(text)).toBe(expected);
});

it.each([
  [
    { method: 'GET', path: '/v1/a', query: { b: 1, c: null, d: undefined } },
    ["curl -sS 'https://console.example/v1/a?b=1'"],
  ],
  [
    { method: 'POST', path: '/v1/a', body: { name: "it's" } },
    [
      "curl -sS -X POST 'https://console.example/v1/a'",
      "-H 'Content-Type: application/json'",
      `-d '{"name":"it'\\''s"}'`,
    ],
  ],
] as const)('curlOf writes the call %j as a shell command', (call, parts) => {
  const [first, ...rest] = parts;
  expect(curlOf(call).split(' \\\n  ')).toEqual([first, '-H "Authorization: Bearer $TOKEN"', ...rest]);
});

it('every right names a role', () => {
  const roles = ['tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner'];
  expect(Object.values(RIGHTS).filter((role) => !roles.includes(role))).toEqual([]);
});

describe('the settings', () => {
  it('are requested from the gateway', async () => {
    globalThis.fetch = jest.fn(async () => Response.json({ auth: 'disabled' }));
    await expect(readSettings()).resolves.toEqual({ auth: 'disabled' });
    expect(globalThis.fetch).toHaveBeenCalledWith('/console/settings.json');
  });

  it('are refused if the gateway fails', async () => {
    globalThis.fetch = async () => new Response('', { status: 503 });
    await expect(readSettings()).rejects.toThrow('/console/settings.json: 503');
  });
});

describe('the session', () => {
  const settings = {
    auth: 'oidc',
    issuer: 'https://issuer.example',
    project_id: 'dev',
    client_id: 'c',
    scope: 'openid',
  } as const;
  const userOf = (token: string, changes: { expired?: boolean; refresh?: string; state?: string } = {}): User =>
    new User({
      access_token: token,
      token_type: 'Bearer',
      profile: { sub: 'alice', iss: 'i', aud: 'a', exp: 0, iat: 0 },
      expires_at: changes.expired === true ? 1 : 9_999_999_999,
      ...(changes.refresh === undefined ? {} : { refresh_token: changes.refresh }),
      userState: changes.state,
    });
  const signedIn = async (user: User): Promise<Session> => {
    jest.spyOn(UserManager.prototype, 'signinPopup').mockResolvedValue(user);
    const session = new Session(settings);
    await session.signInAgain();
    return session;
  };
  afterEach(() => {
    jest.restoreAllMocks();
    localStorage.clear();
    history.replaceState(null, '', '/console');
  });

  it('is signed in without a token if sign-in is disabled', async () => {
    const session = new Session({ auth: 'disabled' });
    expect(session.getState()).toBe('signed_in');
    await expect(session.token({ refused: null })).resolves.toBe('');
    await expect(session.begin()).resolves.toBe('/console');
  });

  it('is signed out at first, and redirects to the issuer', async () => {
    const leave = jest.spyOn(UserManager.prototype, 'signinRedirect').mockResolvedValue();
    const session = new Session(settings);
    expect(session.getState()).toBe('signed_out');
    await session.signIn('/console/t/acme');
    expect(leave).toHaveBeenCalledWith({ state: '/console/t/acme' });
  });

  it.each([
    ['/console/t/acme/log', '/console/t/acme/log'],
    [undefined, '/console'],
  ])('returns from the issuer to %s', async (state, expected) => {
    history.replaceState(null, '', '/console/signed-in?state=1');
    const user = userOf('t-1', state === undefined ? {} : { state });
    jest.spyOn(UserManager.prototype, 'signinRedirectCallback').mockResolvedValue(user);
    const session = new Session(settings);
    await expect(session.begin()).resolves.toBe(expected);
    expect([session.getState(), session.subject]).toEqual(['signed_in', 'alice']);
    await expect(session.token({ refused: null })).resolves.toBe('t-1');
    expect(session.principalId).toBe('oidc:dev#alice');
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain('t-1');
  });

  it('asks the issuer silently after an earlier sign-in, except in public views', async () => {
    const leave = jest.spyOn(UserManager.prototype, 'signinRedirect').mockResolvedValue();
    history.replaceState(null, '', '/console/t/acme');
    await new Session(settings).begin();
    expect(leave).not.toHaveBeenCalled();
    const before = await signedIn(userOf('t-1'));
    await new Session(settings).begin();
    expect(leave).toHaveBeenCalledWith({ state: '/console/t/acme', prompt: 'none' });
    history.replaceState(null, '', '/console/verify');
    await new Session(settings).begin();
    expect(leave).toHaveBeenCalledTimes(1);
    jest.spyOn(UserManager.prototype, 'removeUser').mockResolvedValue();
    await before.signOut();
    history.replaceState(null, '', '/console/t/acme');
    await new Session(settings).begin();
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('is signed out at its address if the issuer has no session', async () => {
    await signedIn(userOf('t-1'));
    history.replaceState(null, '', '/console/signed-in?state=1&error=login_required');
    const refusal = new ErrorResponse({ error: 'login_required', userState: '/console/t/acme/log' });
    jest.spyOn(UserManager.prototype, 'signinRedirectCallback').mockRejectedValue(refusal);
    const session = new Session(settings);
    await expect(session.begin()).resolves.toBe('/console/t/acme/log');
    expect(session.getState()).toBe('signed_out');
    await expect(session.begin()).rejects.toThrow('login_required');
  });

  it('in a popup passes the answer to the page, and stays signed out', async () => {
    history.replaceState(null, '', '/console/signed-in?state=1;beside');
    const hand = jest.spyOn(UserManager.prototype, 'signinPopupCallback').mockResolvedValue();
    const session = new Session(settings);
    await expect(session.begin()).resolves.toBe(null);
    expect(hand).toHaveBeenCalled();
    expect(session.getState()).toBe('signed_out');
  });

  it.each([
    ['a fresh token', {}, null, null, 't-1', 'signed_in'],
    ['a token that another request was refused with', {}, 'older', null, 't-1', 'signed_in'],
    ['a token that was refused', {}, 't-1', null, 't-1', 'expired'],
    ['a token that expired', { expired: true }, null, null, 't-1', 'expired'],
    ['a token that is renewed', { expired: true, refresh: 'r' }, null, 't-2', 't-2', 'signed_in'],
    ['a token that is not renewed', { expired: true, refresh: 'r' }, null, null, 't-1', 'expired'],
  ] as const)('returns %s', async (_what, changes, refused, renewed, expected, state) => {
    jest
      .spyOn(UserManager.prototype, 'signinSilent')
      .mockImplementation(async () => (renewed === null ? Promise.reject(new Error('No.')) : userOf(renewed)));
    const session = await signedIn(userOf('t-1', changes));
    await expect(session.token({ refused })).resolves.toBe(expected);
    expect(session.getState()).toBe(state);
  });

  it('notifies listeners once per change', async () => {
    const session = await signedIn(userOf('t-1'));
    const listener = jest.fn();
    const end = session.subscribe(listener);
    session.expire();
    session.expire();
    expect(listener).toHaveBeenCalledTimes(1);
    jest.spyOn(UserManager.prototype, 'removeUser').mockResolvedValue();
    await session.signOut();
    expect([session.getState(), session.subject, listener.mock.calls.length]).toEqual(['signed_out', '', 2]);
    end();
    session.expire();
    expect([session.getState(), listener.mock.calls.length]).toEqual(['signed_out', 2]);
  });

  it.each([
    [new UnauthorizedError(failure), 'expired'],
    [new NotFoundError(failure), 'signed_in'],
  ])('expires only with an answer that refuses the token: %s', async (error, state) => {
    const session = await signedIn(userOf('t-1'));
    const queries = queriesOf(session);
    await queries.fetchQuery({ queryKey: ['a'], queryFn: async () => Promise.reject(error) }).catch(() => undefined);
    expect(session.getState()).toBe(state);
    await session.signInAgain();
    const change = queries.getMutationCache().build(queries, { mutationFn: async () => Promise.reject(error) });
    await change.execute(undefined).catch(() => undefined);
    expect(session.getState()).toBe(state);
  });
});

describe('a worker', () => {
  class Recorder extends EventTarget implements Worker {
    static last: Recorder;
    onmessage = null;
    onmessageerror = null;
    onerror = null;
    readonly posted: { id: number; request: unknown }[] = [];
    isEnded = false;
    constructor() {
      super();
      Recorder.last = this;
    }
    postMessage(message: { id: number; request: unknown }): void {
      this.posted.push(message);
    }
    terminate(): void {
      this.isEnded = true;
    }
    say(data: object): void {
      this.dispatchEvent(new MessageEvent('message', { data }));
    }
  }
  beforeEach(() => {
    globalThis.Worker = Recorder;
  });
  const URL_OF_WORKER = '/console/assets/a.js';

  it.each(['https://elsewhere.example/console/assets/a.js', '/console/a.js', '/other/assets/a.js'])(
    'is started only from a file of the build, not %s',
    (url) => {
      expect(() => startWorker(url)).toThrow(TypeError);
      expect(startWorker(URL_OF_WORKER)).toBeInstanceOf(Recorder);
    },
  );

  it('answers each task separately', async () => {
    const room = new WorkerRoom<string, number, string>(URL_OF_WORKER);
    const told: number[] = [];
    const [first, second] = [room.run('a', (progress) => told.push(progress)), room.run('b')];
    expect(Recorder.last.posted).toEqual([
      { id: 1, request: 'a' },
      { id: 2, request: 'b' },
    ]);
    Recorder.last.say({ id: 2, is: 'failed', message: 'No.' });
    Recorder.last.say({ id: 1, is: 'progress', progress: 7 });
    Recorder.last.say({ id: 1, is: 'done', result: 'A' });
    await expect(second).rejects.toThrow('No.');
    await expect(first).resolves.toBe('A');
    expect(told).toEqual([7]);
  });

  it('rejects running tasks when it ends, and is replaced for later ones', async () => {
    const room = new WorkerRoom<string, never, string>(URL_OF_WORKER);
    const work = room.run('a');
    const before = Recorder.last;
    room.end();
    await expect(work).rejects.toThrow('The task was ended.');
    expect(before.isEnded).toBe(true);
    room.start();
    expect(Recorder.last).not.toBe(before);
    const broken = room.run('b');
    Recorder.last.dispatchEvent(new ErrorEvent('error', { message: 'Broken.' }));
    await expect(broken).rejects.toThrow('Broken.');
  });

  it('reports progress, results and failures', async () => {
    const said: unknown[] = [];
    globalThis.postMessage = (message: unknown) => void said.push(message);
    serve<number, string, number>(async (request, tell) => {
      tell('half');
      if (request < 0) throw new Error('Negative.');
      return request * 2;
    });
    dispatchEvent(new MessageEvent('message', { data: { id: 1, request: 2 } }));
    dispatchEvent(new MessageEvent('message', { data: { id: 2, request: -1 } }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(said).toEqual([
      { id: 1, is: 'progress', progress: 'half' },
      { id: 2, is: 'progress', progress: 'half' },
      { id: 1, is: 'done', result: 4 },
      { id: 2, is: 'failed', message: 'Negative.' },
    ]);
  });
});
