import { useEffect, useMemo, useState } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { api } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import { PROVENANCE } from '../../app/query-keys.ts';
import type { Tone } from '../../ui/page.tsx';

/** The tones of the statuses of evidence. */
export const EVIDENCE_TONES: Readonly<Record<api.ProvedLeaf['evidence_status'], Tone>> = {
  current: 'good',
  carried: 'warn',
  missing: 'bad',
  none: 'plain',
  revoked: 'bad',
};

const LEAVES = 1_000;
/** Up to this number of leaves, the whole provenance is loaded. For more, only the visible part is. */
const AT_ONCE = 3_000;

export interface KnownProvenance {
  readonly byPath: ReadonlyMap<string, api.ProvedLeaf>;
  /** The number of leaves, from the first one on, whose provenance is loaded. */
  readonly known: number;
  readonly isWhole: boolean;
  readonly error: Error | null;
  readonly refetch: () => void;
  /** Loads the provenance of the first `count` leaves. */
  readonly reach: (count: number) => void;
  readonly isAsking: boolean;
  /** Loads the whole provenance. */
  readonly readAll: () => void;
  /** The whole provenance is being loaded. */
  readonly isReading: boolean;
}

/** Reads the provenance of a version. A null `version` sends nothing. */
export function useProvenance(version: number | null): KnownProvenance {
  const client = useClient();
  const { path } = useSubject();
  const [wanted, setWanted] = useState(AT_ONCE);
  const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: [PROVENANCE, path, version],
    queryFn: async ({ signal, pageParam }): Promise<api.Provenance> =>
      client.request('GET', `${path}/provenance`, { signal, query: { version, limit: LEAVES, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    enabled: version !== null,
    staleTime: Infinity,
  });
  const pages = data?.pages;
  const known = useMemo(() => pages?.reduce((sum, { items }) => sum + items.length, 0) ?? 0, [pages]);
  const byPath = useMemo(() => new Map(pages?.flatMap(({ items }) => items).map((leaf) => [leaf.path, leaf])), [pages]);
  useEffect(() => {
    if (hasNextPage && !isFetching && error === null && known < wanted) void fetchNextPage();
  }, [hasNextPage, isFetching, error, known, wanted, fetchNextPage]);
  return {
    byPath,
    known,
    isWhole: data !== undefined && !hasNextPage,
    error,
    refetch: () => void (data === undefined ? refetch() : fetchNextPage()),
    reach: (count) => setWanted((before) => Math.max(before, count)),
    isAsking: isFetching,
    readAll: () => setWanted(Infinity),
    isReading: wanted === Infinity && hasNextPage && error === null,
  };
}
