import { useToEnd } from '../ui/table/to-end.ts';
import { type ApiCall, type List, type Page, useList } from './api.ts';

/**
 * Reads a list to its end, or to `most` items, for filters, counts and plots that the API does not provide. `isWhole` says
 * whether that is the whole list.
 */
export function useWholeList<T>(call: ApiCall<Page<T>> | null, most: number): List<T> & { isWhole: boolean } {
  const list = useList(call);
  useToEnd(list, true, most);
  return { ...list, isWhole: list.data !== undefined && !list.hasNextPage };
}
