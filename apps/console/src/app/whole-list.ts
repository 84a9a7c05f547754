import { useEffect } from 'react';
import type { Query } from '@identity-state/client';
import { useList } from './api.ts';

/** A table sorts so many items, and writes them into a file. */
const MOST_ITEMS = 10_000;

interface Pages {
  readonly items: readonly unknown[];
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly error: Error | null;
  fetchNextPage(): unknown;
}

/** Reads a list to its end, or to `most` items, where that is wanted. Returns whether there is more to come. */
export function useToEnd(list: Pages, isWanted: boolean, most = MOST_ITEMS): boolean {
  const { items, hasNextPage, isFetching, fetchNextPage, error } = list;
  const goesOn = isWanted && hasNextPage && items.length < most && error === null;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  return goesOn;
}

/**
 * A list that is read to its end, or to `most` items: for what is filtered, counted or plotted here, since the API does
 * not. `isWhole` says whether there is no more.
 */
export function useWholeList<T>(
  path: string | null,
  query: Query,
  most: number,
): ReturnType<typeof useList<T>> & { isWhole: boolean } {
  const list = useList<T>(path, query);
  useToEnd(list, true, most);
  return { ...list, isWhole: list.data !== undefined && !list.hasNextPage };
}
