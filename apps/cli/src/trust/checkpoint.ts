import { requireCheckpoint as checkpointOf } from '@identity-state/client/bundle';
import type { Policy, VerifiedCheckpoint } from '@iss/tlog';
import { explainedAsync } from './refusal';

/**
 * Verifies a checkpoint by the policy. No signature may have a future time.
 *
 * @throws Failure, UsageError
 */
export async function requireCheckpoint(note: string, policy: Policy, where: string): Promise<VerifiedCheckpoint> {
  return explainedAsync(() => checkpointOf(note, policy, where));
}
