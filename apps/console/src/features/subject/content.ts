import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Snapshot, VerificationError } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import { CONTENT } from '../../app/query-keys.ts';
import { type Leaf, leavesOf } from './leaves.ts';

/** The version to read. */
export type WantedVersion =
  | { readonly by: 'version'; readonly version: number }
  /** For callers that may only read the latest version, whose number is `version`. */
  | { readonly by: 'latest'; readonly version: number }
  | { readonly by: 'moment'; readonly asOf: string; readonly basis: 'recorded' | 'effective' };

export interface Content {
  readonly snapshot: Snapshot;
  readonly leaves: readonly Leaf[];
  /** False if the version has no hash. */
  readonly isVerified: boolean;
}

/** Reads a version with its verified content. The query's `error` can be a VerificationError or an ErasedError. */
export function useContent(wanted: WantedVersion | null): UseQueryResult<Content> {
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
        return await contentOf(await read({ signal }), true);
      } catch (error) {
        if (!(error instanceof VerificationError) || error.failure !== 'unhashed') throw error;
        return contentOf(await read({ signal, verify: false }), false);
      }
    },
    enabled: wanted !== null,
    // Versions are immutable.
    staleTime: wanted?.by === 'moment' ? 0 : Infinity,
  });
}

async function contentOf(snapshot: Snapshot, isVerified: boolean): Promise<Content> {
  // Parsing, finding the leaves and rendering are tasks of their own, so that the page answers in between.
  await new Promise((resolve) => setTimeout(resolve));
  return { snapshot, isVerified, leaves: leavesOf(snapshot.envelope.attributes) };
}
