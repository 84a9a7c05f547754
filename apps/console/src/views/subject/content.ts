import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Snapshot, VerificationError } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import { CONTENT } from '../../app/kept.ts';

/** Which version is wanted. */
export type Wanted =
  | { readonly by: 'version'; readonly version: number }
  /** Of who may read the latest alone: `version` is what it is. */
  | { readonly by: 'latest'; readonly version: number }
  | { readonly by: 'moment'; readonly asOf: string; readonly basis: 'recorded' | 'effective' };

export interface Content {
  readonly snapshot: Snapshot;
  /** With false there was no hash to verify by. */
  readonly isVerified: boolean;
}

/** A version with its content, which the client verified. @throws VerificationError, ErasedError, as the query's `error` */
export function useContent(wanted: Wanted | null): UseQueryResult<Content> {
  const client = useClient();
  const { tenantId, subjectType, subjectId, path } = useSubject();
  return useQuery({
    queryKey: [CONTENT, path, wanted],
    queryFn: async ({ signal }): Promise<Content> => {
      const subject = client.tenant(tenantId).subject(subjectType, subjectId);
      const read = async (options: { signal: AbortSignal; verify?: false }): Promise<Snapshot> => {
        switch (wanted?.by) {
          case 'version':
            return subject.version(wanted.version, options);
          case 'moment':
            return subject.latest({ asOf: wanted.asOf, basis: wanted.basis, ...options });
          case 'latest':
          case undefined:
            return subject.latest(options);
        }
      };
      try {
        return { snapshot: await read({ signal }), isVerified: true };
      } catch (error) {
        if (!(error instanceof VerificationError) || error.failure !== 'unhashed') throw error;
        return { snapshot: await read({ signal, verify: false }), isVerified: false };
      }
    },
    enabled: wanted !== null,
    // A version does not change.
    staleTime: wanted?.by === 'moment' ? 0 : Infinity,
  });
}
