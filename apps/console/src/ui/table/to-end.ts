import { useEffect } from 'react';

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
