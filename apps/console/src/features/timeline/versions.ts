import { useEffect } from 'react';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { SnapshotHeader } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import { VERSIONS } from '../../app/query-keys.ts';
import { useFeed } from '../../app/live.ts';

/** Newest first. */
export interface Versions {
  readonly items: readonly SnapshotHeader[];
  /** True once all versions, or the maximum, are loaded. */
  readonly isRead: boolean;
}

/** The maximum number of versions in the view. */
export const MOST_VERSIONS = 20_000;
/** The number of versions after which the page updates. */
const AT_ONCE = 1_000;

/** Reads the headers of the versions and shows them as they arrive. After a change it reads only the new ones. */
export function useVersionHeaders(isShared: boolean): UseQueryResult<Versions> {
  const client = useClient();
  const queries = useQueryClient();
  const { tenantId, subjectType, subjectId, path } = useSubject();
  const key = [VERSIONS, path];
  const versions = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<Versions> => {
      const held = queries.getQueryData<Versions>(key);
      const known = held?.isRead === true ? held.items : [];
      const newest = known[0]?.snapshot_version ?? 0;
      const fresh: SnapshotHeader[] = [];
      for await (const header of client.tenant(tenantId).subject(subjectType, subjectId).headers({ signal })) {
        if (header.snapshot_version <= newest || fresh.length === MOST_VERSIONS) break;
        fresh.push(header);
        if (fresh.length % AT_ONCE === 0) queries.setQueryData<Versions>(key, { items: [...fresh], isRead: false });
      }
      return { items: [...fresh, ...known].slice(0, MOST_VERSIONS), isRead: true };
    },
    enabled: isShared,
    staleTime: Infinity,
  });
  const told = useFeed(tenantId).changes.find(
    (change) =>
      change.type === 'snapshot.created' && change.subject_type === subjectType && change.subject_id === subjectId,
  );
  const newest = told?.type === 'snapshot.created' ? told.snapshot_version : 0;
  const isBehind = versions.data?.isRead === true && newest > (versions.data.items[0]?.snapshot_version ?? 0);
  const { refetch, isFetching } = versions;
  useEffect(() => {
    if (isBehind && !isFetching) void refetch();
  }, [isBehind, isFetching, refetch]);
  return versions;
}
