import { requireCheckpoint as checkpointOf } from '@identity-state/client/bundle';
import type { Policy, VerifiedCheckpoint } from '@iss/tlog';
import { toldLater } from './refusal';

/**
 * The checkpoint of a note, if the policy takes it as valid and no signature is of a time to come.
 *
 * @throws Failure, UsageError
 */
export async function requireCheckpoint(note: string, policy: Policy, where: string): Promise<VerifiedCheckpoint> {
  return toldLater(() => checkpointOf(note, policy, where));
}
