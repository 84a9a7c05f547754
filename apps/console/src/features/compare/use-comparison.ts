import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type Snapshot, VerificationError } from '@identity-state/client';
import type { SubjectAddress } from '../../app/address.ts';
import { useClient } from '../../app/context.tsx';
import { useWorkerRoom } from '../../app/worker.ts';
import type { Compared, CompareJob } from './compare.worker.ts';
import workerUrl from './compare.worker.ts?worker&url';
import type { Comparison } from './comparison.ts';

/** A version, and its JSON for the worker. */
export interface ReadVersion {
  readonly snapshot: Snapshot;
  readonly json: string;
}

/** Reads a version, which never changes. The comparison recomputes its hash. */
export function useReadVersion({ path }: SubjectAddress, version: number | null): UseQueryResult<ReadVersion> {
  const client = useClient();
  return useQuery({
    queryKey: [...path.split('/').slice(1), 'snapshots', version, 'compared'],
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const snapshot = await client.request<Snapshot>('GET', `${path}/snapshots/${version}`, { signal });
      return { snapshot, json: JSON.stringify(snapshot) };
    },
    enabled: version !== null,
  });
}

/** Verifies and compares two versions in a worker. */
export function useComparison(
  { path, subjectType, subjectId }: SubjectAddress,
  before: ReadVersion | undefined,
  after: ReadVersion | undefined,
  versions: { readonly from: number; readonly to: number },
): UseQueryResult<Comparison> {
  const worker = useWorkerRoom<CompareJob, never, Compared>(workerUrl);
  const hashes = [before, after].map((version) => version?.snapshot.envelope_hash);
  return useQuery({
    queryKey: [...path.split('/').slice(1), 'comparison', versions, ...hashes],
    enabled: before !== undefined && after !== undefined,
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      // Without the use of its signal, the query would survive its view. The next view would then show the error of the
      // ended worker.
      signal.throwIfAborted();
      const from = { version: versions.from, json: before?.json ?? '' };
      const to = { version: versions.to, json: after?.json ?? '' };
      const compared = await worker.run({ subjectType, subjectId, from, to });
      if (compared.is === 'refused') throw new VerificationError('hash', compared.why);
      return compared.comparison;
    },
  });
}
