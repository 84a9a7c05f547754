import { parsePolicy, parseVerifierKey, type Policy, TlogError, type VerifierKey } from '@iss/tlog';
import { ConfigurationError, TrustStoreError } from '../errors.ts';
import { reasonText } from '../http/abort.ts';
import { MemoryTrustStore, type TrustStore } from './trust-store.ts';

/** The trusted keys. Get them from a source that you trust, not only from the service. */
export interface Trust {
  /** The text of a C2SP tlog-policy, instead of the keys below. */
  policy?: string | undefined;
  /** Verifier keys of the log. */
  vkeys?: readonly string[] | undefined;
  /** Verifier keys of the witnesses. */
  witnesses?: readonly string[] | undefined;
  /** How many witnesses must have cosigned. Defaults to all. */
  quorum?: number | undefined;
  /** Stores the newest checkpoint. Defaults to memory. */
  store?: TrustStore | undefined;
}

const QUORUM = 'quorum';

/** @internal Parses the policy or keys. @throws ConfigurationError */
export async function policyOf(trust: Trust): Promise<Policy> {
  try {
    return await parsedPolicyOf(trust);
  } catch (cause) {
    throw cause instanceof TlogError ? new ConfigurationError(`trust: ${cause.message}`, { cause }) : cause;
  }
}

async function parsedPolicyOf({
  policy,
  vkeys = [],
  witnesses = [],
  quorum = witnesses.length,
}: Trust): Promise<Policy> {
  if (policy !== undefined) return verifiableHere(parsePolicy(policy));
  if (vkeys.length === 0) throw new ConfigurationError('Set trust.policy or vkeys.');
  if (!Number.isInteger(quorum) || quorum < 0 || quorum > witnesses.length) {
    throw new ConfigurationError(`quorum must be 0 to ${witnesses.length}.`);
  }
  const named = witnesses.map((vkey, index) => ({ name: `w${index + 1}`, key: parseVerifierKey(vkey), url: null }));
  return verifiableHere({
    logs: vkeys.map((vkey) => ({ key: parseVerifierKey(vkey), url: null })),
    witnesses: named,
    groups: quorum === 0 ? [] : [{ name: QUORUM, threshold: quorum, members: named.map(({ name }) => name) }],
    quorum: quorum === 0 ? null : QUORUM,
  });
}

/** @internal Wraps the store, so that its failures become TrustStoreErrors. */
export function storeOf({ store = new MemoryTrustStore() }: Trust): TrustStore {
  return {
    read: async (origin) => stored(() => store.read(origin)),
    replace: async (...words) => stored(() => store.replace(...words)),
  };
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new TrustStoreError(`The store of checkpoints failed (${reasonText(cause)}).`, { cause });
  }
}

/**
 * Removes ML-DSA-44 keys from the policy on a platform that cannot verify them. The quorum stays the same.
 */
async function verifiableHere(policy: Policy): Promise<Policy> {
  const isPostQuantum = ({ key }: { readonly key: VerifierKey }): boolean => key.type === 'ml-dsa-44-cosignature';
  if (![...policy.logs, ...policy.witnesses].some(isPostQuantum) || (await knowsMlDsa())) return policy;
  const others = <One extends { readonly key: VerifierKey }>(all: readonly One[]): One[] =>
    all.filter((one) => !isPostQuantum(one));
  return { ...policy, logs: others(policy.logs), witnesses: others(policy.witnesses) };
}

async function knowsMlDsa(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey({ name: 'ML-DSA-44' }, false, ['sign', 'verify']);
    return true;
  } catch {
    return false;
  }
}
