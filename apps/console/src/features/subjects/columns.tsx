import type { api } from '@identity-state/client';
import { scopeNames, SCOPE_TITLES } from '../../entities/scope-names.ts';
import { grantedSubjectColumn, ownSubjectColumn, SUBJECT_TYPE } from '../../entities/subject.tsx';
import { Badge } from '../../ui/page.tsx';
import type { Column } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

export function ownColumns(tenantId: string): readonly Column<api.Subject>[] {
  return [
    ownSubjectColumn(tenantId),
    SUBJECT_TYPE,
    { title: TEXT.version, value: ({ latest_snapshot: { snapshot_version: version } }) => version },
    { title: TEXT.stateOf, at: ({ latest_snapshot: { generated_at: at } }) => at, dayOnly: true },
    { title: TEXT.written, at: ({ latest_snapshot: { created_at: at } }) => at },
  ];
}

export function grantedColumns(tenantId: string): readonly Column<api.AccessibleSubject>[] {
  return [
    grantedSubjectColumn(tenantId),
    SUBJECT_TYPE,
    { title: TEXT.owner, value: ({ granted_by_tenant_id: owner }) => owner },
    { title: TEXT.version, value: ({ latest_snapshot: latest }) => latest?.snapshot_version ?? TEXT.notLatest },
    {
      title: TEXT.mayRead,
      value: ({ scopes }) => scopeNames(scopes),
      cell: ({ scopes }) => (
        <span className={styles.badges}>
          {scopes.map((scope) => (
            <Badge key={scope}>{SCOPE_TITLES[scope]}</Badge>
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
