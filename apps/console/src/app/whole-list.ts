import { useEffect } from 'react';
import type { Query } from '@identity-state/client';
import { type ApiCall, callOf, type List, type Page, useList } from './api.ts';

/** The number of items that a table sorts or exports. */
const MOST_ITEMS = 10_000;

interface Pages {
  readonly items: readonly unknown[];
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly error: Error | null;
  fetchNextPage(): unknown;
}

/** Reads a list to its end, or to `most` items, if that is wanted. Returns whether more items follow. */
export function useToEnd(list: Pages, isWanted: boolean, most = MOST_ITEMS): boolean {
  const { items, hasNextPage, isFetching, fetchNextPage, error } = list;
  const goesOn = isWanted && hasNextPage && items.length < most && error === null;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage, items.length]);
  return goesOn;
}

type WholeList<T> = List<T> & { isWhole: boolean };

/**
 * Reads a list to its end, or to `most` items, for filters, counts and plots that the API does not provide. `isWhole` says
 * whether that is the whole list.
 */
export function useWholeList<T>(call: ApiCall<Page<T>> | null, most: number): WholeList<T>;
export function useWholeList<T>(path: string | null, query: Query, most: number): WholeList<T>;
export function useWholeList<T>(
  target: ApiCall<Page<T>> | string | null,
  ...rest: [number] | [Query, number]
): WholeList<T> {
  const [query, most] = rest.length === 1 ? [undefined, ...rest] : rest;
  const list = useList<T>(callOf(target, query));
  useToEnd(list, true, most);
  return { ...list, isWhole: list.data !== undefined && !list.hasNextPage };
}
