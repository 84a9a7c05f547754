import type { api, Path } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useGet } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { keyIn, useFilters } from '../../forms/filters.tsx';
import { Tab as TabLink } from '../../ui/link.tsx';
import { Loaded, Notice, Page } from '../../ui/page.tsx';
import { DisclosureList } from '../sharing/disclosures.tsx';
import ui from '../../ui/ui.module.css';
import { AuditTrail } from './audit.tsx';
import { Attestations, Credentials } from './credentials.tsx';
import { Erasures } from './erasures.tsx';
import { Members } from './members.tsx';
import { Offers } from './offers.tsx';
import { Owners } from './owners.tsx';
import { Settings } from './settings.tsx';
import { UsageAndLimits } from './usage.tsx';
import { TEXT } from './words.ts';

type Tab = keyof typeof TEXT.tabs;

const TENANT = '/v1/tenants/{tenant_id}';
/** The list of each tab, by which the caller's role shows the tab. The erasures are read from the audit trail. */
const LISTS = {
  members: `${TENANT}/principals`,
  offers: `${TENANT}/transfer-offers`,
  settings: TENANT,
  usage: `${TENANT}/usage`,
  owners: `${TENANT}/owner-history`,
  audit: `${TENANT}/audit`,
  disclosures: `${TENANT}/disclosures`,
  erasures: `${TENANT}/audit`,
  credentials: `${TENANT}/credentials`,
  attestations: `${TENANT}/attestations`,
} as const satisfies Record<Tab, Path<'GET'>>;

function Content({ tab, tenant }: { tab: Tab; tenant: api.TenantOfMember }) {
  const { tenant_id: tenantId } = tenant;
  switch (tab) {
    case 'members':
      return <Members tenant={tenant} />;
    case 'offers':
      return <Offers tenant={tenant} />;
    case 'settings':
      return <Settings key={tenantId} tenant={tenant} />;
    case 'usage':
      return <UsageAndLimits tenantId={tenantId} />;
    case 'owners':
      return <Owners tenantId={tenantId} />;
    case 'audit':
      return <AuditTrail tenantId={tenantId} />;
    case 'disclosures':
      return <DisclosuresToTenant tenantId={tenantId} />;
    case 'erasures':
      return <Erasures tenantId={tenantId} />;
    case 'credentials':
      return <Credentials tenantId={tenantId} />;
    case 'attestations':
      return <Attestations tenantId={tenantId} />;
  }
}

function DisclosuresToTenant({ tenantId }: { tenantId: string }) {
  const { from, to } = useFilters().search;
  const query = { from, to, limit: 200 };
  const call = apiCall('GET', '/v1/tenants/{tenant_id}/disclosures', { path: { tenant_id: tenantId }, query });
  return <DisclosureList call={call} readerId={tenantId} words={TEXT.disclosures} />;
}

/** Shows the members, settings, usage and audit trail of a tenant. */
export function TenantView() {
  const tenantId = useTenantId();
  const { show } = useFilters().search;
  const may = useMay(tenantId);
  const path = { tenant_id: tenantId };
  const tenant = useGet(apiCall('GET', TENANT, { path }));
  const current = keyIn(TEXT.tabs, show) ?? 'members';
  // The recipient of an offer sees it, whatever its role.
  const isOpen = (tab: Tab): boolean => may(`GET ${LISTS[tab]}`) || tab === 'offers';
  return (
    <Page
      title={tenant.data?.name ?? TEXT.title}
      note={tenant.data !== undefined && TEXT.note(tenantId, tenant.data.api_functional_role)}
      call={apiCall('GET', LISTS[current], { path })}
    >
      <nav className={ui.tabs} aria-label={TEXT.sections}>
        {Object.entries(TEXT.tabs).map(
          ([name, label]) =>
            isOpen(keyIn(TEXT.tabs, name) ?? 'members') && (
              <TabLink
                key={name}
                from="/t/$tenantId/tenant"
                to="/t/$tenantId/tenant"
                search={name === 'members' ? {} : { show: name }}
                isCurrent={name === current}
              >
                {label}
              </TabLink>
            ),
        )}
      </nav>
      <Loaded query={tenant}>
        {(data) => (isOpen(current) ? <Content tab={current} tenant={data} /> : <Notice>{TEXT.forAdmins}</Notice>)}
      </Loaded>
    </Page>
  );
}
