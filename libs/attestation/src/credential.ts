import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '@iss/domain';
import { AttestationProblem } from './attestation-problem';
import { type IssuerKeys, readPart, requireValidTime, verifyToken, verifyWith } from './trusted-issuer';

/** The nonce and audience that the holder must have signed, which proves a presentation at this time and place. */
export interface KeyBinding {
  nonce: string;
  audience: string;
}

/** The place of a credential's status. */
export interface StatusReference {
  uri: string;
  idx: number;
}

export interface VerifiedCredential {
  issuer: string;
  vct: string;
  /** All disclosed claims. */
  claims: JsonObject;
  /** Null if it never expires. */
  expiresAt: Date | null;
  /** Null if it cannot be revoked. */
  status: StatusReference | null;
  hasKeyBinding: boolean;
  /** SHA-256 in hex of the credential with its disclosures, without the key binding (`sd_hash` of RFC 9901). */
  digest: string;
}

const TYPES = ['dc+sd-jwt', 'vc+sd-jwt'];
const HASHES: ReadonlyMap<JsonValue, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-384', 'sha384'],
  ['sha-512', 'sha512'],
]);
/** Claims that a holder must not hide (SD-JWT VC). */
const PLAIN_CLAIMS = ['iss', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'status'];
/** How old a key binding may be, in seconds. */
export const MAX_BINDING_AGE = 300;

/** An SD-JWT in its parts. */
interface SdJwt {
  token: string;
  disclosures: readonly string[];
  /** Null if there is none. */
  keyBinding: string | null;
}

/** Returns the `iss` of a credential without verifying anything, to find the keys of its issuer. */
export function issuerOf(credential: string): string {
  const payload = readPart(split(credential).token.split('.')[1] ?? '');
  const issuer = isJsonObject(payload) ? payload['iss'] : undefined;
  if (typeof issuer === 'string') return issuer;
  throw new AttestationProblem('invalid_format', 'has no iss');
}

/**
 * Verifies an SD-JWT VC: its type, signature, times and disclosures, and its key binding. A key binding must be present
 * exactly if `binding` is given. The status is not checked. Throws an {@link AttestationProblem}.
 */
export async function verifyCredential(
  credential: string,
  keys: IssuerKeys,
  binding: KeyBinding | null,
  now: Date,
): Promise<VerifiedCredential> {
  const { token, disclosures, keyBinding } = split(credential);
  const { payload } = await verifyToken(token, TYPES, keys, now);
  const claims = disclosedClaims(payload, disclosures);
  requireValidTime(claims, now);
  const { iss, vct, exp, cnf } = claims;
  if (iss !== keys.issuer) throw new AttestationProblem('untrusted_issuer', 'is of another issuer');
  if (typeof vct !== 'string') throw new AttestationProblem('invalid_format', 'has no vct');
  const presented = credential.slice(0, credential.lastIndexOf('~') + 1);
  if (binding !== null) await requireKeyBinding(keyBinding, binding, cnf, hasherOf(payload)(presented), now);
  else if (keyBinding !== null) {
    throw new AttestationProblem('invalid_key_binding', 'has a key binding: say its nonce and audience in key_binding');
  }
  return {
    issuer: keys.issuer,
    vct,
    claims,
    expiresAt: exp === undefined ? null : new Date(Number(exp) * 1000),
    status: statusOf(claims['status']),
    hasKeyBinding: binding !== null,
    digest: createHash('sha256').update(presented).digest('hex'),
  };
}

function split(credential: string): SdJwt {
  const [token = '', ...parts] = credential.split('~');
  const last = parts.pop();
  if (last === undefined || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) {
    throw new AttestationProblem('invalid_format', 'is not an SD-JWT: a signed token, disclosures and a final ~');
  }
  return { token, disclosures: parts, keyBinding: last === '' ? null : last };
}

async function requireKeyBinding(
  token: string | null,
  { nonce, audience }: KeyBinding,
  cnf: JsonValue | undefined,
  hash: string,
  now: Date,
): Promise<void> {
  const refuse = (message: string): AttestationProblem => new AttestationProblem('invalid_key_binding', message);
  const jwk = isJsonObject(cnf) ? cnf['jwk'] : undefined;
  if (token === null) throw refuse('has no key binding');
  if (!isJsonObject(jwk)) throw refuse('names no key of its holder in cnf');
  const { payload } = await verifyWith(token, 'kb+jwt', { ...jwk }).catch((error: Error) => {
    throw refuse(`has a key binding that ${error.message}`);
  });
  const seconds = now.getTime() / 1000;
  if (payload['nonce'] !== nonce) throw refuse('has a key binding with another nonce');
  if (payload['aud'] !== audience) throw refuse('has a key binding for another audience');
  if (payload['sd_hash'] !== hash) throw refuse('has a key binding of another presentation');
  if (!(Math.abs(seconds - Number(payload['iat'])) <= MAX_BINDING_AGE)) {
    throw refuse(`has a key binding that is not of the last ${MAX_BINDING_AGE} seconds`);
  }
}

function statusOf(status: JsonValue | undefined): StatusReference | null {
  if (status === undefined) return null;
  const list = isJsonObject(status) ? status['status_list'] : undefined;
  const { uri, idx } = isJsonObject(list) ? list : {};
  const isPlace = typeof uri === 'string' && uri.length <= 1024 && URL.canParse(uri) && !/\p{Cc}/u.test(uri);
  if (isPlace && typeof idx === 'number' && Number.isSafeInteger(idx) && idx >= 0) return { uri, idx };
  throw new AttestationProblem('invalid_format', 'has a status that is no place in a status_list');
}

/** Returns the hash of disclosures, in base64url. */
function hasherOf({ _sd_alg: name = 'sha-256' }: JsonObject): (text: string) => string {
  const hash = HASHES.get(name);
  if (hash === undefined) throw new AttestationProblem('invalid_format', 'has an unknown _sd_alg');
  return (text) => createHash(hash).update(text).digest('base64url');
}

/**
 * Puts the disclosures into the payload (RFC 9901, section 7.1). Refuses those that the payload does not refer to, and
 * those that hide a claim that must be plain.
 */
function disclosedClaims(payload: JsonObject, disclosures: readonly string[]): JsonObject {
  const hash = hasherOf(payload);
  const byDigest = new Map(disclosures.map((one) => [hash(one), one]));
  if (byDigest.size !== disclosures.length) throw new AttestationProblem('invalid_format', 'has a disclosure twice');
  const digests = new Set<string>();

  const take = (digest: JsonValue | undefined, size: number): JsonValue[] | null => {
    if (typeof digest !== 'string') throw new AttestationProblem('invalid_format', 'has a digest that is no text');
    if (digests.has(digest)) throw new AttestationProblem('invalid_format', 'has a digest twice');
    digests.add(digest);
    const disclosure = byDigest.get(digest);
    if (disclosure === undefined) return null;
    byDigest.delete(digest);
    const parts = readPart(disclosure);
    if (Array.isArray(parts) && parts.length === size && typeof parts[0] === 'string') return parts;
    throw new AttestationProblem('invalid_format', 'has a disclosure that does not fit its place');
  };

  const show = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) {
      return value.flatMap((item) => {
        if (!isJsonObject(item) || !('...' in item)) return [show(item)];
        if (Object.keys(item).length > 1) throw new AttestationProblem('invalid_format', 'has an unclear array item');
        const shown = take(item['...'], 2);
        return shown === null ? [] : [show(shown[1] ?? null)];
      });
    }
    return isJsonObject(value) ? showObject(value, false) : value;
  };

  const showObject = (value: JsonObject, isTop: boolean): JsonObject => {
    const { _sd: hidden = [], ...plain } = value;
    if (isTop) delete plain['_sd_alg'];
    if (!Array.isArray(hidden)) throw new AttestationProblem('invalid_format', 'has an _sd that is no array');
    if ('...' in plain) throw new AttestationProblem('invalid_format', 'has a member ... outside of an array');
    const claims = new Map(Object.entries(plain).map(([name, member]) => [name, show(member)]));
    for (const digest of hidden) {
      const [, name, member = null] = take(digest, 3) ?? [];
      if (name === undefined) continue;
      if (typeof name !== 'string' || name === '_sd' || name === '...' || claims.has(name)) {
        throw new AttestationProblem('invalid_format', 'has a disclosure of a name that is taken');
      }
      if (isTop && PLAIN_CLAIMS.includes(name)) {
        throw new AttestationProblem('invalid_format', `hides ${name}, which must be plain`);
      }
      claims.set(name, show(member));
    }
    return Object.fromEntries(claims);
  };

  const claims = showObject(payload, true);
  if (byDigest.size > 0) throw new AttestationProblem('invalid_format', 'has a disclosure that it does not refer to');
  return claims;
}
