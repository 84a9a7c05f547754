import type { Query } from '@identity-state/client';
import { useToEnd } from '../ui/table/to-end.ts';
import { type ApiCall, callOf, type List, type Page, useList } from './api.ts';

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
