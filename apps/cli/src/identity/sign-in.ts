import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type CommandContext, Failure } from '../command';
import { fetchText } from '../fetch-text';
import { Members } from '@iss/proof';
import { visible } from '../visible';
import { askForTokens, askIssuer, type TokenAnswer } from './tokens';
import { requireWebAddress } from './web-address';

/** How long a user may take to sign in. */
const SIGN_IN_MS = 300_000;
const SCOPE = 'openid profile offline_access';
/** The default polling interval (RFC 8628, section 3.2). */
const DEVICE_INTERVAL_S = 5;
const CALLBACK = '/callback';
/** The path of the metadata of a protected resource at its origin (RFC 9728, section 3). */
const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Endpoints that iss checks but does not call. */
const OTHER_ENDPOINTS = ['jwks_uri', 'end_session_endpoint', 'userinfo_endpoint', 'revocation_endpoint'] as const;

/** The metadata of an issuer (OpenID Connect Discovery). */
export interface Issuer {
  issuer: string;
  clientId: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Null if it has no device flow. */
  deviceEndpoint: string | null;
}

/** The tokens of a sign-in. */
export interface SignInTokens {
  accessToken: string;
  refreshToken: string | null;
}

/**
 * Returns the issuer that a service names in its protected resource metadata (RFC 9728).
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
      `${address.href} describes ${visible(resource)} instead of ${origin}. No token was requested. ` +
        'Sign in at the address from the operator of the service (PUBLIC_ORIGIN).',
    );
  }
  const [issuer] = metadata.has('authorization_servers') ? metadata.texts('authorization_servers') : [];
  if (issuer === undefined) throw new Failure(`${origin} names no token issuer. Add --issuer URL.`);
  return issuer;
}

/**
 * Fetches the metadata of an issuer.
 *
 * @throws Failure if it names another issuer, or an endpoint outside the origin of the issuer
 */
export async function discover(issuer: string, clientId: string): Promise<Issuer> {
  const { origin } = requireWebAddress('The issuer', issuer);
  const address = new URL(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`);
  const metadata = Members.parse(address.href, Buffer.from(await fetchText(address)));
  const named = metadata.text('issuer');
  if (named.replace(/\/+$/, '') !== issuer.replace(/\/+$/, '')) {
    throw new Failure(`${address.href} describes the issuer ${visible(named)} instead of ${visible(issuer)}.`);
  }
  const endpointOf = (member: string): string | null => {
    if (!metadata.has(member)) return null;
    const url = requireWebAddress(`${member} of ${address.host}`, metadata.text(member));
    if (url.origin === origin) return url.href;
    throw new Failure(`${member} of ${origin} is at ${url.origin}. All endpoints must be at the origin of the issuer.`);
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
 * Signs the user in with the browser: authorization code with PKCE and a loopback redirect (RFC 8252, section 7.3).
 *
 * @param resource the origin of the service that the token is for (RFC 8707)
 * @throws Failure if nobody signs in within five minutes, or the issuer refuses
 */
export async function signInByBrowser(
  issuer: Issuer,
  resource: string,
  { browse, complain }: CommandContext,
): Promise<SignInTokens> {
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
    if (!(await browse(url.href))) complain('No browser could be opened. Open the address yourself, or use --device.');
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

/** Signs the user in on another device (RFC 8628). @param resource as for {@link signInByBrowser} @throws Failure */
export async function signInByDevice(
  issuer: Issuer,
  resource: string,
  { complain }: CommandContext,
): Promise<SignInTokens> {
  if (issuer.deviceEndpoint === null)
    throw new Failure(`${visible(issuer.issuer)} has no device flow. Remove --device.`);
  const answer = await askIssuer(issuer.deviceEndpoint, { client_id: issuer.clientId, scope: SCOPE, resource });
  if (!answer.has('device_code'))
    throw new Failure(
      `${visible(issuer.issuer)} refuses the device flow for the client ${issuer.clientId}. Remove --device.`,
    );
  const place = answer.has('verification_uri_complete') ? 'verification_uri_complete' : 'verification_uri';
  const page = requireWebAddress(`${place} of ${issuer.issuer}`, answer.text(place));
  complain(`Sign in at ${page.href}, code ${visible(answer.text('user_code'))}`);
  let intervalS = answer.has('interval') ? answer.count('interval') : DEVICE_INTERVAL_S;
  const endsAt = Date.now() + Math.min(SIGN_IN_MS, answer.count('expires_in') * 1000);
  while (Date.now() < endsAt) {
    await pause(Math.min(intervalS * 1000, endsAt - Date.now()));
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
  throw new Failure('The sign-in timed out. Start again with iss login --device.');
}

function requireTokens(answer: TokenAnswer): SignInTokens {
  if ('error' in answer)
    throw new Failure(`The issuer refused the token request (${visible(answer.error)}): ${answer.description}`);
  return answer;
}

/** Listens for the authorization code on a free port of loopback. */
async function listenForCode(
  { issuer }: Issuer,
  state: string,
): Promise<{ url: string; code: Promise<string>; close: () => void }> {
  const server = createServer();
  const ending = new AbortController();
  const code = new Promise<string>((resolve, reject) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (pathname !== CALLBACK) return answerWith(response, 404, 'Not found.');
      // Any program on this machine can call this port, so a request with an unknown state must not end the sign-in.
      if (searchParams.get('state') !== state) return answerWith(response, 400, 'This sign-in was not started here.');
      const given = searchParams.get('code');
      const fault = faultOf(searchParams, issuer);
      if (given !== null && fault === null) {
        resolve(given);
        return answerWith(response, 200, 'You are signed in. You can close this page and return to the terminal.');
      }
      reject(new Failure(`The issuer did not sign you in: ${visible(fault ?? 'it sent no code')}.`));
      return answerWith(response, 400, 'You are not signed in. The terminal shows the reason.');
    });
    const late = new Failure('Nobody signed in within five minutes. Start again with iss login.');
    pause(SIGN_IN_MS, undefined, { signal: ending.signal }).then(
      () => reject(late),
      () => undefined,
    );
  });
  // Avoids an unhandled rejection before the caller awaits it.
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

/** Returns the error of a redirect; null if there is none. An `iss` parameter (RFC 9207) must name the expected issuer. */
function faultOf(answer: URLSearchParams, issuer: string): string | null {
  const error = answer.get('error');
  if (error !== null) return answer.get('error_description') ?? error;
  const named = answer.get('iss');
  return named === null || named === issuer ? null : `the answer is from ${named}`;
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
  if (address === null || typeof address === 'string') throw new Failure('No loopback port is free.');
  return address.port;
}
