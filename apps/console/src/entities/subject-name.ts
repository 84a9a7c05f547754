import { useQuery } from '@tanstack/react-query';
import { type api, NotFoundError, type SubjectType } from '@identity-state/client';
import { OF_SUBJECT } from '../app/address.ts';
import { useClient } from '../app/context.tsx';

const NAME = '/attributes/biographic/name';
const NAME_PATHS: Readonly<Record<SubjectType, string>> = {
  organization: '/attributes/legal/legal_name',
  entity: '/attributes/legal/legal_name',
  individual: NAME,
};
const PARTS = 20;
const MAX_LENGTH = 200;

/**
 * Returns the name of a subject, by which search also finds it: undefined while unknown, null if it has none. A null
 * `version` sends nothing.
 */
export function useSubjectName(
  tenantId: string,
  subjectType: SubjectType,
  subjectId: string,
  version: number | null,
): string | null | undefined {
  const client = useClient();
  const { data, isError } = useQuery({
    queryKey: ['name', tenantId, subjectType, subjectId, version],
    queryFn: async ({ signal }): Promise<string | null> => {
      const path = { tenant_id: tenantId, subject_type: subjectType, subject_id: subjectId };
      const query = { path: NAME_PATHS[subjectType], version, limit: PARTS };
      try {
        return nameOf((await client.request('GET', `${OF_SUBJECT}/provenance`, { path, query, signal })).items);
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
    enabled: version !== null,
    staleTime: Infinity,
  });
  return isError ? null : data;
}

function nameOf(leaves: readonly api.ProvedLeaf[]): string | null {
  const text = (path: string): string[] => {
    const value = leaves.find((leaf) => leaf.path === path)?.value;
    return typeof value === 'string' && value.trim() !== '' ? [value] : [];
  };
  const [whole] = [...text(NAME_PATHS.organization), ...text(`${NAME}/formatted_name`)];
  const name = whole ?? [...text(`${NAME}/given_name`), ...text(`${NAME}/family_name`)].join(' ');
  return name === '' ? null : name.slice(0, MAX_LENGTH);
}
