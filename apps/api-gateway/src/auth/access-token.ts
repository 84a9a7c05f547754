import { isJsonObject, parseJson, PRINCIPAL_TYPES, type JsonObject, type PrincipalType } from '@iss/domain';
import type { AuthSettings } from './auth-settings';
import type { Principal } from './principal';
import { isSigningAlgorithm, type SigningAlgorithm } from './signing-algorithms';
import { unauthorized } from './unauthorized';

/** The contents of an access token, parsed strictly. Do not trust them before the signature is verified. */
export interface AccessToken {
  algorithm: SigningAlgorithm;
  keyId: string | undefined;
  principal: Principal;
  expiresAtSeconds: number;
  notBeforeSeconds: number | undefined;
}

const MAX_SUBJECT_LENGTH = 255; // OpenID Connect Core 1.0, section 2
const BEARER = /^bearer ([^ ]+)$/i; // the scheme is case-insensitive: RFC 9110, section 11.1
const TOKEN_TYPE = /^(?:application\/)?(?:jwt|at\+jwt)$/i; // RFC 7519, section 5.1; RFC 9068, section 2.1
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns the only bearer token of a request. Takes all values because Node's `headers` keeps only the first of
 * several.
 */
export function readBearerToken(authorization: readonly string[] | undefined, maxTokenBytes: number): string {
  const [value, ...others] = authorization ?? [];
  if (value === undefined) throw unauthorized('the request has no Authorization header');
  if (others.length > 0) throw unauthorized('the request has more than one Authorization header');
  if (value.length > 'Bearer '.length + maxTokenBytes) {
    throw unauthorized(`the access token is larger than ${maxTokenBytes} bytes`);
  }
  const token = BEARER.exec(value)?.[1];
  if (token === undefined) throw unauthorized('the Authorization header is not "Bearer", one space and a token');
  return token;
}

/** Reads a compact JWS (RFC 7515, section 7.1) and checks every claim that does not need the time of day. */
export function readAccessToken(token: string, settings: AuthSettings): AccessToken {
  const [header, claims, signature, ...others] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined || others.length > 0) {
    throw unauthorized('the access token is not a signed JWT of three parts');
  }
  decodeBase64Url(signature);
  return { ...readHeader(readObject(header)), ...readClaims(readObject(claims), settings) };
}

/** Checks `exp` and `nbf` against the clock. Call it on every request, because tokens expire. */
export function requireCurrent(token: AccessToken, clockSkewSeconds: number): void {
  const nowSeconds = Date.now() / 1000;
  if (nowSeconds >= token.expiresAtSeconds + clockSkewSeconds) throw unauthorized('the access token has expired');
  if (token.notBeforeSeconds !== undefined && token.notBeforeSeconds > nowSeconds + clockSkewSeconds) {
    throw unauthorized('the access token is not valid yet (nbf)');
  }
}

function readHeader(header: JsonObject): Pick<AccessToken, 'algorithm' | 'keyId'> {
  const { alg, kid, typ } = header;
  if (!isSigningAlgorithm(alg)) throw unauthorized('the access token is not signed with an accepted algorithm');
  if (Object.hasOwn(header, 'crit')) throw unauthorized('the access token requires unknown extensions (crit)');
  if (Object.hasOwn(header, 'enc')) throw unauthorized('the access token is encrypted');
  if (typ !== undefined && !(typeof typ === 'string' && TOKEN_TYPE.test(typ))) {
    throw unauthorized('the access token has a typ other than JWT or at+jwt');
  }
  if (kid !== undefined && typeof kid !== 'string')
    throw unauthorized('the access token has a key id that is not a string');
  // jwk, jku, x5u and x5c are ignored: only the issuer's own key set says which keys are its own.
  return { algorithm: alg, keyId: kid };
}

function readClaims(
  claims: JsonObject,
  settings: AuthSettings,
): Pick<AccessToken, 'principal' | 'expiresAtSeconds' | 'notBeforeSeconds'> {
  const { iss, aud, exp, nbf, iat, sub } = claims;
  if (iss !== settings.issuer) throw unauthorized(`the access token is not from ${settings.issuer} (iss)`);
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!audiences.every((audience) => typeof audience === 'string') || !audiences.includes(settings.audience)) {
    throw unauthorized(`the access token is not for ${settings.audience} (aud)`);
  }
  if (typeof exp !== 'number') throw unauthorized('the access token has no expiry time (exp)');
  if (nbf !== undefined && typeof nbf !== 'number')
    throw unauthorized('the access token has an nbf that is not a number');
  if (iat !== undefined && typeof iat !== 'number')
    throw unauthorized('the access token has an iat that is not a number');
  if (iat !== undefined && iat > Date.now() / 1000 + settings.clockSkewSeconds) {
    throw unauthorized('the access token was issued in the future (iat)');
  }
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_LENGTH || CONTROL_CHARACTER.test(sub)) {
    throw unauthorized(`the access token has no sub of 1 to ${MAX_SUBJECT_LENGTH} printable characters`);
  }
  return {
    principal: {
      principalId: `oidc:${settings.projectId}#${sub}`,
      subject: sub,
      claimedType: readPrincipalType(claims, settings.principalTypeClaim),
    },
    expiresAtSeconds: exp,
    notBeforeSeconds: nbf,
  };
}

function readPrincipalType(claims: JsonObject, name: string): PrincipalType {
  if (!Object.hasOwn(claims, name)) return 'human';
  const type = PRINCIPAL_TYPES.find((known) => known === claims[name]);
  // If a misspelt machine type counted as human, it could perform human-only actions.
  if (type === undefined) throw unauthorized(`the claim ${name} is not one of ${PRINCIPAL_TYPES.join(', ')}`);
  return type;
}

function readObject(part: string): JsonObject {
  const bytes = decodeBase64Url(part);
  try {
    const value = parseJson(bytes); // refuses duplicate members: RFC 7515 section 4, RFC 7519 section 4
    if (isJsonObject(value)) return value;
  } catch {
    // The parser's message may quote the token, so it is dropped.
  }
  throw unauthorized('a part of the access token is not a JSON object with distinct members');
}

function decodeBase64Url(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  // Node skips characters that it cannot decode. Only canonical text, without padding and stray bits, encodes to itself
  // again.
  if (part === '' || bytes.toString('base64url') !== part) throw unauthorized('the access token is not base64url');
  return bytes;
}
