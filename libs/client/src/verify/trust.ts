import { parsePolicy, parseVerifierKey, type Policy, type VerifierKey } from '@iss/tlog';
import { IdentityStateError } from '../errors.ts';
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

/** @internal @throws IdentityStateError for what is no policy; TlogError for what is no key */
export async function policyOf({
  policy,
  vkeys = [],
  witnesses = [],
  quorum = witnesses.length,
}: Trust): Promise<Policy> {
  if (policy !== undefined) return verifiableHere(parsePolicy(policy));
  if (vkeys.length === 0) throw new IdentityStateError('Whom do you trust? Give trust.policy, or trust.vkeys.');
  if (!Number.isInteger(quorum) || quorum < 0 || quorum > witnesses.length) {
    throw new IdentityStateError(`The quorum is a number from 0 to ${witnesses.length}, the number of witnesses.`);
  }
  const named = witnesses.map((vkey, index) => ({ name: `w${index + 1}`, key: parseVerifierKey(vkey), url: null }));
  return verifiableHere({
    logs: vkeys.map((vkey) => ({ key: parseVerifierKey(vkey), url: null })),
    witnesses: named,
    groups: quorum === 0 ? [] : [{ name: QUORUM, threshold: quorum, members: named.map(({ name }) => name) }],
    quorum: quorum === 0 ? null : QUORUM,
  });
}

/** @internal */
export function storeOf({ store = new MemoryTrustStore() }: Trust): TrustStore {
  return store;
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
