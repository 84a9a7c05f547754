import { useMemo } from 'react';
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import type { api, Method, Query } from '@identity-state/client';
import { useClient } from './context.tsx';

/** A request to the API. A view sends it, and "Copy as curl" shows it. */
export interface ApiCall {
  readonly method: Method;
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string | null;
  readonly page?: { readonly next_cursor: string | null };
}

/** Encodes each segment: `/v1/tenants/acme/subjects/organization/a%2Fb`. */
export function pathOf(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

export function tenantPath(tenantId: string, ...rest: readonly (string | number)[]): string {
  return pathOf('v1', 'tenants', tenantId, ...rest);
}

/** Returns the key of a cached query. `invalidate(path)` finds all keys below a path. */
function keyOf(path: string, query: Query = {}): readonly unknown[] {
  return [...path.split('/').slice(1), query];
}

/** Paths that the change feed does not cover. An open page polls them. */
const UNTOLD = /\/(refresh-requests|deliveries|updates|entity-state-updates|webhook-subscriptions|invitations)(\/|$)/;
const AGAIN_MS = 10_000;

const follows = (path: string | null): { refetchInterval?: number } =>
  path !== null && UNTOLD.test(path) ? { refetchInterval: AGAIN_MS } : {};

/** Reads a path and caches the response until the change feed reports a change. A null `path` sends nothing. */
export function useGet<T>(path: string | null, query?: Query): UseQueryResult<T> {
  const client = useClient();
  return useQuery({
    queryKey: path === null ? ['nothing'] : keyOf(path, query),
    queryFn: async ({ signal }) =>
      client.request<T>('GET', path ?? '', { signal, ...(query === undefined ? {} : { query }) }),
    enabled: path !== null,
    ...follows(path),
  });
}

/** Reads a list page by page, on request. */
export function useList<T>(
  path: string | null,
  query: Query = {},
): UseInfiniteQueryResult<InfiniteData<Page<T>>> & { items: readonly T[] } {
  const client = useClient();
  const list = useInfiniteQuery({
    queryKey: path === null ? ['nothing', 'list'] : [...keyOf(path, query), 'list'],
    queryFn: async ({ signal, pageParam }) =>
      client.request<Page<T>>('GET', path ?? '', {
        signal,
        query: { ...query, ...(pageParam === null ? {} : { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor ?? page.page?.next_cursor ?? null,
    enabled: path !== null,
    placeholderData: keepPreviousData,
    ...follows(path),
  });
  const pages = list.data?.pages;
  const items = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  return { ...list, items };
}

/**
 * Returns a mutation that sends a call, then reloads all queries below the paths `changes`. The page shows nothing as done
 * before the response.
 */
export function useAction<T = unknown>(...changes: readonly string[]): UseMutationResult<T, Error, ApiCall> {
  const client = useClient();
  const invalidate = useInvalidate();
  return useMutation({
    mutationFn: async ({ method, path, query, body }: ApiCall) =>
      client.request<T>(method, path, {
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
      }),
    onSuccess: async () => {
      await Promise.all(changes.map(invalidate));
    },
  });
}

/** Returns a function that reloads the visible queries below a path. */
export function useInvalidate(): (path: string) => Promise<void> {
  const queries = useQueryClient();
  return (path) => queries.invalidateQueries({ queryKey: path.split('/').slice(1) });
}

/** Reads the caller's tenants, with its role in each. */
export function useTenants(): UseInfiniteQueryResult<InfiniteData<Page<api.TenantOfMember>>> & {
  items: readonly api.TenantOfMember[];
} {
  return useList<api.TenantOfMember>('/v1/tenants', { limit: 100 });
}

/** Reads the invitations of the caller. */
export function useInvitations(): UseInfiniteQueryResult<InfiniteData<Page<api.Invitation>>> & {
  items: readonly api.Invitation[];
} {
  return useList<api.Invitation>('/v1/invitations', { limit: 100 });
}
