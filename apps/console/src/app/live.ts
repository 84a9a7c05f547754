import { useEffect, useEffectEvent } from 'react';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, type Change, ConnectionError, type IdentityState } from '@identity-state/client';
import { encodePath, tenantPath, useInvalidate } from './api.ts';
import { useClient, useSessionState } from './context.tsx';

/** The number of changes that the page keeps. */
const KEPT = 100;
/** The number of changes that the page looks for when it opens. */
const ENOUGH = 8;
/** The number of log entries, of all tenants, that the first look covers. */
const LOOKS_BACK = 2_000;
const MOST_LOOKS = 20;
const FAILED_AGAIN_MS = 2_000;
/** Keeps below the limit of open routes per address (docs/limits.md). */
const UNKNOWN_AGAIN_MS = 15_000;

export interface Feed {
  /** Changes that the tenant may read, newest first. */
  readonly changes: readonly Change[];
  /** `ended`: the caller may not follow the feed, or its verification failed. */
  readonly state: 'opening' | 'live' | 'reconnecting' | 'ended';
}

const NO_FEED: Feed = { changes: [], state: 'opening' };
const keyOf = (tenantId: string): readonly string[] => ['feed', tenantId];

/** Returns the latest changes of a tenant and the state of its feed. */
export function useFeed(tenantId: string): Feed {
  const { data } = useQuery<Feed>({
    queryKey: keyOf(tenantId),
    queryFn: () => NO_FEED,
    staleTime: Infinity,
    initialData: NO_FEED,
  });
  return data;
}

/**
 * Follows the change feed of a tenant while the page is open. Keeps the latest changes and reloads the visible data of a
 * changed subject. After an outage it reloads everything.
 */
export function useLiveChanges(tenantId: string): void {
  const client = useClient();
  const queries = useQueryClient();
  const invalidate = useInvalidate();
  const state = useSessionState();
  // The effect restarts only with the tenant and the sign-in, but always calls the newest functions.
  const changed = useEffectEvent(async (change: Change): Promise<void> => {
    await invalidate(tenantPath(tenantId));
    if ('subject' in change && change.subject !== null) {
      await invalidate(encodePath('v1', 'subjects', change.subject.subject_type, change.subject.subject_id));
    }
  });
  const cameBack = useEffectEvent(async (): Promise<void> => invalidate('/v1'));
  useEffect(() => {
    if (state !== 'signed_in') return;
    const end = new AbortController();
    const { signal } = end;
    const keep = (next: (before: Feed) => Feed): void => keepFeed(queries, tenantId, next);
    const follow = async (): Promise<void> => {
      const size = await logSize(signal);
      const latest = await lookBack(client, tenantId, size, signal);
      keep((before) => ({ ...before, changes: latest.reduce(withNewest, []) }));
      const onConnected = (isConnected: boolean): void => {
        let isBack = false;
        keep((before) => {
          isBack = isConnected && before.state === 'reconnecting';
          return { ...before, state: isConnected ? 'live' : 'reconnecting' };
        });
        if (isBack) void cameBack();
      };
      const after = size === 0 ? {} : { after: size - 1 };
      for await (const change of client.tenant(tenantId).changes({ follow: true, signal, onConnected, ...after })) {
        keep((before) => ({ ...before, changes: withNewest(before.changes, change) }));
        await changed(change);
      }
    };
    const goOn = async (): Promise<void> => {
      keep(() => NO_FEED);
      for (;;) {
        try {
          return await follow();
        } catch (error) {
          if (signal.aborted) return;
          const isOutage = error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
          keep((before) => ({ ...before, state: isOutage ? 'reconnecting' : 'ended' }));
          if (!isOutage) return;
          await pause(FAILED_AGAIN_MS, signal);
        }
      }
    };
    void goOn();
    return () => end.abort();
  }, [client, queries, tenantId, state]);
}

function keepFeed(queries: QueryClient, tenantId: string, next: (before: Feed) => Feed): void {
  queries.setQueryData<Feed>(keyOf(tenantId), (before = NO_FEED) => next(before));
}

/** Adds a change. Consecutive versions of one subject, as in an import, are shown as the newest one. */
function withNewest(before: readonly Change[], change: Change): readonly Change[] {
  const [newest, ...older] = before;
  const goesOn =
    newest?.type === 'snapshot.created' &&
    change.type === 'snapshot.created' &&
    newest.subject_type === change.subject_type &&
    newest.subject_id === change.subject_id;
  return [change, ...(goesOn ? older : before)].slice(0, KEPT);
}

/**
 * Finds the latest changes of a tenant, however much other tenants wrote since. Looks back further until it has enough
 * changes, and less far if it has more than a page.
 */
async function lookBack(
  client: IdentityState,
  tenantId: string,
  size: number,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  let found: readonly Change[] = [];
  let [few, many] = [0, Infinity];
  for (let looks = 0, span = LOOKS_BACK; looks < MOST_LOOKS; looks++) {
    const query = { limit: KEPT, ...(span >= size ? {} : { after: String(size - span - 1) }) };
    const path = { tenant_id: tenantId };
    const page = await client.request('GET', '/v1/tenants/{tenant_id}/changes', { path, query, signal });
    if (page.has_more) many = Math.min(span, size);
    else {
      found = page.items;
      few = span;
      if (found.length >= ENOUGH || span >= size) break;
    }
    span = many === Infinity ? span * 8 : Math.floor((few + many) / 2);
    if (span === few) break;
  }
  return found;
}

/** Waits, or returns at once when the signal ends it. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Returns the size of the log: the second line of its checkpoint (C2SP tlog-checkpoint). Retries until the service answers. */
async function logSize(signal: AbortSignal): Promise<number> {
  for (;;) {
    const response = await fetch('/log/checkpoint', { signal }).catch((cause: unknown) => {
      throw new ConnectionError('/log/checkpoint: no answer came.', { cause });
    });
    const [, size] = (await response.text()).split('\n');
    if (response.ok) return Number(size);
    await pause(UNKNOWN_AGAIN_MS, signal);
    signal.throwIfAborted();
  }
}
