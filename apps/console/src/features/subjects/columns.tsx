import type { api } from '@identity-state/client';
import { SCOPE_NAMES } from '../../text/scopes.ts';
import { TEXT } from './words.ts';
import { Badge } from '../../ui/state.tsx';
import { SubjectLink } from '../../entities/subject-link.tsx';
import type { Column } from '../../ui/table/table.tsx';
import styles from './subjects.module.css';

export function ownColumns(tenantId: string): readonly Column<api.Subject>[] {
  return [
    {
      title: TEXT.subject,
      isHeader: true,
      value: ({ subject_id: id }) => id,
      cell: (subject) => <OwnSubject tenantId={tenantId} subject={subject} />,
    },
    {
      title: TEXT.type,
      value: ({ subject_type: type }) => TEXT.types[type],
      cell: ({ subject_type: type }) => <Badge>{TEXT.types[type]}</Badge>,
    },
    { title: TEXT.version, value: ({ latest_snapshot: { snapshot_version: version } }) => version },
    { title: TEXT.stateOf, at: ({ latest_snapshot: { generated_at: at } }) => at, dayOnly: true },
    { title: TEXT.written, at: ({ latest_snapshot: { created_at: at } }) => at },
  ];
}

/** Links to a subject of the tenant. An erased version has no name. */
export function OwnSubject({ tenantId, subject }: { tenantId: string; subject: api.Subject }) {
  const { subject_type: type, subject_id: id, name, latest_snapshot: latest } = subject;
  return (
    <SubjectLink
      tenantId={tenantId}
      type={type}
      id={id}
      name={name}
      version={latest.erased === undefined ? latest.snapshot_version : null}
    />
  );
}

export function grantedColumns(tenantId: string): readonly Column<api.AccessibleSubject>[] {
  return [
    {
      title: TEXT.subject,
      isHeader: true,
      value: ({ subject_id: id }) => id,
      cell: (granted) => <GrantedSubject tenantId={tenantId} granted={granted} />,
    },
    {
      title: TEXT.type,
      value: ({ subject_type: type }) => TEXT.types[type],
      cell: ({ subject_type: type }) => <Badge>{TEXT.types[type]}</Badge>,
    },
    { title: TEXT.owner, value: ({ granted_by_tenant_id: owner }) => owner },
    {
      title: TEXT.version,
      value: ({ latest_snapshot: latest }) => latest?.snapshot_version ?? TEXT.notLatest,
    },
    {
      title: TEXT.mayRead,
      value: ({ scopes }) => scopes.map((scope) => SCOPE_NAMES[scope]).join(', '),
      cell: ({ scopes }) => (
        <span className={styles.badges}>
          {scopes.map((scope) => (
            <Badge key={scope}>{SCOPE_NAMES[scope]}</Badge>
          ))}
        </span>
      ),
    },
    {
      title: TEXT.until,
      at: ({ expires_at: end }) => end,
      value: ({ expires_at: end }) => (end === null ? TEXT.noEnd : null),
      dayOnly: true,
    },
  ];
}

/** Links to a subject of another tenant, with its name if the grant shows values. */
export function GrantedSubject({ tenantId, granted }: { tenantId: string; granted: api.AccessibleSubject }) {
  const { subject_type: type, subject_id: id, name, scopes, latest_snapshot: latest } = granted;
  const isNamed = latest?.erased === undefined && scopes.includes('read_lineage');
  return (
    <SubjectLink
      tenantId={tenantId}
      type={type}
      id={id}
      name={name}
      version={isNamed ? (latest?.snapshot_version ?? null) : null}
    />
  );
}

export function keyOf({ subject_type: type, subject_id: id }: { subject_type: string; subject_id: string }): string {
  return `${type}/${id}`;
}
