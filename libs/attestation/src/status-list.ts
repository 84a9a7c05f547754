import { inflateSync } from 'node:zlib';
import { isJsonObject } from '@iss/domain';
import { AttestationProblem } from './attestation-problem';
import { type IssuerKeys, requireValidTime, verifyToken } from './trusted-issuer';

/** A verified status list (Token Status List). */
export interface StatusList {
  /** The time of the list by the issuer's clock. */
  issuedAt: Date;
  /** Returns the status at an index; null beyond the end of the list. */
  at(idx: number): number | null;
}

export const STATUS_LIST_MEDIA_TYPE = 'application/statuslist+jwt';
/** The most bytes of a token. */
export const MAX_STATUS_LIST_BYTES = 4 * 1024 * 1024;
/** The most bytes of an inflated list: 2^26 statuses of two bits. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
const BITS = [1, 2, 4, 8];

/**
 * Verifies the token of a status list, which its issuer must have signed for this URI. Refuses a list that is older
 * than `newest`, the newest list seen before, because an old list could hide a revocation. Throws an {@link
 * AttestationProblem}.
 */
export async function readStatusList(
  token: string,
  uri: string,
  keys: IssuerKeys,
  newest: Date | null,
  now: Date,
): Promise<StatusList> {
  const { payload } = await verifyToken(token.trim(), ['statuslist+jwt'], keys, now);
  requireValidTime(payload, now);
  const { sub, iat, iss = keys.issuer, status_list: list } = payload;
  if (sub !== uri) throw new AttestationProblem('mismatch', 'is the list of another URI');
  if (iss !== keys.issuer) throw new AttestationProblem('untrusted_issuer', 'is of another issuer');
  if (typeof iat !== 'number') throw new AttestationProblem('invalid_format', 'has no iat');
  const issuedAt = new Date(iat * 1000);
  if (newest !== null && issuedAt < newest) {
    throw new AttestationProblem('rolled_back', 'is older than a list that the issuer published before');
  }
  const { bits, lst } = isJsonObject(list) ? list : {};
  if (typeof bits !== 'number' || !BITS.includes(bits) || typeof lst !== 'string') {
    throw new AttestationProblem('invalid_format', 'has no status_list of 1, 2, 4 or 8 bits');
  }
  const bytes = inflated(lst);
  const perByte = 8 / bits;
  return {
    issuedAt,
    at(idx) {
      const byte = bytes[Math.floor(idx / perByte)];
      return byte === undefined ? null : (byte >> ((idx % perByte) * bits)) & (2 ** bits - 1);
    },
  };
}

function inflated(lst: string): Buffer {
  try {
    return inflateSync(Buffer.from(lst, 'base64url'), { maxOutputLength: MAX_LIST_BYTES });
  } catch (error) {
    throw new AttestationProblem('invalid_format', 'has a list that is not zlib, or too long', { cause: error });
  }
}
