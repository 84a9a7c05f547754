import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type CommandContext, Failure } from '../command';
import { fetchText } from '../fetch-text';
import { Members } from '@identity-state/client/bundle';
import { visible } from '../visible';
import { askForTokens, askIssuer, type TokenAnswer } from './tokens';
import { requireWebAddress } from '../web-address';

/** How long somebody may take over signing in. */
const PATIENCE_MS = 300_000;
const SCOPE = 'openid profile offline_access';
/** RFC 8628: between two questions, where the issuer does not say. */
const DEVICE_INTERVAL_S = 5;
const CALLBACK = '/callback';
/** The path of the metadata of a protected resource at its origin (RFC 9728, section 3). */
const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Endpoints that are checked though iss does not call them. */
const OTHER_ENDPOINTS = ['jwks_uri', 'end_session_endpoint', 'userinfo_endpoint', 'revocation_endpoint'] as const;

/** What an issuer says of itself (OpenID Connect Discovery). */
export interface Issuer {
  issuer: string;
  clientId: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Null: it has no device flow. */
  deviceEndpoint: string | null;
}

/** Tokens that somebody signed in for. */
export interface SignedIn {
  accessToken: string;
  refreshToken: string | null;
}

/**
 * Returns the issuer whose tokens a service accepts, from its metadata as a protected resource (RFC 9728).
 *
 * @param origin of the service, which the metadata must name (section 3.3)
 * @throws Failure if it names another service or no issuer
 */
export async function issuerOf(origin: string): Promise<string> {
  const address = new URL(METADATA_PATH, origin);
  const metadata = Members.parse(address.href, Buffer.from(await fetchText(address)));
  const resource = metadata.text('resource');
  if (resource !== origin) {
    throw new Failure(
      `${address.href} is the metadata of ${visible(resource)}, and not of ${origin}. No token is asked for. ` +
        'Sign in at the address that the operator of the service names (PUBLIC_ORIGIN).',
    );
  }
  const [issuer] = metadata.has('authorization_servers') ? metadata.texts('authorization_servers') : [];
  if (issuer === undefined) throw new Failure(`${origin} names no issuer of tokens: name --issuer URL.`);
  return issuer;
}

/**
 * Returns what the issuer says of itself.
 *
 * @throws Failure if it names another issuer, or an endpoint that does not lie on its own origin
 */
export async function discover(issuer: string, clientId: string): Promise<Issuer> {
  const { origin } = requireWebAddress('The issuer', issuer);
  const address = new URL(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`);
  const metadata = Members.parse(address.href, Buffer.from(await fetchText(address)));
  const named = metadata.text('issuer');
  if (named.replace(/\/+$/, '') !== issuer.replace(/\/+$/, '')) {
    throw new Failure(`${address.href} is of the issuer ${visible(named)}, and not of ${visible(issuer)}.`);
  }
  const endpointOf = (member: string): string | null => {
    if (!metadata.has(member)) return null;
    const url = requireWebAddress(`${member} of ${address.host}`, metadata.text(member));
    if (url.origin === origin) return url.href;
    throw new Failure(
      `${member} of ${origin} lies at ${url.origin}. Endpoints must lie on the origin of their issuer.`,
    );
  };
  for (const member of OTHER_ENDPOINTS) endpointOf(member);
  const requiredOf = (member: string): string => endpointOf(member) ?? metadata.text(member);
  return {
    issuer: named,
    clientId,
    authorizationEndpoint: requiredOf('authorization_endpoint'),
    tokenEndpoint: requiredOf('token_endpoint'),
    deviceEndpoint: endpointOf('device_authorization_endpoint'),
  };
}

/**
 * Signs somebody in in the browser: authorization code with PKCE, which comes back over loopback (RFC 8252, 7.3).
 *
 * @param resource the origin of the service that the token is for (RFC 8707)
 * @throws Failure where nobody does so within five minutes, or the issuer refuses
 */
export async function signInByBrowser(
  issuer: Issuer,
  resource: string,
  { browse, complain }: CommandContext,
): Promise<SignedIn> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const callback = await listenForCode(issuer, state);
  try {
    const url = new URL(issuer.authorizationEndpoint);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: issuer.clientId,
      redirect_uri: callback.url,
      scope: SCOPE,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource,
    })) {
      url.searchParams.set(name, value);
    }
    complain(`Sign in in the browser: ${url.href}`);
    if (!(await browse(url.href)))
      complain('No browser could be opened: follow that address in yours, or use --device.');
    const code = await callback.code;
    return requireTokens(
      await askForTokens(issuer.tokenEndpoint, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback.url,
        client_id: issuer.clientId,
        code_verifier: verifier,
        resource,
      }),
    );
  } finally {
    callback.close();
  }
}

/** Signs somebody in on another device (RFC 8628). @param resource as for {@link signInByBrowser} @throws Failure */
export async function signInByDevice(
  issuer: Issuer,
  resource: string,
  { complain }: CommandContext,
): Promise<SignedIn> {
  if (issuer.deviceEndpoint === null)
    throw new Failure(`${visible(issuer.issuer)} has no device flow: leave out --device.`);
  const answer = await askIssuer(issuer.deviceEndpoint, { client_id: issuer.clientId, scope: SCOPE, resource });
  if (!answer.has('device_code'))
    throw new Failure(`${visible(issuer.issuer)} refuses the device flow of ${issuer.clientId}.`);
  const place = answer.has('verification_uri_complete') ? 'verification_uri_complete' : 'verification_uri';
  const page = requireWebAddress(`${place} of ${issuer.issuer}`, answer.text(place));
  complain(`Sign in at ${page.href}, code ${visible(answer.text('user_code'))}`);
  let intervalS = answer.has('interval') ? answer.count('interval') : DEVICE_INTERVAL_S;
  const endsAt = Date.now() + Math.min(PATIENCE_MS, answer.count('expires_in') * 1000);
  while (Date.now() < endsAt) {
    await pause(intervalS * 1000);
    const tokens = await askForTokens(issuer.tokenEndpoint, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: answer.text('device_code'),
      client_id: issuer.clientId,
      resource,
    });
    if (!('error' in tokens)) return tokens;
    if (tokens.error === 'slow_down') intervalS += DEVICE_INTERVAL_S;
    else if (tokens.error !== 'authorization_pending') return requireTokens(tokens);
  }
  throw new Failure('Nobody signed in in time: begin again with iss login --device.');
}

function requireTokens(answer: TokenAnswer): SignedIn {
  if ('error' in answer) throw new Failure(`The issuer gave no token: ${visible(answer.error)}, ${answer.description}`);
  return answer;
}

/** Waits for the code on a port of loopback that was free. */
async function listenForCode(
  { issuer }: Issuer,
  state: string,
): Promise<{ url: string; code: Promise<string>; close: () => void }> {
  const server = createServer();
  const ending = new AbortController();
  const code = new Promise<string>((resolve, reject) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (pathname !== CALLBACK) return answerWith(response, 404, 'Nothing is here.');
      // Anybody on this machine can come here: what did not begin here ends nothing.
      if (searchParams.get('state') !== state) return answerWith(response, 400, 'This sign-in did not begin here.');
      const given = searchParams.get('code');
      const fault = faultOf(searchParams, issuer);
      if (given !== null && fault === null) {
        resolve(given);
        return answerWith(response, 200, 'You are signed in. You can close this page and go back to the terminal.');
      }
      reject(new Failure(`The issuer did not sign you in: ${visible(fault ?? 'it gave no code')}.`));
      return answerWith(response, 400, 'You are not signed in: the terminal says why.');
    });
    const late = new Failure('Nobody signed in within five minutes: begin again with iss login.');
    pause(PATIENCE_MS, undefined, { signal: ending.signal }).then(
      () => reject(late),
      () => undefined,
    );
  });
  // Whoever waits for it does so later.
  code.catch(() => undefined);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}${CALLBACK}`,
    code,
    close: () => {
      ending.abort();
      server.close();
    },
  };
}

/** What is wrong with an answer; null for nothing. An issuer that names itself (RFC 9207) has to be the one that was asked. */
function faultOf(answer: URLSearchParams, issuer: string): string | null {
  const error = answer.get('error');
  if (error !== null) return answer.get('error_description') ?? error;
  const named = answer.get('iss');
  return named === null || named === issuer ? null : `the answer is of ${named}`;
}

function answerWith(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'close',
    })
    .end(`${text}\n`);
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Failure('No port of loopback is free.');
  return address.port;
}
