import type { PatchedLimits } from '@iss/domain';
import type { GatewaySettings } from '../../../settings';

/** Returns the limits of a patched envelope: the same as for an envelope that is sent. */
export function patchedLimits({ limits }: GatewaySettings): PatchedLimits {
  return { maxOperations: limits.patchOperations, maxDepth: limits.jsonDepth, maxBytes: limits.bodyBytes };
}
