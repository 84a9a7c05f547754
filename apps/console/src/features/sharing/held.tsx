import { useNavigate, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { tenantPath, useList } from '../../app/api.ts';
import { useMayUseGrants } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { FilterField } from '../../forms/filter-field.tsx';
import { Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { GrantedSubject } from '../subjects/columns.tsx';
import { NoGrantsUsed } from '../subjects/no-grants-used.tsx';
import { Scopes, subjectText, Until } from './grant-table.tsx';
import { namesOf } from './grants.ts';
import styles from './sharing.module.css';

/** Lists the subjects of other tenants that this tenant may read. */
export function Held({ tenantId }: { tenantId: string }) {
  const { find } = useSearch({ from: '/signed-in/t/$tenantId/sharing' });
  const navigate = useNavigate({ from: '/t/$tenantId/sharing' });
  const q = find?.trim() ?? '';
  const mayUse = useMayUseGrants(tenantId);
  const list = useList<api.AccessibleSubject>(
    mayUse === true ? tenantPath(tenantId, 'accessible-subjects') : null,
    q === '' ? {} : { q: q.slice(0, 128) },
  );
  if (mayUse === false) return <NoGrantsUsed />;
  return (
    <>
      <div className={ui.filters}>
        <FilterField
          label={TEXT.heldFind}
          maxLength={128}
          placeholder={TEXT.heldFindHint}
          value={find}
          onChange={(text) => void navigate({ search: (before) => ({ ...before, find: text }), replace: true })}
        />
      </div>
      <ListTable
        caption={TEXT.heldCaption}
        list={list}
        keyOf={({ subject_type: type, subject_id: id }) => `${type}/${id}`}
        empty={
          q === '' ? (
            <Empty title={TEXT.noneHeld}>
              <p>
                {TEXT.noneHeldText} <code>{tenantId}</code>
              </p>
            </Empty>
          ) : (
            <Empty title={TEXT.noneHeldFound} />
          )
        }
        columns={[
          {
            title: TEXT.subject,
            isHeader: true,
            value: subjectText,
            cell: (granted) => <GrantedSubject tenantId={tenantId} granted={granted} />,
          },
          { title: TEXT.owner, value: ({ granted_by_tenant_id: owner }) => owner },
          {
            title: TEXT.mayRead,
            value: ({ scopes }) => namesOf(scopes),
            cell: ({ scopes }) => <Scopes scopes={scopes} />,
          },
          { title: TEXT.until, at: ({ expires_at: end }) => end, cell: ({ expires_at: end }) => <Until at={end} /> },
          {
            title: TEXT.purpose,
            value: ({ purpose }) => purpose,
            cell: ({ purpose }) => purpose ?? <span className={styles.quiet}>{TEXT.noPurpose}</span>,
          },
          {
            title: TEXT.latest,
            value: ({ latest_snapshot: latest }) => latest?.snapshot_version,
            cell: ({ latest_snapshot: latest }) =>
              latest?.snapshot_version ?? <span className={styles.quiet}>{TEXT.notShown}</span>,
          },
        ]}
      />
    </>
  );
}
