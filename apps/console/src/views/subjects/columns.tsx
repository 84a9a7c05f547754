import { useEffect, useRef, useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { api, SubjectType } from '@identity-state/client';
import { useSubjectName } from '../../app/subject-name.ts';
import { SCOPE_NAMES } from '../../text/scopes.ts';
import { TEXT } from '../../text/subjects.ts';
import { Badge } from '../../ui/state.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './subjects.module.css';

export function ownColumns(tenantId: string): readonly Column<api.Subject>[] {
  return [
    {
      title: TEXT.subject,
      isHeader: true,
      cell: ({ subject_type: type, subject_id: id, latest_snapshot: { snapshot_version: version } }) => (
        <>
          <SubjectLink tenantId={tenantId} type={type} id={id} />
          <Name key={version} tenantId={tenantId} type={type} id={id} version={version} />
        </>
      ),
    },
    { title: TEXT.type, cell: ({ subject_type: type }) => <Badge>{TEXT.types[type]}</Badge> },
    {
      title: TEXT.version,
      cell: ({ latest_snapshot: { snapshot_version: version } }) => <span className={styles.number}>{version}</span>,
    },
    { title: TEXT.stateOf, cell: ({ latest_snapshot: { generated_at: at } }) => <Time at={at} dayOnly /> },
    { title: TEXT.written, cell: ({ latest_snapshot: { created_at: at } }) => <Time at={at} /> },
  ];
}

export function grantedColumns(tenantId: string): readonly Column<api.AccessibleSubject>[] {
  return [
    {
      title: TEXT.subject,
      isHeader: true,
      cell: ({ subject_type: type, subject_id: id }) => <SubjectLink tenantId={tenantId} type={type} id={id} />,
    },
    { title: TEXT.type, cell: ({ subject_type: type }) => <Badge>{TEXT.types[type]}</Badge> },
    { title: TEXT.owner, cell: ({ granted_by_tenant_id: owner }) => owner },
    {
      title: TEXT.version,
      cell: ({ latest_snapshot: latest }) => latest?.snapshot_version ?? TEXT.notLatest,
    },
    {
      title: TEXT.mayRead,
      cell: ({ scopes }) => (
        <span className={styles.badges}>
          {scopes.map((scope) => (
            <Badge key={scope}>{SCOPE_NAMES[scope]}</Badge>
          ))}
        </span>
      ),
    },
    { title: TEXT.until, cell: ({ expires_at: end }) => (end === null ? TEXT.noEnd : <Time at={end} dayOnly />) },
  ];
}

export function SubjectLink({ tenantId, type, id }: { tenantId: string; type: SubjectType; id: string }) {
  return (
    <Link
      to="/t/$tenantId/subjects/$subjectType/$subjectId"
      params={{ tenantId, subjectType: type, subjectId: id }}
      className={styles.subject}
    >
      {id}
    </Link>
  );
}

interface Named {
  tenantId: string;
  type: SubjectType;
  id: string;
  version: number;
}

/** Asked for when it comes in sight. */
export function Name({ tenantId, type, id, version }: Named) {
  const place = useRef<HTMLSpanElement>(null);
  const [isInSight, setInSight] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setInSight(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const name = useSubjectName(tenantId, type, id, isInSight ? version : null);
  return (
    <span ref={place} className={styles.name}>
      {name}
    </span>
  );
}
