import type { PatchedLimits } from '@iss/domain';
import type { GatewaySettings } from '../../../settings';

/** Returns the limits of a patched envelope, which are those of an envelope that a caller sends. */
export function patchedLimits({ limits }: GatewaySettings): PatchedLimits {
  return { maxOperations: limits.patchOperations, maxDepth: limits.jsonDepth, maxBytes: limits.bodyBytes };
}
