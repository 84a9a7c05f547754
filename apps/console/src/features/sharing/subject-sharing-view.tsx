import { memo, useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { type SubjectAddress, useSubject } from '../../app/address.ts';
import { tenantPath, useGet, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { useWholeList } from '../../app/whole-list.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { FilterField } from '../../forms/filter-field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Answer, Empty, Loading, Notice } from '../../ui/state.tsx';
import { ListTable, Table } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { Access } from './access.tsx';
import {
  type Disclosure,
  disclosureColumns,
  DisclosurePlot,
  keyOfDisclosure,
  MOST_DISCLOSURES,
} from './disclosures.tsx';
import { GrantTable, Scopes, Until } from './grant-table.tsx';
import { type Grant, isOnAll, MOST_GRANTS, namesOf, statusOf } from './grants.ts';
import { MakeGrants } from './make-grants.tsx';
import styles from './sharing.module.css';

const ROUTE = '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/sharing';

/** Shows which other tenants may read a subject, could read it at any moment, and have read it. */
export function SubjectSharingView() {
  const subject = useSubject();
  const { tenantId, path } = subject;
  const owners = useGet<api.OwnershipPage>(`${path}/owners`);
  const may = useMay(tenantId);
  const [isMaking, setMaking] = useState(false);
  const owner = owners.data?.items[0]?.owner_tenant_id;
  const isOwn = owner === tenantId;
  return (
    <Page
      title={TEXT.subjectTitle}
      note={TEXT.subjectNote(subject.subjectId)}
      call={{ method: 'GET', path: `${path}/${isOwn || owner === undefined ? 'grants' : 'owners'}` }}
      actions={
        isOwn &&
        may('POST /v1/tenants/{tenant_id}/grants') && (
          <Button kind="primary" onClick={() => setMaking(true)}>
            {TEXT.grant}
          </Button>
        )
      }
    >
      <Answer query={owners}>
        {() => (isOwn ? <Own subject={subject} /> : <Foreign subject={subject} owner={owner ?? ''} />)}
      </Answer>
      {isMaking && (
        <MakeGrants
          tenantId={tenantId}
          subject={`${subject.subjectType}/${subject.subjectId}`}
          changes={[tenantPath(tenantId)]}
          onClose={() => setMaking(false)}
        />
      )}
    </Page>
  );
}

function Own({ subject }: { subject: SubjectAddress }) {
  const { at } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/t/$tenantId/subjects/$subjectType/$subjectId/sharing' });
  const may = useMay(subject.tenantId);
  const isAdmin = may('GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/access-history');
  return (
    <>
      <Who subject={subject} isAdmin={isAdmin} />
      {isAdmin ? (
        <>
          <Access
            tenantId={subject.tenantId}
            path={subject.path}
            at={at}
            onMove={(moment) =>
              void navigate({
                search: (before) => ({ ...before, at: moment ?? '' }),
                replace: true,
                resetScroll: false,
              })
            }
          />
          <Did path={subject.path} />
        </>
      ) : (
        <Notice>{TEXT.adminOnly}</Notice>
      )}
    </>
  );
}

/** Lists the grants on a subject, live ones first. */
function Who({ subject, isAdmin }: { subject: SubjectAddress; isAdmin: boolean }) {
  const { tenantId, subjectType, subjectId } = subject;
  const [isAll, setAll] = useState(false);
  const list = useWholeList<Grant>(
    isAdmin ? `${subject.path}/grants` : tenantPath(tenantId, 'grants'),
    isAdmin ? { limit: MOST_GRANTS } : { subject_type: subjectType, subject_id: subjectId, limit: 100 },
    MOST_GRANTS,
  );
  const onAll = useWholeList<Grant>(
    isAdmin ? null : tenantPath(tenantId, 'grants'),
    { subject_type: '*', limit: 100 },
    MOST_GRANTS,
  );
  const grants = isAdmin ? list.items : [...onAll.items.filter(isOnAll), ...list.items];
  const live = grants.filter(({ status }) => status === 'active');
  const over = grants.filter(({ status }) => status !== 'active');
  const shown = isAll ? [...live, ...over] : live;
  return (
    <Section
      title={TEXT.who}
      actions={
        over.length > 0 && (
          <label className={ui.choice}>
            <input type="checkbox" checked={isAll} onChange={() => setAll(!isAll)} />
            <span>{TEXT.over(over.length)}</span>
          </label>
        )
      }
    >
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading />}
      {list.data !== undefined && (
        <>
          <p>
            {TEXT.whoSummary(live.length, live.filter((grant) => statusOf(grant) === 'expiring').length, list.isWhole)}
          </p>
          {!list.isWhole && <p className={styles.quiet}>{TEXT.notWhole(list.items.length)}</p>}
          {shown.length > 0 && (
            <GrantTable
              tenantId={tenantId}
              grants={shown}
              list={list}
              caption={TEXT.subjectCaption}
              changes={[tenantPath(tenantId)]}
            />
          )}
          {grants.length === 0 && (
            <Empty title={TEXT.noneOn}>
              <p>{TEXT.noneOnText}</p>
            </Empty>
          )}
        </>
      )}
    </Section>
  );
}

/** Lists the disclosures of a subject. Memoized, since the slider above changes the address. */
const Did = memo(function Did({ path }: { path: string }) {
  const from = useSearch({ from: ROUTE, select: (search) => search.from });
  const to = useSearch({ from: ROUTE, select: (search) => search.to });
  const grantee = useSearch({ from: ROUTE, select: (search) => search.grantee });
  const navigate = useNavigate({ from: '/t/$tenantId/subjects/$subjectType/$subjectId/sharing' });
  const query = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(grantee === undefined || grantee === '' ? {} : { grantee_tenant_id: grantee }),
    limit: 200,
  };
  const list = useWholeList<Disclosure>(`${path}/disclosures`, query, MOST_DISCLOSURES);
  const set = (change: { from?: string; to?: string; grantee?: string }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const isFiltered = Object.keys(query).length > 1;
  return (
    <Section title={TEXT.did}>
      <div className={styles.stack}>
        <p className={styles.quiet}>{TEXT.didText}</p>
        <div className={ui.filters}>
          <FilterField type="date" label={TEXT.fromDay} value={from} onChange={(day) => set({ from: day })} />
          <FilterField type="date" label={TEXT.toDay} value={to} onChange={(day) => set({ to: day })} />
          <FilterField label={TEXT.grantee} value={grantee} onChange={(tenant) => set({ grantee: tenant })} />
        </div>
        {list.items.length > 0 && <DisclosurePlot items={list.items} isWhole={list.isWhole} />}
        <ListTable
          caption={TEXT.disclosuresCaption}
          list={list}
          keyOf={keyOfDisclosure}
          columns={disclosureColumns('subject')}
          empty={
            <Empty title={isFiltered ? TEXT.noDisclosuresFiltered : TEXT.noDisclosures}>
              {!isFiltered && <p>{TEXT.noDisclosuresText}</p>}
            </Empty>
          }
        />
      </div>
    </Section>
  );
});

/** Shows this tenant's access to a subject of another tenant. */
function Foreign({ subject, owner }: { subject: SubjectAddress; owner: string }) {
  const { tenantId, subjectType, subjectId } = subject;
  const list = useList<api.AccessibleSubject>(tenantPath(tenantId, 'accessible-subjects'), {
    subject_type: subjectType,
    subject_id: subjectId,
  });
  const held = list.items;
  return (
    <Section title={TEXT.ours}>
      <p>{TEXT.foreign(owner)}</p>
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading />}
      {held.length > 0 && (
        <Table
          caption={TEXT.ours}
          items={held}
          keyOf={({ grant_id: id }) => id}
          columns={[
            { title: TEXT.owner, isHeader: true, value: ({ granted_by_tenant_id: by }) => by },
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
          ]}
        />
      )}
      {held.length === 0 && list.data !== undefined && <p className={styles.quiet}>{TEXT.oursNone}</p>}
    </Section>
  );
}
