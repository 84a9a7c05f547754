import { isJsonObject, type JsonObject } from '@iss/domain';
import { decodeProtectedHeader } from 'jose';
import { AttestationProblem } from './attestation-problem';
import { MAX_BINDING_AGE } from './credential';
import { jwkFault, verifyWith } from './trusted-issuer';

const PROOF_TYPE = 'openid4vci-proof+jwt';

/** A key that its holder proved, to get a credential for it. */
export interface HolderProof {
  /** The public key. */
  key: JsonObject;
  nonce: string;
}

/**
 * Verifies that a wallet holds the key that its proof contains (OpenID4VCI 1.0, appendix F.1), now and for this issuer.
 * The caller checks the nonce. Throws an {@link AttestationProblem}.
 */
export async function verifyHolderProof(proof: string, issuer: string, now: Date): Promise<HolderProof> {
  const jwk = keyIn(proof);
  const fault = await jwkFault(jwk);
  if (fault !== null) throw new AttestationProblem('invalid_format', `has a jwk that ${fault}`);
  const { header, payload } = await verifyWith(proof, PROOF_TYPE, { ...jwk });
  if ('kid' in header || 'x5c' in header) throw new AttestationProblem('invalid_format', 'names a second key');
  const { aud, iat, nonce } = payload;
  if (aud !== issuer) throw new AttestationProblem('mismatch', `is for another audience than ${issuer}`);
  if (typeof iat !== 'number' || Math.abs(now.getTime() / 1000 - iat) > MAX_BINDING_AGE) {
    throw new AttestationProblem('expired', `has no iat of the last ${MAX_BINDING_AGE} seconds`);
  }
  if (typeof nonce !== 'string') throw new AttestationProblem('mismatch', 'has no nonce');
  return { key: jwk, nonce };
}

function keyIn(proof: string): JsonObject {
  try {
    const { jwk } = decodeProtectedHeader(proof);
    if (isJsonObject(jwk)) return jwk;
  } catch {
    // Refused below.
  }
  throw new AttestationProblem('invalid_format', 'is not a signed token with a jwk');
}
