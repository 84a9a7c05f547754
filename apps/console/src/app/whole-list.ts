import { useEffect, useState } from 'react';
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

const ROWS = 50;

/** What stands in a table of a list that is held whole: its first rows, and more of them on request. */
export function useRows<T>(list: ReturnType<typeof useList<T>>, items: readonly T[] = list.items): typeof list {
  const [count, setCount] = useState(ROWS);
  const hasMore = count < items.length;
  return {
    ...list,
    items: items.slice(0, count),
    hasNextPage: hasMore || list.hasNextPage,
    fetchNextPage: async (options) => {
      setCount(count + ROWS);
      return hasMore ? list : list.fetchNextPage(options);
    },
  };
}
