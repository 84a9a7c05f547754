import { useSyncExternalStore } from 'react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { api } from '@identity-state/client';
import { IndexedDbTrustStore } from '@identity-state/client/indexeddb';

/** The newest checkpoint of each log that this browser was shown and that held. */
export const keptCheckpoints = new IndexedDbTrustStore(indexedDB);

/** Whom the reader trusts: what checks a proof never comes with it. */
export interface TrustedKeys {
  /** A policy (C2SP tlog-policy), or a log's verifier key. */
  readonly text: string;
  /** Pasted by the reader, or as the service shows them: then they prove no more than the service's word. */
  readonly whose: 'own' | 'service';
}

const KEPT_AS = 'identity-state.policy';
const listeners = new Set<() => void>();

/** The reader's own policy, kept in this browser; null: none. */
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

/** What the service says of its log's keys; no token is sent, nor needed. */
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

/** The same keys as a policy. Where there are no witnesses, the log alone is asked for. */
export function policyTextOf({ policy, vkeys }: api.LogKeys): string {
  return policy ?? [...vkeys.map(({ vkey }) => `log ${vkey}`), 'quorum none', ''].join('\n');
}

/** The reader's own policy, or else what the service shows; null: neither is there. */
export function useTrustedKeys(): { readonly keys: TrustedKeys | null; readonly served: UseQueryResult<api.LogKeys> } {
  const [own] = useOwnPolicy();
  const served = useLogKeys();
  if (own !== null) return { keys: { text: own, whose: 'own' }, served };
  return { keys: served.data === undefined ? null : { text: policyTextOf(served.data), whose: 'service' }, served };
}
