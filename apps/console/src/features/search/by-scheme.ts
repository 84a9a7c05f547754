import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { api, IdentityState } from '@identity-state/client';
import { parsePointer } from '@iss/domain/pure';
import { tenantPath } from '../../app/api.ts';
import { useClient } from '../../app/context.tsx';
import { isBareIdentifier } from './meanings.ts';

/** Schemes that are searched even if no sampled subject has them. */
const COMMON_SCHEMES = [
  'registration_number',
  'company_number',
  'vat_number',
  'tax_id',
  'duns',
  'bic',
  'national_id',
  'customer_number',
];
/** The number of own subjects whose schemes are read. */
const SAMPLE = 10;
const MAX_IDENTIFIERS = 64;
/** The pause in typing after which an identifier is searched. */
const REST_MS = 250;

interface FoundByScheme {
  readonly own: readonly api.Subject[];
  readonly shared: readonly api.AccessibleSubject[];
}

interface Wanted {
  readonly tenantId: string;
  readonly find: string;
  readonly subjectType: string | undefined;
  readonly isOwnWanted: boolean;
  readonly isSharedWanted: boolean;
}

/** Finds subjects by an identifier without its scheme. The service needs a scheme, so each known one is searched. */
export function useFoundByScheme(wanted: Wanted): UseQueryResult<FoundByScheme> {
  const client = useClient();
  const queries = useQueryClient();
  const { tenantId, find, subjectType, isOwnWanted, isSharedWanted } = wanted;
  const search = async <T>(list: string, schemes: readonly string[], signal: AbortSignal): Promise<T[]> => {
    const pages = schemes.map(async (scheme) =>
      client.request<{ items: T[] }>('GET', tenantPath(tenantId, list), {
        signal,
        query: { identifier: `${scheme}:${find}`, subject_type: subjectType },
      }),
    );
    return (await Promise.all(pages)).flatMap(({ items }) => items);
  };
  return useQuery({
    queryKey: ['v1', 'tenants', tenantId, 'subjects', 'by-scheme', wanted],
    enabled: isBareIdentifier(find),
    queryFn: async ({ signal }): Promise<FoundByScheme> => {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      signal.throwIfAborted();
      const schemes = await queries.fetchQuery({
        queryKey: ['schemes', tenantId],
        queryFn: async () => schemesOf(client, tenantId),
        staleTime: Infinity,
      });
      const [own, shared] = await Promise.all([
        isOwnWanted ? search<api.Subject>('subjects', schemes, signal) : [],
        isSharedWanted ? search<api.AccessibleSubject>('accessible-subjects', schemes, signal) : [],
      ]);
      return { own, shared };
    },
  });
}

/** Returns the common schemes, and those of the tenant's first subjects. */
async function schemesOf(client: IdentityState, tenantId: string): Promise<readonly string[]> {
  const { items } = await client.request<api.SubjectPage>('GET', tenantPath(tenantId, 'subjects'), {
    query: { limit: SAMPLE },
  });
  const pages = items
    .filter(({ latest_snapshot: latest }) => latest.erased === undefined)
    .map(async ({ subject_type: type, subject_id: id }) =>
      client.request<api.Provenance>('GET', tenantPath(tenantId, 'subjects', type, id, 'provenance'), {
        query: { path: '/attributes/identifiers', limit: MAX_IDENTIFIERS },
      }),
    );
  // A subject without identifiers answers 404.
  const samples = await Promise.allSettled(pages);
  const paths = samples.flatMap((one) => (one.status === 'fulfilled' ? one.value.items : [])).map(({ path }) => path);
  const sampled = paths.flatMap((path) => parsePointer(path)[2] ?? []).filter((scheme) => scheme !== 'lei');
  return [...new Set([...COMMON_SCHEMES, ...sampled])].slice(0, MAX_IDENTIFIERS);
}
