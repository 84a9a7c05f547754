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
import {
  type Answer,
  type api,
  type CallOptions,
  fillPath,
  type IdentityState,
  type Method,
  type Path,
  type Query,
  type RequestOptions,
} from '@identity-state/client';
import { useToEnd } from '../ui/table/to-end.ts';
import { useClient } from './context.tsx';

/** A request to the API and the type of its answer. A view sends it, and "Copy as curl" shows it. */
export interface ApiCall<T = unknown> {
  readonly method: Method;
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Carries the type of the answer. It is never set. */
  readonly answer?: T;
}

/** Returns a call of an operation: `apiCall('GET', '/v1/tenants/{tenant_id}', { path: { tenant_id } })`. */
export function apiCall<M extends Method, P extends Path<M>>(
  method: M,
  path: P,
  ...parameters: RequestOptions<M, P, unknown>
): ApiCall<Answer<M, P>>;
export function apiCall(
  method: Method,
  path: string,
  {
    path: values,
    ...parameters
  }: { path?: Readonly<Record<string, string | number>>; query?: Query; body?: unknown } = {},
): ApiCall {
  return { method, path: fillPath(path, values), ...parameters };
}

/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string | null;
  readonly page?: { readonly next_cursor: string | null };
}

/** A list whose pages are read on request, and the items of the pages read. */
export type PagedList<T> = UseInfiniteQueryResult<InfiniteData<Page<T>>> & { items: readonly T[] };

/** Encodes each segment: `/v1/tenants/acme/subjects/organization/a%2Fb`. */
export function encodePath(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

export function tenantPath(tenantId: string, ...rest: readonly (string | number)[]): string {
  return encodePath('v1', 'tenants', tenantId, ...rest);
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

/** Sends a call and caches the response until the change feed reports a change. Null sends nothing. */
export function useGet<T>(call: ApiCall<T> | null): UseQueryResult<T> {
  const client = useClient();
  return useQuery({
    queryKey: call === null ? ['nothing'] : keyOf(call.path, call.query),
    queryFn: async ({ signal }) => sendCall<T>(client, call ?? NOTHING, { signal }),
    enabled: call !== null,
    ...follows(call?.path ?? null),
  });
}

/** Reads a list page by page, on request. */
export function useList<T>(call: ApiCall<Page<T>> | null): PagedList<T> {
  const client = useClient();
  const list = useInfiniteQuery({
    queryKey: call === null ? ['nothing', 'list'] : [...keyOf(call.path, call.query), 'list'],
    queryFn: async ({ signal, pageParam }) => {
      const { query: filters, ...rest } = call ?? NOTHING;
      return sendCall<Page<T>>(client, { ...rest, query: { ...filters, cursor: pageParam } }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor ?? page.page?.next_cursor ?? null,
    enabled: call !== null,
    placeholderData: keepPreviousData,
    ...follows(call?.path ?? null),
  });
  const pages = list.data?.pages;
  const items = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  return { ...list, items };
}

/**
 * Returns a mutation that sends a call, then reloads all queries below the paths `changes`. The page shows nothing as done
 * before the response.
 */
export function useAction<T = unknown>(...changes: readonly string[]): UseMutationResult<T, Error, ApiCall<T>> {
  const client = useClient();
  const invalidate = useInvalidate();
  return useMutation({
    mutationFn: async (call: ApiCall<T>) => sendCall<T>(client, call),
    onSuccess: async () => {
      await Promise.all(changes.map(invalidate));
    },
  });
}

/** Stands for the call of a query that is not enabled, which sends nothing. */
const NOTHING: ApiCall<never> = { method: 'GET', path: '' };

async function sendCall<T>(client: IdentityState, call: ApiCall<T>, options: CallOptions = {}): Promise<T> {
  const { method, path, query, body } = call;
  return client.request<T>(method, path, {
    ...options,
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns a function that sends a call outside of the query cache. */
export function useSend(): <T>(call: ApiCall<T>, options?: CallOptions) => Promise<T> {
  const client = useClient();
  return async (call, options) => sendCall(client, call, options);
}

/** Returns a function that reloads the visible queries below a path. */
export function useInvalidate(): (path: string) => Promise<void> {
  const queries = useQueryClient();
  return (path) => queries.invalidateQueries({ queryKey: path.split('/').slice(1) });
}

/** Reads the caller's tenants, with its role in each. */
export function useTenants(): PagedList<api.TenantItem> {
  return useList(apiCall('GET', '/v1/tenants', { query: { limit: 100 } }));
}

/** Reads the invitations of the caller. */
export function useInvitations(): PagedList<api.Invitation> {
  return useList(apiCall('GET', '/v1/invitations', { query: { limit: 100 } }));
}

/**
 * Reads a list to its end, or to `most` items, for filters, counts and plots that the API does not provide. `isWhole` says
 * whether that is the whole list.
 */
export function useWholeList<T>(call: ApiCall<Page<T>> | null, most: number): PagedList<T> & { isWhole: boolean } {
  const list = useList(call);
  useToEnd(list, true, most);
  return { ...list, isWhole: list.data !== undefined && !list.hasNextPage };
}
