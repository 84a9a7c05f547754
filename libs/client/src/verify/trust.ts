import type { VrfGroup } from '@iss/map';
import { policyOfKeys, verifiableHere } from '@iss/proof';
import { type Policy, TlogError } from '@iss/tlog';
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
  /** The VRF key of the log (`VRF+…`), unless the policy has a line `vrf`. It proves which version is the newest. */
  vrfKey?: string | undefined;
  /** How long ago the witnesses may have dated the checkpoint of such a proof. Defaults to any time. */
  maxAgeMs?: number | undefined;
  /** Verifies such proofs faster: `await loadSodiumGroup()` of `@identity-state/client/sodium`. Defaults to slower code that runs everywhere. */
  group?: VrfGroup | undefined;
  /** Stores the newest checkpoint. Defaults to memory. */
  store?: TrustStore | undefined;
}

/** @internal Parses the policy or keys. @throws ConfigurationError */
export async function policyOf({
  policy,
  vkeys = [],
  witnesses = [],
  quorum = witnesses.length,
  vrfKey,
}: Trust): Promise<Policy> {
  if (policy === undefined) {
    if (vkeys.length === 0) throw new ConfigurationError('Set trust.policy or vkeys.');
    if (!Number.isInteger(quorum) || quorum < 0 || quorum > witnesses.length) {
      throw new ConfigurationError(`quorum must be 0 to ${witnesses.length}.`);
    }
  }
  try {
    const named = policy === undefined ? policyOfKeys(vkeys, witnesses, quorum) : await parsed(policy);
    return await verifiableHere({ ...named, vrfKey: vrfKey ?? named.vrfKey });
  } catch (cause) {
    throw cause instanceof TlogError ? new ConfigurationError(`trust: ${cause.message}`, { cause }) : cause;
  }
}

/** Parses a policy. The code is loaded for it. */
async function parsed(text: string): Promise<Policy> {
  const { policyOrWhyNot } = await import('./policy.ts');
  const policy = policyOrWhyNot(text);
  if (typeof policy !== 'string') return policy;
  throw new TlogError('malformed', policy);
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
