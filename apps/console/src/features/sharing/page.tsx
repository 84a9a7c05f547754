import { useNavigate } from '@tanstack/react-router';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useWholeList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { GRANT, type GrantStatus, hasStatus, isOnAll, MOST_GRANTS } from '../../entities/grant.tsx';
import { ChoiceFilter, Filters, TextFilter, useFilters } from '../../forms/filters.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Button } from '../../ui/button.tsx';
import { Tab } from '../../ui/link.tsx';
import { Empty, Loading, Page, Problem } from '../../ui/page.tsx';
import { More } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { GrantTable } from './grant-table.tsx';
import { Held } from './held.tsx';
import { MakeGrants } from './make/make-grants.tsx';
import { PendingGrants } from './pending-grants.tsx';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

const GRANTS = '/v1/tenants/{tenant_id}/grants';
const ADDRESS = '/t/$tenantId/sharing';
const STATUSES: readonly GrantStatus[] = ['live', 'scheduled', 'expiring', 'expired', 'revoked'];

/** Shows the grants that the tenant issued, and the subjects that others share with it. */
export function SharingView() {
  const tenantId = useTenantId();
  const isHeld = useFilters().search['show'] === 'held';
  const may = useMay(tenantId);
  const path = { tenant_id: tenantId };
  return (
    <Page
      title={TEXT.title}
      note={TEXT.note}
      call={
        isHeld
          ? apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', { path })
          : apiCall('GET', GRANTS, { path })
      }
      actions={
        may('POST /v1/tenants/{tenant_id}/grants') && (
          <DialogButton kind="primary" label={TEXT.grant}>
            {(close) => <MakeGrants tenantId={tenantId} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <nav className={ui.tabs} aria-label={TEXT.tabs}>
        <Tab from={ADDRESS} to={ADDRESS} search={{}} isCurrent={!isHeld}>
          {TEXT.issued}
        </Tab>
        <Tab from={ADDRESS} to={ADDRESS} search={{ show: 'held' }} isCurrent={isHeld}>
          {TEXT.held}
        </Tab>
      </nav>
      {!isHeld && may('GET /v1/tenants/{tenant_id}/pending-grants') && <PendingGrants tenantId={tenantId} />}
      {isHeld ? <Held tenantId={tenantId} /> : <Issued tenantId={tenantId} />}
    </Page>
  );
}

function Issued({ tenantId }: { tenantId: string }) {
  const { status, grantee = '', on, find = '' } = useFilters().search;
  const navigate = useNavigate({ from: ADDRESS });
  const may = useMay(tenantId);
  const list = useWholeList(
    apiCall('GET', GRANTS, { path: { tenant_id: tenantId }, query: { limit: 100 } }),
    MOST_GRANTS,
  );
  const { items } = list;
  const fits = items.filter(
    (grant) =>
      hasStatus(grant, status) &&
      grant.grantee_tenant_id.startsWith(grantee) &&
      (on === undefined || isOnAll(grant) === (on === 'all')) &&
      grant.subject_id.toLowerCase().includes(find.toLowerCase()),
  );
  if (list.isPending && list.error === null) return <Loading />;
  if (items.length === 0 && list.error === null) {
    const text = may('POST /v1/tenants/{tenant_id}/grants') ? TEXT.noGrantsText : TEXT.noGrantsReader;
    return <Empty title={TEXT.noGrants} text={text} />;
  }
  return (
    <>
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      <nav className={styles.summary} aria-label={TEXT.summary}>
        {STATUSES.map((one) => (
          <Tab
            key={one}
            from={ADDRESS}
            to={ADDRESS}
            search={(before) => ({ ...before, status: status === one ? '' : one })}
            isPlain
            isCurrent={status === one}
          >
            <strong>{TEXT.count(items.filter((grant) => hasStatus(grant, one)).length, list.isWhole)}</strong>
            <span>{GRANT.statuses[one]}</span>
          </Tab>
        ))}
      </nav>
      <Filters>
        <ChoiceFilter name="status" label={GRANT.status} options={{ '': TEXT.any, ...GRANT.statuses }} />
        <ChoiceFilter name="on" label={TEXT.on} options={{ '': TEXT.any, all: TEXT.onAll, one: TEXT.onOne }} />
        <TextFilter name="grantee" label={GRANT.grantee} placeholder={TEXT.granteeHint} />
        <TextFilter name="find" label={TEXT.find} placeholder={TEXT.findHint} />
      </Filters>
      {!list.isWhole && <p className={ui.quiet}>{TEXT.notWhole(items.length)}</p>}
      {fits.length === 0 ? (
        <Empty title={TEXT.noneFits}>
          <Button small onClick={() => void navigate({ search: {} })}>
            {TEXT.clear}
          </Button>
          <More list={list} />
        </Empty>
      ) : (
        <GrantTable tenantId={tenantId} grants={fits} list={list} caption={TEXT.caption} />
      )}
    </>
  );
}
