import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Snapshot } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';

/** A version of the subject with its content, whose hash was verified here; null: not yet. */
export function useVersion(version: number | 'latest' | null): UseQueryResult<Snapshot> {
  const client = useClient();
  const { tenantId, subjectType, subjectId, path } = useSubject();
  return useQuery({
    queryKey: [...path.split('/').slice(1), 'snapshots', version, 'verified'],
    queryFn: async ({ signal }) => {
      const subject = client.tenant(tenantId).subject(subjectType, subjectId);
      return typeof version === 'number' ? subject.version(version, { signal }) : subject.latest({ signal });
    },
    enabled: version !== null,
  });
}
