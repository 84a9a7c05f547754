import type { PatchedLimits } from '@iss/domain';
import type { GatewaySettings } from '../../../settings';

/** A patch may not make an envelope that could not have been sent. */
export function patchedLimits({ limits }: GatewaySettings): PatchedLimits {
  return { maxOperations: limits.patchOperations, maxDepth: limits.jsonDepth, maxBytes: limits.bodyBytes };
}
