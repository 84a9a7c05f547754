import { createPublicKey, X509Certificate } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@iss/domain';
import {
  type CompactJWSHeaderParameters,
  compactVerify,
  decodeProtectedHeader,
  errors,
  importJWK,
  type JWK,
} from 'jose';
import { AttestationProblem } from './attestation-problem';

/** The keys of an issuer that a tenant trusts. */
export interface IssuerKeys {
  /** The `iss` of its credentials: an https URL. */
  issuer: string;
  /** Its public keys. */
  jwks: readonly JWK[];
  /** DER in base64: authorities that certify its keys, or its own certificates. */
  roots: readonly string[];
}

/** A signed token whose signature and type were verified. */
export interface VerifiedToken {
  header: CompactJWSHeaderParameters;
  payload: JsonObject;
}

/** Only asymmetric algorithms, so that nobody can sign without a key, or with the public key as a secret. */
export const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512'];
const MAX_CHAIN = 5;
const MIN_RSA_BITS = 2048;
/** The last second of the year 9999, after which times have more digits. */
const LAST_SECOND = 253_402_300_799;
/** How far the clocks of issuers may differ from ours, in seconds. */
const CLOCK_SKEW = 60;

/**
 * Verifies a token of an issuer: its type, and its signature by one of the trusted keys. With `x5c`, the chain must lead
 * to a trusted root and certify the issuer's name. Throws an {@link AttestationProblem}.
 */
export async function verifyToken(
  token: string,
  types: readonly string[],
  keys: IssuerKeys,
  now: Date,
): Promise<VerifiedToken> {
  const header = headerOf(token);
  if (!types.includes(header.typ ?? '')) {
    throw new AttestationProblem('invalid_type', `has not the typ ${types.join(' or ')}`);
  }
  const x5c: unknown = header['x5c'];
  if (x5c !== undefined && keys.roots.length > 0) {
    return { header, payload: await payloadOf(token, certifiedKey(x5c, keys, now)) };
  }
  const fitting = keys.jwks.filter(({ kid }) => header.kid === undefined || kid === header.kid);
  for (const jwk of fitting) {
    try {
      return { header, payload: await payloadOf(token, await importJWK(jwk, header.alg)) };
    } catch (error) {
      if (error instanceof AttestationProblem && error.code !== 'invalid_signature') throw error;
    }
  }
  const message =
    fitting.length === 0 ? 'is signed with a key that the trust list has not' : 'has an invalid signature';
  throw new AttestationProblem('invalid_signature', message);
}

/** Verifies a token with a key that it names, such as that of a holder. Throws an {@link AttestationProblem}. */
export async function verifyWith(token: string, type: string, jwk: JWK): Promise<VerifiedToken> {
  const header = headerOf(token);
  if (header.typ !== type) throw new AttestationProblem('invalid_type', `has not the typ ${type}`);
  try {
    return { header, payload: await payloadOf(token, await importJWK(jwk, header.alg)) };
  } catch (error) {
    if (error instanceof AttestationProblem) throw error;
    throw new AttestationProblem('invalid_signature', 'has an invalid signature', { cause: error });
  }
}

/** Throws unless `now` is between the `nbf` or `iat`, and the `exp` of a token. */
export function requireValidTime({ nbf, iat, exp }: JsonObject, now: Date): void {
  const seconds = now.getTime() / 1000;
  for (const [name, time] of Object.entries({ nbf, iat, exp })) {
    if (time !== undefined && !(typeof time === 'number' && time >= 0 && time <= LAST_SECOND)) {
      throw new AttestationProblem('invalid_format', `has a time that is no number of seconds until 9999: ${name}`);
    }
  }
  if (Number(exp ?? Infinity) <= seconds - CLOCK_SKEW) throw new AttestationProblem('expired', 'has expired');
  if (Math.max(Number(nbf ?? 0), Number(iat ?? 0)) > seconds + CLOCK_SKEW) {
    throw new AttestationProblem('not_yet_valid', 'is not valid yet');
  }
}

/** Returns what is wrong with a JWK of a trust list, or null. */
export async function jwkFault(jwk: JsonValue): Promise<string | null> {
  if (!isJsonObject(jwk)) return 'must be a JWK';
  if ('d' in jwk || 'k' in jwk) return 'must be a public key; remove the private members';
  const algorithm = { EC: 'ES256', OKP: 'EdDSA', RSA: 'PS256' }[typeof jwk['kty'] === 'string' ? jwk['kty'] : ''];
  if (algorithm === undefined) return 'must have the kty EC, OKP or RSA';
  const isText = (member: JsonValue): boolean => typeof member === 'string' && !/\p{Cc}/u.test(member);
  if (!Object.values(jwk).every((member) => member === null || isText(member))) {
    return 'must have texts without control characters';
  }
  try {
    await importJWK({ ...jwk }, typeof jwk['alg'] === 'string' ? jwk['alg'] : algorithm);
    const { asymmetricKeyDetails: details } = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const { modulusLength = MIN_RSA_BITS, publicExponent = 3n } = details ?? {};
    // With the exponent 1, anybody can sign.
    if (modulusLength >= MIN_RSA_BITS && publicExponent > 1n) return null;
    return `must have a modulus of at least ${MIN_RSA_BITS} bits, and an exponent above 1`;
  } catch {
    return 'must be a key that can verify signatures';
  }
}

/** Converts a certificate in PEM, or in base64 of DER, to base64 of DER. Returns null for any other text. */
export function certificateOf(text: string): string | null {
  try {
    return new X509Certificate(text.includes('-----') ? text : Buffer.from(text, 'base64')).raw.toString('base64');
  } catch {
    return null;
  }
}

/** Reads a part of a token or a disclosure: base64url of JSON. */
export function readPart(part: string): JsonValue {
  const bytes = Buffer.from(part, 'base64url');
  try {
    if (bytes.toString('base64url') === part) return parseJson(bytes);
  } catch {
    // Refused below.
  }
  throw new AttestationProblem('invalid_format', 'has a part that is not base64url of JSON');
}

function headerOf(token: string): CompactJWSHeaderParameters {
  try {
    const { alg = '', ...header } = decodeProtectedHeader(token);
    if (ALGORITHMS.includes(alg)) return { ...header, alg };
  } catch {
    throw new AttestationProblem('invalid_format', 'is not a signed token');
  }
  throw new AttestationProblem('invalid_signature', `is not signed with one of ${ALGORITHMS.join(', ')}`);
}

async function payloadOf(token: string, key: Parameters<typeof compactVerify>[1]): Promise<JsonObject> {
  try {
    await compactVerify(token, key, { algorithms: ALGORITHMS });
  } catch (error) {
    const isUnsigned = error instanceof errors.JWSSignatureVerificationFailed || error instanceof TypeError;
    const message = isUnsigned ? 'has an invalid signature' : 'has a signature that cannot be verified';
    throw new AttestationProblem('invalid_signature', message, { cause: error });
  }
  const payload = readPart(token.split('.')[1] ?? '');
  if (isJsonObject(payload)) return payload;
  throw new AttestationProblem('invalid_format', 'has a payload that is no JSON object');
}

/** Returns the key of the first certificate of a chain to a root, if it certifies the issuer's name. */
function certifiedKey(x5c: unknown, { issuer, roots }: IssuerKeys, now: Date): X509Certificate['publicKey'] {
  const [leaf, ...others] = certificatesOf(x5c);
  if (leaf === undefined) throw new AttestationProblem('invalid_format', 'has no certificate in x5c');
  const trusted = roots.map((root) => new X509Certificate(Buffer.from(root, 'base64')));
  const isOfIssuer =
    (leaf.subjectAltName ?? '').split(', ').includes(`URI:${issuer}`) ||
    leaf.checkHost(new URL(issuer).hostname, { subject: 'never', wildcards: false }) !== undefined;
  if (!isOfIssuer) {
    throw new AttestationProblem(
      'untrusted_issuer',
      'has a certificate of another issuer: no alternative name is its iss',
    );
  }
  if (!leadsTo(trusted, leaf, others, now)) {
    throw new AttestationProblem('untrusted_issuer', 'has a certificate that leads to no trusted root');
  }
  return leaf.publicKey;
}

function leadsTo(
  roots: readonly X509Certificate[],
  certificate: X509Certificate,
  [next, ...others]: readonly X509Certificate[],
  now: Date,
): boolean {
  if (certificate.validFromDate > now || certificate.validToDate < now) return false;
  if (roots.some(({ fingerprint256 }) => fingerprint256 === certificate.fingerprint256)) return true;
  const isIssuedBy = (other: X509Certificate): boolean =>
    other.ca && certificate.checkIssued(other) && certificate.verify(other.publicKey);
  if (roots.some((root) => isIssuedBy(root) && root.validFromDate <= now && root.validToDate >= now)) return true;
  return next !== undefined && isIssuedBy(next) && leadsTo(roots, next, others, now);
}

function certificatesOf(x5c: unknown): X509Certificate[] {
  if (!Array.isArray(x5c) || x5c.length > MAX_CHAIN) {
    throw new AttestationProblem('invalid_format', `has no x5c of 1 to ${MAX_CHAIN} certificates`);
  }
  return x5c.map((one) => {
    const der = typeof one === 'string' ? certificateOf(one) : null;
    if (der === null) throw new AttestationProblem('invalid_format', 'has an x5c that is not base64 of DER');
    return new X509Certificate(Buffer.from(der, 'base64'));
  });
}
