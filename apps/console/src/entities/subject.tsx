import { type api, NotFoundError, type SubjectType } from '@identity-state/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { OF_SUBJECT, SUBJECT_VIEW, type SubjectAddress } from '../app/address.ts';
import { apiCall, useGet } from '../app/api.ts';
import { useClient } from '../app/context.tsx';
import { Badge, Empty } from '../ui/page.tsx';
import type { Column } from '../ui/table/table.tsx';
import styles from '../ui/ui.module.css';

export const SUBJECT = {
  subject: 'Subject',
  type: 'Type',
  types: {
    organization: 'Organization',
    individual: 'Individual',
    entity: 'Entity',
  } satisfies Record<SubjectType, string>,
  noGrantsUsed: 'You may not read shared subjects',
  noGrantsUsedText: 'A human account admin of this tenant can allow it: Tenant, Members, counterparty access.',
} as const;

/** Own subjects that a list reads at once. The service returns more by default. */
export const SUBJECTS_AT_ONCE = 50;

const NAME = '/attributes/biographic/name';
const NAME_PATHS: Readonly<Record<SubjectType, string>> = {
  organization: '/attributes/legal/legal_name',
  entity: '/attributes/legal/legal_name',
  individual: NAME,
};
const PARTS = 20;
const MAX_LENGTH = 200;

/** Returns the name of a subject of the tenant; null if it has none, while it is unknown, and for a subject of another tenant. */
export function useOwnName({ tenantId, subjectType, subjectId }: SubjectAddress, isOwner: boolean): string | null {
  const path = { tenant_id: tenantId };
  // The subject itself is the first one with this prefix.
  const query = { subject_type: subjectType, subject_id_prefix: subjectId, limit: 1 };
  const own = useGet(isOwner ? apiCall('GET', '/v1/tenants/{tenant_id}/subjects', { path, query }) : null);
  return own.data?.items[0]?.name ?? null;
}

/**
 * Returns the name of a subject that another tenant shares: null if it has none, and while it is unknown. A null `version`
 * sends nothing.
 */
export function useSharedName(
  tenantId: string,
  subjectType: SubjectType,
  subjectId: string,
  version: number | null,
): string | null {
  const client = useClient();
  const { data } = useQuery({
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
  return data ?? null;
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

interface SubjectLinkProps {
  tenantId: string;
  type: SubjectType;
  id: string;
  /** The name, if a list has it. */
  name?: string | undefined;
  /** The shared version that the name is read from if the list has none. */
  version?: number | null;
  /** The view of the subject that the link opens. */
  view?: '' | '/requests' | '/sharing';
}

/** Names a subject: by its legal name first, then by its id. */
export function SubjectLink({ tenantId, type, id, version = null, name: known, view = '' }: SubjectLinkProps) {
  const read = useSharedName(tenantId, type, id, known === undefined ? version : null);
  const name = known ?? read;
  return (
    <>
      <Link
        to={`${SUBJECT_VIEW}${view}`}
        params={{ tenantId, subjectType: type, subjectId: id }}
        activeProps={{ 'aria-current': undefined }}
        className={styles.subject}
      >
        {name ?? id}
      </Link>{' '}
      {(version !== null || name !== null) && <span className={styles.subjectId}>{name === null ? '' : id}</span>}
    </>
  );
}

/** Returns a column of links to subjects, with a name if the item has it. */
export function subjectLinkColumn(
  title: string,
  tenantId: string,
  view: '' | '/requests' = '',
): Column<Pick<api.Update, 'subject_type' | 'subject_id' | 'name'>> {
  return {
    title,
    value: ({ subject_id: id }) => id,
    cell: ({ subject_type: type, subject_id: id, name }) => (
      <SubjectLink tenantId={tenantId} type={type} id={id} name={name} view={view} />
    ),
  };
}

/** Links to a subject of the tenant. */
export function OwnSubject({ tenantId, subject }: { tenantId: string; subject: api.Subject }) {
  const { subject_type: type, subject_id: id, name } = subject;
  return <SubjectLink tenantId={tenantId} type={type} id={id} name={name} />;
}

/** Links to a subject of another tenant, with its name if the grant shows values. */
function GrantedSubject({ tenantId, granted }: { tenantId: string; granted: api.AccessibleSubject }) {
  const { subject_type: type, subject_id: id, name, scopes, latest_snapshot: latest } = granted;
  const isNamed = latest?.erased === undefined && scopes.includes('read_lineage');
  const version = isNamed ? (latest?.snapshot_version ?? null) : null;
  return <SubjectLink tenantId={tenantId} type={type} id={id} name={name} version={version} />;
}

export function ownSubjectColumn(tenantId: string): Column<api.Subject> {
  return {
    title: SUBJECT.subject,
    isHeader: true,
    value: ({ subject_id: id }) => id,
    cell: (subject) => <OwnSubject tenantId={tenantId} subject={subject} />,
  };
}

export function grantedSubjectColumn(tenantId: string): Column<api.AccessibleSubject> {
  return {
    title: SUBJECT.subject,
    isHeader: true,
    value: ({ subject_id: id }) => id,
    cell: (granted) => <GrantedSubject tenantId={tenantId} granted={granted} />,
  };
}

export const SUBJECT_TYPE: Column<{ subject_type: SubjectType }> = {
  title: SUBJECT.type,
  value: ({ subject_type: type }) => SUBJECT.types[type],
  cell: ({ subject_type: type }) => <Badge>{SUBJECT.types[type]}</Badge>,
};

export function keyOfSubject({
  subject_type: type,
  subject_id: id,
}: {
  subject_type: string;
  subject_id: string;
}): string {
  return `${type}/${id}`;
}

/** Shown to members whose flag does not allow counterparty access. */
export function NoGrantsUsed() {
  return <Empty title={SUBJECT.noGrantsUsed} text={SUBJECT.noGrantsUsedText} />;
}
