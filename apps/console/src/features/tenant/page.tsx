import type { api } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { type ApiCall, tenantPath, useGet } from '../../app/api.ts';
import { type Route, useMay } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { useFilters } from '../../forms/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Notice } from '../../ui/state.tsx';
import { Tab as TabLink } from '../../ui/tab.tsx';
import ui from '../../ui/ui.module.css';
import { Disclosures } from '../sharing/disclosures.tsx';
import { Audit } from './audit.tsx';
import { Erasures } from './erasures.tsx';
import { Members } from './members.tsx';
import { Offers } from './offers.tsx';
import { Owners } from './owners.tsx';
import { Settings } from './settings.tsx';
import { UsageAndLimits } from './usage.tsx';

type Tab = keyof typeof TEXT.tabs;

interface TabOf {
  /** The operation that the tab needs. */
  readonly route: Route;
  readonly path: string;
  readonly view: (tenant: api.TenantOfMember) => React.ReactNode;
}

const TABS: Readonly<Record<Tab, TabOf>> = {
  members: {
    route: 'GET /v1/tenants/{tenant_id}/principals',
    path: 'principals',
    view: (tenant) => <Members tenant={tenant} />,
  },
  offers: {
    route: 'GET /v1/tenants/{tenant_id}/transfer-offers',
    path: 'transfer-offers',
    view: (tenant) => <Offers tenant={tenant} />,
  },
  settings: {
    route: 'GET /v1/tenants/{tenant_id}',
    path: '',
    view: (tenant) => <Settings key={tenant.tenant_id} tenant={tenant} />,
  },
  usage: {
    route: 'GET /v1/tenants/{tenant_id}/usage',
    path: 'usage',
    view: ({ tenant_id: tenantId }) => <UsageAndLimits tenantId={tenantId} />,
  },
  owners: {
    route: 'GET /v1/tenants/{tenant_id}/owner-history',
    path: 'owner-history',
    view: ({ tenant_id: tenantId }) => <Owners tenantId={tenantId} />,
  },
  audit: {
    route: 'GET /v1/tenants/{tenant_id}/audit',
    path: 'audit',
    view: ({ tenant_id: tenantId }) => <Audit tenantId={tenantId} />,
  },
  disclosures: {
    route: 'GET /v1/tenants/{tenant_id}/disclosures',
    path: 'disclosures',
    view: ({ tenant_id: tenantId }) => <DisclosuresToTenant tenantId={tenantId} />,
  },
  erasures: {
    // The list is read from the audit trail.
    route: 'GET /v1/tenants/{tenant_id}/audit',
    path: 'audit',
    view: ({ tenant_id: tenantId }) => <Erasures tenantId={tenantId} />,
  },
};

function isTab(text: string | undefined): text is Tab {
  return text !== undefined && Object.hasOwn(TABS, text);
}

function DisclosuresToTenant({ tenantId }: { tenantId: string }) {
  const { from, to } = useFilters().search;
  return (
    <Disclosures
      path={tenantPath(tenantId, 'disclosures')}
      readerId={tenantId}
      words={TEXT.disclosures}
      from={from}
      to={to}
    />
  );
}

/** Shows the members, settings, usage and audit trail of a tenant. */
export function TenantView() {
  const tenantId = useTenantId();
  const { show } = useFilters().search;
  const may = useMay(tenantId);
  const tenant = useGet<api.TenantOfMember>(tenantPath(tenantId));
  const current = isTab(show) ? show : 'members';
  const { route, path, view } = TABS[current];
  const call: ApiCall = { method: 'GET', path: tenantPath(tenantId, ...(path === '' ? [] : [path])) };
  // The recipient of an offer sees it, whatever its role.
  const isVisible = may(route) || current === 'offers';
  const tabs = Object.entries(TEXT.tabs).filter(([tab]) => isTab(tab) && (may(TABS[tab].route) || tab === 'offers'));
  return (
    <Page
      title={tenant.data?.name ?? TEXT.title}
      note={tenant.data !== undefined && TEXT.note(tenantId, tenant.data.api_functional_role)}
      call={call}
    >
      <nav className={ui.tabs} aria-label={TEXT.sections}>
        {tabs.map(([tab, label]) => (
          <TabLink
            key={tab}
            from="/t/$tenantId/tenant"
            to="/t/$tenantId/tenant"
            search={tab === 'members' ? {} : { show: tab }}
            isCurrent={tab === current}
          >
            {label}
          </TabLink>
        ))}
      </nav>
      <Answer query={tenant}>{(data) => (isVisible ? view(data) : <Notice>{TEXT.forAdmins}</Notice>)}</Answer>
    </Page>
  );
}
