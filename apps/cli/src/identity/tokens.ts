import { Failure } from '../command';
import { Members } from '@iss/proof';
import { boundedBody } from '../fetch-text';
import { visible } from '../visible';
import type { Profile } from './profiles';

const TIMEOUT_MS = 20_000;

/** The answer of a token endpoint: tokens or an error (RFC 6749, sections 5.1 and 5.2). */
export type TokenAnswer = { accessToken: string; refreshToken: string | null } | { error: string; description: string };

/** Posts a form to an endpoint of an issuer. @throws Failure without an answer; UnreadableError if the answer is not JSON */
export async function askIssuer(endpoint: string, form: Readonly<Record<string, string>>): Promise<Members> {
  let bytes: Buffer;
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new URLSearchParams(form),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    bytes = await boundedBody(response, new URL(endpoint));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      `${endpoint} does not answer (${error instanceof Error ? error.message : String(error)}). Try again later.`,
    );
  }
  return Members.parse(`The answer of ${endpoint}`, bytes);
}

/** Requests tokens. Throws as {@link askIssuer}. */
export async function askForTokens(
  tokenEndpoint: string,
  form: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const answer = await askIssuer(tokenEndpoint, form);
  if (!answer.has('access_token')) {
    const error = answer.has('error') ? answer.text('error') : 'no token';
    return { error, description: visible(answer.has('error_description') ? answer.text('error_description') : error) };
  }
  return {
    accessToken: answer.text('access_token'),
    refreshToken: answer.has('refresh_token') ? answer.text('refresh_token') : null,
  };
}

/** Refreshes an access token. @throws Failure if the refresh token is no longer valid */
export async function refreshToken(
  refresh: NonNullable<Profile['refresh']>,
): Promise<Pick<Profile, 'accessToken' | 'refresh'>> {
  const { token, tokenEndpoint, clientId, resource } = refresh;
  const answer = await askForTokens(tokenEndpoint, {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: clientId,
    ...(resource === null ? {} : { resource }),
  });
  if ('error' in answer)
    throw new Failure(`The sign-in has expired (${answer.description}). Sign in again: iss login.`);
  return { accessToken: answer.accessToken, refresh: { ...refresh, token: answer.refreshToken ?? token } };
}
