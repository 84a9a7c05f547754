import { parsePolicy, parseVerifierKey, type Policy, TlogError, type VerifierKey } from '@iss/tlog';
import { ConfigurationError, TrustStoreError } from '../errors.ts';
import { reasonText } from '../http/abort.ts';
import { MemoryTrustStore, type TrustStore } from './trust-store.ts';

/** Whose signatures make a checkpoint of the log count. Take the keys from somebody you trust, not from the service alone. */
export interface Trust {
  /** A policy file's text (C2SP tlog-policy); or, instead of it, the keys below. */
  policy?: string | undefined;
  /** Verifier keys of the log. */
  vkeys?: readonly string[] | undefined;
  /** Verifier keys of its witnesses. */
  witnesses?: readonly string[] | undefined;
  /** How many of the witnesses must have cosigned: all of them unless said otherwise. */
  quorum?: number | undefined;
  /** Where the newest checkpoint is kept: in memory unless said otherwise. */
  store?: TrustStore | undefined;
}

const QUORUM = 'quorum';

/** @internal @throws ConfigurationError for what is no policy and no key */
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
    throw new ConfigurationError(`The quorum is from 0 to ${witnesses.length}.`);
  }
  const named = witnesses.map((vkey, index) => ({ name: `w${index + 1}`, key: parseVerifierKey(vkey), url: null }));
  return verifiableHere({
    logs: vkeys.map((vkey) => ({ key: parseVerifierKey(vkey), url: null })),
    witnesses: named,
    groups: quorum === 0 ? [] : [{ name: QUORUM, threshold: quorum, members: named.map(({ name }) => name) }],
    quorum: quorum === 0 ? null : QUORUM,
  });
}

/** @internal The store, whose failures are TrustStoreErrors. */
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
 * The policy without the keys that this platform cannot verify, where ML-DSA-44 is not known yet: what they sign counts as
 * not there, and what a quorum asks for stays.
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
