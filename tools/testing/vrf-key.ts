import { formatVrfPublicKey, formatVrfSecretKey, parseVrfSecretKey } from '@iss/map';
import { nobleGroup } from '@iss/map/noble';

/** Returns a secret VRF key, the same for each byte from 1 to 15. */
export function vrfSecretOf(byte: number): string {
  return formatVrfSecretKey(Buffer.alloc(32, byte));
}

/** The `LOG_VRF_KEY` of workers and gateways in tests. A database with a map accepts no other key later. */
export const TEST_VRF_SECRET = vrfSecretOf(1);

/** Its public key, `VRF+<base64>`. */
export const TEST_VRF_KEY = formatVrfPublicKey(parseVrfSecretKey(nobleGroup, TEST_VRF_SECRET).publicKey);
