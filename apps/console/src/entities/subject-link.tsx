import { Link } from '@tanstack/react-router';
import type { SubjectType } from '@identity-state/client';
import { useSubjectName } from './subject-name.ts';
import styles from '../ui/ui.module.css';
import { SUBJECT_VIEW } from '../app/address.ts';

interface SubjectLinkProps {
  tenantId: string;
  type: SubjectType;
  id: string;
  /** The version whose name is shown; null where the caller cannot read it, or it has no content. */
  version: number | null;
  /** The name, if a list has it; else it is read from the version. */
  name?: string | undefined;
  /** The view of the subject that the link opens. */
  view?: '' | '/requests' | '/sharing';
}

/** Names a subject: by its legal name first, then by its id. */
export function SubjectLink({ tenantId, type, id, version, name: known, view = '' }: SubjectLinkProps) {
  const read = useSubjectName(tenantId, type, id, known === undefined ? version : null);
  const name = known ?? read ?? null;
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
