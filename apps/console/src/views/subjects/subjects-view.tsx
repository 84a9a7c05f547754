import { Link, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { tenantPath, useList } from '../../app/api.ts';
import { TEXT } from '../../text/subjects.ts';
import { Page } from '../../ui/page.tsx';
import { Badge, Empty } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** What the tenant owns, or may read of others. */
export function SubjectsView() {
  const tenantId = useTenantId();
  const { find } = useSearch({ from: '/signed-in/t/$tenantId/subjects' });
  const path = tenantPath(tenantId, 'subjects');
  const query = find === undefined ? {} : { q: find };
  const list = useList<api.Subject>(path, query);
  return (
    <Page title={TEXT.title} call={{ method: 'GET', path, query }}>
      <ListTable
        caption={TEXT.caption}
        list={list}
        keyOf={({ subject_type: type, subject_id: id }) => `${type}/${id}`}
        empty={
          <Empty title={TEXT.none}>
            <p>{TEXT.noneText}</p>
          </Empty>
        }
        columns={[
          {
            title: TEXT.subject,
            isHeader: true,
            cell: ({ subject_type: subjectType, subject_id: subjectId }) => (
              <Link to="/t/$tenantId/subjects/$subjectType/$subjectId" params={{ tenantId, subjectType, subjectId }}>
                {subjectId}
              </Link>
            ),
          },
          { title: TEXT.type, cell: ({ subject_type: type }) => <Badge>{type}</Badge> },
          { title: TEXT.version, cell: ({ latest_snapshot: { snapshot_version: version } }) => version },
          { title: TEXT.written, cell: ({ latest_snapshot: { created_at: at } }) => <Time at={at} /> },
        ]}
      />
    </Page>
  );
}
