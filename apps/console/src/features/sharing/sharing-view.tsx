import { useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTenantId } from '../../app/address.ts';
import { tenantPath } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { useWholeList } from '../../app/whole-list.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { FilterField } from '../../forms/filter-field.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Empty, Loading } from '../../ui/state.tsx';
import { Tab } from '../../ui/tab.tsx';
import ui from '../../ui/ui.module.css';
import { More } from '../../ui/table/table.tsx';
import { GrantTable } from './grant-table.tsx';
import { type Grant, type GrantStatus, hasStatus, isOnAll, MOST_GRANTS } from './grants.ts';
import { Held } from './held.tsx';
import { MakeGrants } from './make-grants.tsx';
import { PendingGrants } from './pending-grants.tsx';
import styles from './sharing.module.css';

const ROUTE = '/signed-in/t/$tenantId/sharing';
const STATUSES: readonly GrantStatus[] = ['live', 'expiring', 'expired', 'revoked'];

/** Shows the grants that the tenant issued, and the subjects that others share with it. */
export function SharingView() {
  const tenantId = useTenantId();
  const { show } = useSearch({ from: ROUTE });
  const may = useMay(tenantId);
  const [isMaking, setMaking] = useState(false);
  const path = tenantPath(tenantId, show === 'held' ? 'accessible-subjects' : 'grants');
  return (
    <Page
      title={TEXT.title}
      note={TEXT.note}
      call={{ method: 'GET', path }}
      actions={
        may('POST /v1/tenants/{tenant_id}/grants') && (
          <Button kind="primary" onClick={() => setMaking(true)}>
            {TEXT.grant}
          </Button>
        )
      }
    >
      <nav className={ui.tabs} aria-label={TEXT.tabs}>
        {([undefined, 'held'] as const).map((tab) => (
          <Tab
            key={tab ?? ''}
            from="/t/$tenantId/sharing"
            to="/t/$tenantId/sharing"
            search={tab === undefined ? {} : { show: tab }}
            isCurrent={(show === 'held') === (tab === 'held')}
          >
            {tab === 'held' ? TEXT.held : TEXT.issued}
          </Tab>
        ))}
      </nav>
      {show !== 'held' && may('GET /v1/tenants/{tenant_id}/pending-grants') && <PendingGrants tenantId={tenantId} />}
      {show === 'held' ? <Held tenantId={tenantId} /> : <Issued tenantId={tenantId} />}
      {isMaking && <MakeGrants tenantId={tenantId} changes={[tenantPath(tenantId)]} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function Issued({ tenantId }: { tenantId: string }) {
  const search = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/t/$tenantId/sharing' });
  const may = useMay(tenantId);
  const list = useWholeList<Grant>(tenantPath(tenantId, 'grants'), { limit: 100 }, MOST_GRANTS);
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const { items } = list;
  const fits = items.filter(
    (grant) =>
      hasStatus(grant, search.status) &&
      grant.grantee_tenant_id.startsWith(search.grantee ?? '') &&
      (search.on === undefined || isOnAll(grant) === (search.on === 'all')) &&
      (search.find === undefined || grant.subject_id.toLowerCase().includes(search.find.toLowerCase())),
  );
  if (list.isPending && list.error === null) return <Loading />;
  if (items.length === 0 && list.error === null) {
    return (
      <Empty title={TEXT.noGrants}>
        <p>{may('POST /v1/tenants/{tenant_id}/grants') ? TEXT.noGrantsText : TEXT.noGrantsReader}</p>
      </Empty>
    );
  }
  return (
    <>
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      <nav className={styles.summary} aria-label={TEXT.summary}>
        {STATUSES.map((status) => (
          <Tab
            key={status}
            from="/t/$tenantId/sharing"
            to="/t/$tenantId/sharing"
            search={(before) => ({ ...before, status: search.status === status ? '' : status })}
            className={styles.figure}
            isCurrent={search.status === status}
          >
            <strong>{TEXT.count(items.filter((grant) => hasStatus(grant, status)).length, list.isWhole)}</strong>
            <span>{TEXT.statuses[status]}</span>
          </Tab>
        ))}
      </nav>
      <div className={ui.filters}>
        <Select
          label={TEXT.status}
          value={search.status ?? ''}
          options={[
            { value: '', label: TEXT.any },
            ...STATUSES.map((value) => ({ value, label: TEXT.statuses[value] })),
          ]}
          onChange={(event) => set({ status: event.target.value })}
        />
        <Select
          label={TEXT.on}
          value={search.on ?? ''}
          options={[
            { value: '', label: TEXT.any },
            { value: 'all', label: TEXT.onAll },
            { value: 'one', label: TEXT.onOne },
          ]}
          onChange={(event) => set({ on: event.target.value })}
        />
        <FilterField
          label={TEXT.grantee}
          placeholder={TEXT.granteeHint}
          value={search.grantee}
          onChange={(grantee) => set({ grantee })}
        />
        <FilterField
          label={TEXT.find}
          placeholder={TEXT.findHint}
          value={search.find}
          onChange={(text) => set({ find: text })}
        />
      </div>
      {!list.isWhole && <p className={styles.quiet}>{TEXT.notWhole(items.length)}</p>}
      {fits.length === 0 ? (
        <Empty title={TEXT.noneFits}>
          <Button small onClick={() => void navigate({ search: {} })}>
            {TEXT.clear}
          </Button>
          <More list={list} />
        </Empty>
      ) : (
        <GrantTable
          tenantId={tenantId}
          grants={fits}
          list={list}
          caption={TEXT.caption}
          changes={[tenantPath(tenantId)]}
        />
      )}
    </>
  );
}
