import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, parsePointer, parseStoredJson } from '@iss/domain';
import { compactDecrypt, exportJWK, generateKeyPair, type JWK } from 'jose';
import { AttestationProblem } from './attestation-problem';
import type { KeyBinding, VerifiedCredential } from './credential';
import { ALGORITHMS } from './trusted-issuer';

/** The credential for which a wallet is asked. */
export interface AskedCredential {
  /** Its type is one of these. */
  vcts: readonly string[];
  /** JSON Pointers to the claims that it must disclose. A number is an index, and `*` means each item of an array. */
  claims: readonly string[];
}

/** The content of an answer: a credential and what its holder must have signed, or the error of a wallet. */
export type Presentation = { credential: string; keyBinding: KeyBinding } | { error: string };

/** A path of DCQL: names, indexes from 0, and null for each item of an array. */
type ClaimPath = readonly (string | number | null)[];

/** The id of the only credential query. */
const QUERY_ID = 'attestation';
const FORMAT = 'dc+sd-jwt';
const KEY_AGREEMENT = 'ECDH-ES';
const ENCRYPTIONS = ['A256GCM', 'A128GCM'];
const NONCE_BYTES = 16;
const INDEX = /^(?:0|[1-9]\d{0,8})$/;
const WALLET_ERROR = /^[a-z_]{1,64}$/;

/**
 * Makes a request for a credential (OpenID4VP 1.0), to which the wallet sends an encrypted answer. `id` names the key.
 * Returns the request as a link that opens a wallet, and the secret that opens the answer.
 */
export async function createPresentationRequest(
  { vcts, claims }: AskedCredential,
  responseUri: string,
  id: string,
): Promise<{ link: string; secret: string }> {
  const { publicKey, privateKey } = await generateKeyPair(KEY_AGREEMENT, { crv: 'P-256', extractable: true });
  const clientId = `redirect_uri:${responseUri}`;
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const formats = { 'sd-jwt_alg_values': ALGORITHMS, 'kb-jwt_alg_values': ALGORITHMS };
  const query = {
    id: QUERY_ID,
    format: FORMAT,
    meta: { vct_values: vcts },
    ...(claims.length === 0 ? {} : { claims: claims.map((pointer) => ({ path: pathOf(pointer) })) }),
  };
  const request = {
    client_id: clientId,
    response_type: 'vp_token',
    response_mode: 'direct_post.jwt',
    response_uri: responseUri,
    nonce,
    dcql_query: JSON.stringify({ credentials: [query] }),
    client_metadata: JSON.stringify({
      jwks: { keys: [{ ...(await exportJWK(publicKey)), use: 'enc', alg: KEY_AGREEMENT, kid: id }] },
      encrypted_response_enc_values_supported: ENCRYPTIONS,
      vp_formats_supported: { [FORMAT]: formats },
    }),
  };
  const parameters = Object.entries(request).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const secret = JSON.stringify({ key: await exportJWK(privateKey), nonce, audience: clientId });
  return { link: `openid4vp://?${parameters.join('&')}`, secret };
}

/**
 * Decrypts the answer to the request that has this secret. The caller verifies the credential. Throws an
 * {@link AttestationProblem}.
 */
export async function openPresentation(answer: string, secret: string): Promise<Presentation> {
  const { key, nonce, audience } = expectedBy(secret);
  const { vp_token: token, error } = await decrypted(answer, key);
  if (isWalletError(error)) return { error };
  const { [QUERY_ID]: presentations, ...others } = isJsonObject(token) ? token : {};
  const [credential, ...more] = Array.isArray(presentations) ? presentations : [];
  if (typeof credential === 'string' && more.length === 0 && Object.keys(others).length === 0) {
    return { credential, keyBinding: { nonce, audience } };
  }
  throw new AttestationProblem('invalid_format', `has no vp_token with one presentation for ${QUERY_ID}`);
}

/** Checks whether a value is the code of an error that a wallet may send. */
export function isWalletError(error: unknown): error is string {
  return typeof error === 'string' && WALLET_ERROR.test(error);
}

/** Throws an {@link AttestationProblem} unless a credential is the one that was asked for. */
export function requireAsked({ vct, claims }: VerifiedCredential, asked: AskedCredential): void {
  if (!asked.vcts.includes(vct)) throw new AttestationProblem('mismatch', 'is of a type that was not asked for');
  const absent = asked.claims.find((pointer) => !selectsSome(claims, pathOf(pointer)));
  if (absent === undefined) return;
  throw new AttestationProblem('mismatch', `does not disclose a claim that was asked for: ${absent}`);
}

function expectedBy(secret: string): KeyBinding & { key: JWK } {
  const expected = parseStoredJson(secret);
  const { key, nonce, audience } = isJsonObject(expected) ? expected : {};
  if (isJsonObject(key) && typeof nonce === 'string' && typeof audience === 'string') return { key, nonce, audience };
  throw new Error('the secret is not of a presentation request');
}

async function decrypted(answer: string, key: JWK): Promise<JsonObject> {
  const options = {
    keyManagementAlgorithms: [KEY_AGREEMENT],
    contentEncryptionAlgorithms: ENCRYPTIONS,
    // No wallet has a reason to compress.
    maxDecompressedLength: 0,
  };
  try {
    const { plaintext } = await compactDecrypt(answer, { ...key, alg: KEY_AGREEMENT }, options);
    const payload = parseJson(plaintext);
    if (isJsonObject(payload)) return payload;
  } catch (error) {
    throw new AttestationProblem('invalid_format', 'is not encrypted to the key of the request', { cause: error });
  }
  throw new AttestationProblem('invalid_format', 'is not an encrypted JSON object');
}

/** Converts a pointer to a path of DCQL. */
function pathOf(pointer: string): ClaimPath {
  return parsePointer(pointer).map((token) => {
    if (token === '*') return null;
    return INDEX.test(token) ? Number(token) : token;
  });
}

/** Checks whether a path selects a claim (OpenID4VP 1.0, section 7). */
function selectsSome(claims: JsonObject, path: ClaimPath): boolean {
  const within = (value: JsonValue, part: string | number | null): JsonValue[] => {
    if (typeof part === 'string') return isJsonObject(value) && Object.hasOwn(value, part) ? [value[part] ?? null] : [];
    if (!Array.isArray(value)) return [];
    return part === null ? value : value.slice(part, part + 1);
  };
  return path.reduce<JsonValue[]>((found, part) => found.flatMap((value) => within(value, part)), [claims]).length > 0;
}
