import { useEffect } from 'react';
import type { Query } from '@identity-state/client';
import { useList } from './api.ts';

const MOST_PAGES = 20;

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
  const { data, items, hasNextPage, isFetching, fetchNextPage, error } = list;
  const goesOn = hasNextPage && items.length < most && (data?.pages.length ?? 0) < MOST_PAGES && error === null;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  return { ...list, isWhole: data !== undefined && !hasNextPage };
}
