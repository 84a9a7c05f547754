import { deflateSync } from 'node:zlib';
import {
  type CredentialStatus,
  ENTITY_STATE_VCT,
  type JsonObject,
  type PartialView,
  parseStoredJson,
  isJsonObject,
  STATUS_LIST_SIZE,
  STATUS_VALUES,
} from '@iss/domain';
import type { StatusReference } from './credential';
import { type IssuingKey, signClaims } from './issuing-key';

/** The claims of a credential besides the view of its version. */
export interface CredentialClaims {
  issuer: string;
  issuedAt: Date;
  expiresAt: Date;
  status: StatusReference;
  /** The public key of its holder; null if anybody may present the credential. */
  holderKey: JsonObject | null;
  /** The place of the version in the transparency log; null if it has none yet. */
  log: { origin: string; index: number } | null;
}

/** Signs a view as an SD-JWT VC in compact form. */
export async function signCredential(
  { payload, disclosures }: Pick<PartialView, 'payload' | 'disclosures'>,
  { issuer, issuedAt, expiresAt, status, holderKey, log }: CredentialClaims,
  key: IssuingKey,
): Promise<string> {
  const view = parseStoredJson(payload);
  if (!isJsonObject(view)) throw new Error('the payload of a view is not an object');
  const claims = {
    ...view,
    iss: issuer,
    iat: secondsOf(issuedAt),
    exp: secondsOf(expiresAt),
    vct: ENTITY_STATE_VCT,
    status: { status_list: { idx: status.idx, uri: status.uri } },
    ...(holderKey === null ? {} : { cnf: { jwk: holderKey } }),
    ...(log === null ? {} : { log }),
  };
  return [await signClaims('dc+sd-jwt', claims, key), ...disclosures, ''].join('~');
}

/** Bits of a status: VALID, INVALID, and the value for `superseded`. */
const STATUS_BITS = 2;
/** How long a verifier may use a list without asking again, in seconds. */
export const STATUS_LIST_TTL = 60;
/** How long a signed list is valid, in seconds. It is signed again after half of this time. */
export const STATUS_LIST_VALIDITY = 86_400;

export interface ListToSign {
  issuer: string;
  uri: string;
  signedAt: Date;
  /** All other indexes are valid. */
  statuses: readonly { idx: number; status: CredentialStatus }[];
}

/** Signs a status list (Token Status List, section 5.1). */
export function signStatusList({ issuer, uri, signedAt, statuses }: ListToSign, key: IssuingKey): Promise<string> {
  const perByte = 8 / STATUS_BITS;
  const bytes = Buffer.alloc(STATUS_LIST_SIZE / perByte);
  for (const { idx, status } of statuses) {
    const at = Math.floor(idx / perByte);
    bytes[at] = (bytes[at] ?? 0) | (STATUS_VALUES[status] << ((idx % perByte) * STATUS_BITS));
  }
  const iat = secondsOf(signedAt);
  const claims = {
    iss: issuer,
    sub: uri,
    iat,
    exp: iat + STATUS_LIST_VALIDITY,
    ttl: STATUS_LIST_TTL,
    status_list: { bits: STATUS_BITS, lst: deflateSync(bytes, { level: 9 }).toString('base64url') },
  };
  return signClaims('statuslist+jwt', claims, key);
}

export function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
