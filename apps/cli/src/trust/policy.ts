import { policyOfKeys } from '@iss/proof';
import { MAX_POLICY_SIZE, parsePolicy, type Policy } from '@iss/tlog';
import { type Options, textOf, UsageError } from '../command';
import { readWhole } from '../files';

export const TRUST_OPTIONS = {
  policy: { value: 'FILE', about: 'Trusted keys: a C2SP tlog-policy.', isShared: true },
  vkey: { value: 'KEY', about: 'Trusted verifier key of the log, without witnesses.', isShared: true },
} as const;
export const TRUST_USAGE = '(--policy FILE | --vkey KEY)';

/**
 * Reads the policy: a file in the C2SP tlog-policy format, or a single verifier key, which requires no witness.
 *
 * @throws UsageError; TlogError for an invalid policy or key
 */
export function trustedPolicy(options: Options): Policy {
  const file = textOf(options, 'policy');
  const vkey = textOf(options, 'vkey');
  if (file !== undefined && vkey !== undefined)
    throw new UsageError('--policy and --vkey exclude each other. Remove one of them.');
  if (file !== undefined) return parsePolicy(readWhole(file, 'policy', MAX_POLICY_SIZE));
  if (vkey !== undefined) return policyOfKeys([vkey]);
  throw new UsageError(
    'Name the trusted keys: --policy FILE (a C2SP tlog-policy with the keys of the log and its witnesses), or --vkey KEY (the ' +
      'verifier key of the log). Get the keys from a source that you trust, not from the file to verify.',
  );
}
