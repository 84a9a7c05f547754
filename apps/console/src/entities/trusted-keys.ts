import { useSyncExternalStore } from 'react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { api } from '@identity-state/client';
import { IndexedDbTrustStore } from '@identity-state/client/indexeddb';

/** The newest checkpoint of each log that this browser verified. */
export const keptCheckpoints = new IndexedDbTrustStore(indexedDB);

/** The keys that the reader trusts. They never come with the proof that they check. */
export interface TrustedKeys {
  /** A policy (C2SP tlog-policy), or a log's verifier key. */
  readonly text: string;
  /** `own`: pasted by the reader. `service`: shown by the service, so a proof shows no more than the service's claim. */
  readonly whose: 'own' | 'service';
}

const KEPT_AS = 'identity-state.policy';
/** The line of a policy that names the key of the log's map. */
const VRF_LINE = /^\s*vrf\s/m;
const listeners = new Set<() => void>();

/** Returns the reader's own policy, which this browser keeps, or null. */
export function useOwnPolicy(): readonly [policy: string | null, keep: (policy: string | null) => void] {
  const policy = useSyncExternalStore(subscribe, () => localStorage.getItem(KEPT_AS));
  return [policy, keep];
}

function keep(policy: string | null): void {
  if (policy === null) localStorage.removeItem(KEPT_AS);
  else localStorage.setItem(KEPT_AS, policy);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

/** Reads the keys that the service shows for its log. Sends no token. */
export function useLogKeys(): UseQueryResult<api.LogKeys> {
  return useQuery({
    queryKey: ['log', 'keys'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/log/keys', { signal });
      if (!response.ok) throw new Error(`/log/keys: ${response.status}`);
      const keys: api.LogKeys = await response.json();
      return keys;
    },
  });
}

/** Returns the keys as a policy. Without witnesses, the policy requires only the log. */
export function policyTextOf({ policy, vkeys, vrf_key: vrfKey }: api.LogKeys): string {
  if (policy !== null) return policy;
  const map = vrfKey === null ? [] : [`vrf ${vrfKey}`];
  return [...vkeys.map(({ vkey }) => `log ${vkey}`), ...map, 'quorum none', ''].join('\n');
}

/** Returns the reader's own policy, or else the keys that the service shows, or null. */
export function useTrustedKeys(): {
  readonly keys: TrustedKeys | null;
  readonly served: UseQueryResult<api.LogKeys>;
  /** The log has a map, according to the service or to the reader's policy. */
  readonly hasMap: boolean;
} {
  const [own] = useOwnPolicy();
  const served = useLogKeys();
  const { data } = served;
  const hasMap = (data !== undefined && data.vrf_key !== null) || VRF_LINE.test(own ?? '');
  if (own !== null) return { keys: { text: own, whose: 'own' }, served, hasMap };
  return { keys: data === undefined ? null : { text: policyTextOf(data), whose: 'service' }, served, hasMap };
}
