import { MAX_POLICY_SIZE, parsePolicy, parseVerifierKey, type Policy } from '@iss/tlog';
import { type Options, textOf, UsageError } from '../command';
import { readWhole } from '../files';

/** Whom to trust: what is to be verified never says that itself. */
export const TRUST_OPTIONS = {
  policy: { value: 'FILE', about: 'Whom you trust: a C2SP tlog-policy.' },
  vkey: { value: 'KEY', about: 'Whom you trust: the verifier key of a log alone.' },
} as const;
export const TRUST_USAGE = '(--policy FILE | --vkey KEY)';

/**
 * The policy that is named: a file of C2SP tlog-policy, or a verifier key alone, which asks for no witness.
 *
 * @throws UsageError; TlogError for what is no policy and no key
 */
export function policyOf(options: Options): Policy {
  const file = textOf(options, 'policy');
  const vkey = textOf(options, 'vkey');
  if (file !== undefined && vkey !== undefined) throw new UsageError('Name one: --policy FILE or --vkey KEY.');
  if (file !== undefined) return parsePolicy(readWhole(file, 'policy', MAX_POLICY_SIZE));
  if (vkey !== undefined) {
    return { logs: [{ key: parseVerifierKey(vkey), url: null }], witnesses: [], groups: [], quorum: null };
  }
  throw new UsageError(
    'Whom do you trust? Name --policy FILE (C2SP tlog-policy: the keys of the log and its witnesses), or --vkey KEY, the ' +
      'verifier key of the log. Take it from where you trust it: a file cannot vouch for itself.',
  );
}

/** The same logs, with no word of a witness asked for: for a checkpoint that one has from before. */
export function withoutQuorum(policy: Policy): Policy {
  return { ...policy, quorum: null };
}
