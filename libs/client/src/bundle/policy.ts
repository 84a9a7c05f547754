import { policyOf } from '../verify/trust.ts';
import { judgedLater } from './errors.ts';
import type { Policy } from './types.ts';

/**
 * Whom one trusts: a policy (C2SP tlog-policy), or the verifier key of a log alone, which asks for no witness. Keys that this
 * platform cannot verify count as not there.
 *
 * @throws UnreadableError
 */
export async function readPolicy(text: string): Promise<Policy> {
  const line = text.trim();
  const isKey = line !== '' && !/\s/.test(line);
  return judgedLater(isKey ? 'The key' : 'The policy', () => policyOf(isKey ? { vkeys: [line] } : { policy: text }));
}
