import { useEffect, useEffectEvent } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Change } from '@identity-state/client';
import { pathOf, tenantPath, useInvalidate } from './api.ts';
import { useClient, useSessionState } from './context.tsx';

/** How many changes the page keeps, newest first. */
const KEPT = 100;
/** How many entries of the log, of all tenants, the page looks back when it is opened. */
const LOOKS_BACK = 2_000;
/** Open routes answer so many requests a minute from one address (docs/limits.md). */
const ASKS_AGAIN_MS = 15_000;

/** What changed lately: of a tenant's own subjects and those that it may read, newest first, as the feed tells it. */
export function useRecentChanges(tenantId: string): readonly Change[] {
  const { data } = useQuery<readonly Change[]>({
    queryKey: recentKey(tenantId),
    queryFn: () => [],
    staleTime: Infinity,
    initialData: [],
  });
  return data;
}

const recentKey = (tenantId: string): readonly string[] => ['recent', tenantId];

/**
 * Follows the change feed of a tenant while the page is open: keeps what came lately, and asks anew for what is shown of a
 * subject that changed. The client takes up what breaks behind the last change.
 */
export function useLiveChanges(tenantId: string): void {
  const client = useClient();
  const queries = useQueryClient();
  const invalidate = useInvalidate();
  const state = useSessionState();
  // The effect lasts as long as the tenant and the sign-in do; what it calls is the newest.
  const changed = useEffectEvent(async (change: Change): Promise<void> => {
    await invalidate(tenantPath(tenantId));
    if ('subject' in change && change.subject !== null) {
      await invalidate(pathOf('v1', 'subjects', change.subject.subject_type, change.subject.subject_id));
    }
  });
  useEffect(() => {
    if (state !== 'signed_in') return;
    const end = new AbortController();
    const follow = async (): Promise<void> => {
      const size = await logSize(end.signal);
      queries.setQueryData(recentKey(tenantId), []);
      const after = Math.max(0, size - LOOKS_BACK) - 1;
      const feed = client
        .tenant(tenantId)
        .changes({ follow: true, signal: end.signal, ...(after < 0 ? {} : { after }) });
      for await (const change of feed) {
        queries.setQueryData<readonly Change[]>(recentKey(tenantId), (before = []) => withNewest(before, change));
        // What was logged before the page was opened is on the page already.
        if (change.log_index >= size) await changed(change);
      }
    };
    // Who may not follow, or whose sign-in ended, sees what was answered; nothing else depends on it.
    follow().catch(() => undefined);
    return () => end.abort();
  }, [client, queries, tenantId, state]);
}

/** Of what goes on with one subject, as an import does, the newest stands for all. */
function withNewest(before: readonly Change[], change: Change): readonly Change[] {
  const [newest, ...older] = before;
  const goesOn =
    newest?.type === 'snapshot.created' &&
    change.type === 'snapshot.created' &&
    newest.subject_type === change.subject_type &&
    newest.subject_id === change.subject_id;
  return [change, ...(goesOn ? older : before)].slice(0, KEPT);
}

/** The second line of a checkpoint (C2SP tlog-checkpoint). Asked for again while the service cannot say. */
async function logSize(signal: AbortSignal): Promise<number> {
  for (;;) {
    const response = await fetch('/log/checkpoint', { signal });
    const [, size] = (await response.text()).split('\n');
    if (response.ok) return Number(size);
    await new Promise((resolve) => setTimeout(resolve, ASKS_AGAIN_MS));
    signal.throwIfAborted();
  }
}
