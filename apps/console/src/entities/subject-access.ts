import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { api } from '@identity-state/client';
import { OF_SUBJECT, useSubject } from '../app/address.ts';
import { apiCall, tenantPath, useGet } from '../app/api.ts';
import { useClient } from '../app/context.tsx';
import { type Scope, SCOPES } from '@iss/domain/pure';

/** The access of the caller's tenant to a subject. */
export interface SubjectAccess {
  readonly owner: string;
  readonly isOwner: boolean;
  /** The granted scopes; all scopes for the owner, and if the grants are unknown. */
  readonly scopes: readonly Scope[];
  /** The end of its last grant, or null. */
  readonly until: string | null;
  /** The newest version if the grants show it; null otherwise, and for the owner. */
  readonly latest: api.SnapshotHeader | null;
  /** The tenant owns the subject, or a grant was found. */
  readonly isFound: boolean;
  readonly may: (...anyOf: readonly Scope[]) => boolean;
}

type Granted = Pick<SubjectAccess, 'isFound' | 'scopes' | 'until' | 'latest'>;

const ALL: Granted = { isFound: true, scopes: SCOPES, until: null, latest: null };

/** Returns the owner of the subject that the address names, and the access to it. */
export function useSubjectAccess(): { data: SubjectAccess | undefined; error: Error | null; refetch: () => void } {
  const client = useClient();
  const { tenantId, subjectType, subjectId, ids } = useSubject();
  const owners = useGet(apiCall('GET', `${OF_SUBJECT}/owners`, { path: ids }));
  const owner = owners.data?.items[0]?.owner_tenant_id;
  const isOwner = owner === tenantId;
  const list = '/v1/tenants/{tenant_id}/accessible-subjects';
  const granted = useQuery({
    queryKey: [...tenantPath(tenantId, 'accessible-subjects').split('/').slice(1), 'scopes', subjectType, subjectId],
    queryFn: async ({ signal }): Promise<Granted> => {
      const query = { subject_type: subjectType, subject_id: subjectId };
      const path = { tenant_id: tenantId };
      return grantedBy((await client.request('GET', list, { path, query, signal })).items);
    },
    enabled: owner !== undefined && !isOwner,
  });
  const error = owners.error ?? granted.error;
  const refetch = (): void => {
    void owners.refetch();
    if (owner !== undefined && !isOwner) void granted.refetch();
  };
  if (owner === undefined || (!isOwner && granted.data === undefined)) return { data: undefined, error, refetch };
  const { isFound, ...grants } = granted.data ?? ALL;
  const may = (...anyOf: readonly Scope[]): boolean => isOwner || anyOf.some((scope) => grants.scopes.includes(scope));
  return { data: { owner, isOwner, ...grants, isFound: isOwner || isFound, may }, error, refetch };
}

function grantedBy(grants: readonly api.AccessibleSubject[]): Granted {
  if (grants.length === 0) return { ...ALL, isFound: false };
  const ends = grants.map(({ expires_at: end }) => end);
  const isEndless = ends.includes(null);
  return {
    isFound: true,
    scopes: SCOPES.filter((scope) => grants.some(({ scopes }) => scopes.includes(scope))),
    until: isEndless
      ? null
      : (ends
          .filter((end) => end !== null)
          .sort()
          .at(-1) ?? null),
    latest: grants.find(({ latest_snapshot: latest }) => latest !== undefined)?.latest_snapshot ?? null,
  };
}

/** Returns the scopes that the caller lost since the page was opened. */
export function useLostScopes({ isFound, scopes }: SubjectAccess): readonly Scope[] {
  const [earlier, setEarlier] = useState<readonly Scope[]>([]);
  const now = isFound ? scopes : [];
  const gained = now.filter((scope) => !earlier.includes(scope));
  if (gained.length > 0) setEarlier([...earlier, ...gained]);
  return earlier.filter((scope) => !now.includes(scope));
}

/** Reads the header of the newest version; undefined data until then, or if the caller may not read it. */
export function useSubjectHead(access: SubjectAccess | undefined): {
  data: api.SnapshotHeader | undefined;
  error: Error | null;
} {
  const { ids } = useSubject();
  const byLineage = access?.may('read_lineage') === true;
  // A lineage also contains the headers of erased versions.
  const query = { limit: 1, view: 'header' } as const;
  const lineage = useGet(byLineage ? apiCall('GET', `${OF_SUBJECT}/history`, { path: ids, query }) : null);
  return byLineage
    ? { data: lineage.data?.items[0], error: lineage.error }
    : { data: access?.latest ?? undefined, error: null };
}
