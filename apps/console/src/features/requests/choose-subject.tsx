import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { apiCall, useList } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Loading, Problem } from '../../ui/page.tsx';
import { More } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

/** Chooses one of the subjects that are shared with the tenant. */
export function ChooseSubject({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const [find, setFind] = useState('');
  const wanted = find.trim();
  const list = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', {
      path: { tenant_id: tenantId },
      query: { q: wanted === '' ? undefined : wanted },
    }),
  );
  return (
    <Dialog title={TEXT.chooseSubject} onClose={onClose}>
      <p>{TEXT.chooseSubjectNote}</p>
      <TextField
        label={TEXT.findShared}
        hint={TEXT.findSharedHint}
        value={find}
        autoFocus
        onChange={(event) => setFind(event.target.value)}
      />
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading />}
      {list.data !== undefined && list.items.length === 0 && (
        <Empty title={TEXT.noneShared} text={TEXT.noneSharedText} />
      )}
      <ul className={styles.choices}>
        {list.items.map(({ subject_type: subjectType, subject_id: subjectId, granted_by_tenant_id: by }) => (
          <li key={`${subjectType}/${subjectId}`}>
            <Link
              to="/t/$tenantId/subjects/$subjectType/$subjectId/requests"
              params={{ tenantId, subjectType, subjectId }}
              search={{ ask: 'yes' }}
            >
              {subjectId}
            </Link>{' '}
            <span className={styles.quiet}>{by}</span>
          </li>
        ))}
      </ul>
      <More list={list} />
    </Dialog>
  );
}
