import { policyOf } from '../verify/trust.ts';
import { judgedLater } from './errors.ts';
import type { Policy } from './types.ts';

/**
 * Parses a policy (C2SP tlog-policy), or a single verifier key, which requires no witness. Keys that this platform cannot verify are
 * ignored.
 *
 * @throws UnreadableError
 */
export async function readPolicy(text: string): Promise<Policy> {
  const line = text.trim();
  const isKey = line !== '' && !/\s/.test(line);
  return judgedLater(isKey ? 'The key' : 'The policy', () => policyOf(isKey ? { vkeys: [line] } : { policy: text }));
}
