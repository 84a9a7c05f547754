import { hash, randomBytes } from 'node:crypto';
import {
  canonicalize,
  type CredentialProfile,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  vctOf,
} from '@iss/domain';
import { type CredentialClaims, secondsOf } from './issue';
import { type IssuingKey, signClaims } from './issuing-key';
import type { ProfileClaims } from './profile-claims';
import { PROFILES } from './profiles';

const SALT_BYTES = 16;

/**
 * Signs the claims of a published type as an SD-JWT VC in compact form. Each claim is a disclosure with a random salt. The log
 * commits to none of these claims, so nobody has to compute them again, and the salts of the view stay secret
 * (docs/decisions/0044-credentials-that-wallets-take.md).
 */
export async function signProfile(
  profile: CredentialProfile,
  { claims, units }: ProfileClaims,
  { issuer, issuedAt, expiresAt, status: { idx, uri }, holderKey }: CredentialClaims,
  key: IssuingKey,
): Promise<string> {
  const { plain } = PROFILES[profile];
  const { value, disclosures } = hidden(claims, units);
  const payload = {
    ...(isJsonObject(value) ? value : {}),
    ...Object.fromEntries(Object.entries(plain).map(([name, text]) => [name, text.replace('{issuer}', issuer)])),
    _sd_alg: 'sha-256',
    iss: issuer,
    iat: secondsOf(issuedAt),
    exp: secondsOf(expiresAt),
    vct: vctOf(profile),
    status: {
      status_list: { idx, uri },
      // The rulebooks' names for the same place.
      ...{ type: 'status-list', status_purpose: 'revocation', status_list_credential: uri, status_list_index: idx },
    },
    ...(holderKey === null ? {} : { cnf: { jwk: holderKey } }),
  };
  return [await signClaims('dc+sd-jwt', payload, key), ...disclosures, ''].join('~');
}

/** Replaces each part of a value by its digest, recursively (RFC 9901, section 4.2.6). */
function hidden(value: JsonValue, units: ReadonlySet<JsonValue>): { value: JsonValue; disclosures: string[] } {
  if (value === null || typeof value !== 'object' || units.has(value)) return { value, disclosures: [] };
  const disclosures: string[] = [];
  const digestOf = (names: readonly string[], part: JsonValue): string => {
    const inner = hidden(part, units);
    const salt = randomBytes(SALT_BYTES).toString('base64url');
    const disclosure = Buffer.from(canonicalize([salt, ...names, inner.value])).toString('base64url');
    disclosures.push(disclosure, ...inner.disclosures);
    return hash('sha256', disclosure, 'base64url');
  };
  if (Array.isArray(value)) return { value: value.map((part) => ({ '...': digestOf([], part) })), disclosures };
  const object: JsonObject = {
    _sd: Object.entries(value)
      .map(([name, part]) => digestOf([name], part))
      .sort(),
  };
  return { value: object, disclosures };
}
