import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from '@tanstack/react-router';
import { BASE } from '../app/settings.ts';
import { Broken, NotFound, SignedIn, Start } from './start.tsx';
import { Shell, TenantFrame } from './shell.tsx';

/** Returns a validator of query parameters that keeps the named texts. */
function texts<const Names extends readonly string[]>(...names: Names) {
  return (search: Record<string, unknown>): { [Name in Names[number]]?: string } => {
    const known: { [Name in Names[number]]?: string } = {};
    for (const name of names as readonly Names[number][]) {
      const value = search[name];
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        known[name] = String(value);
    }
    return known;
  };
}

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Broken });
const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });
const start = createRoute({ getParentRoute: () => signedIn, path: '/', component: Start });
/** Needs no sign-in: a bundle is verified without the service. */
const verify = createRoute({
  getParentRoute: () => root,
  path: '/verify',
  component: lazyRouteComponent(() => import('../features/verify/verify-view.tsx'), 'VerifyView'),
});
/** Needs no sign-in: the log is public. */
const openLog = createRoute({
  getParentRoute: () => root,
  path: '/log',
  component: lazyRouteComponent(() => import('../features/log/log-view.tsx'), 'OpenLogView'),
});
const tenants = createRoute({
  getParentRoute: () => signedIn,
  path: '/tenants',
  component: lazyRouteComponent(() => import('../features/tenants/page.tsx'), 'TenantsView'),
});
const tenant = createRoute({ getParentRoute: () => signedIn, path: '/t/$tenantId', component: TenantFrame });

const subjects = createRoute({
  getParentRoute: () => tenant,
  path: '/subjects',
  validateSearch: texts('find', 'of', 'type', 'evidence'),
  component: lazyRouteComponent(() => import('../features/subjects/page.tsx'), 'SubjectsView'),
});
const subject = createRoute({
  getParentRoute: () => tenant,
  path: '/subjects/$subjectType/$subjectId',
  component: lazyRouteComponent(() => import('../features/subject/subject-frame.tsx'), 'SubjectFrame'),
});
const attributes = createRoute({
  getParentRoute: () => subject,
  path: '/',
  validateSearch: texts('version', 'as_of', 'basis', 'find', 'status', 'show'),
  component: lazyRouteComponent(() => import('../features/subject/attributes-view.tsx'), 'AttributesView'),
});
const timeline = createRoute({
  getParentRoute: () => subject,
  path: '/timeline',
  validateSearch: texts('from', 'to', 'basis'),
  component: lazyRouteComponent(() => import('../features/timeline/timeline-view.tsx'), 'TimelineView'),
});
const compare = createRoute({
  getParentRoute: () => subject,
  path: '/compare',
  validateSearch: texts('from', 'to', 'since', 'basis', 'show'),
  component: lazyRouteComponent(() => import('../features/compare/compare-view.tsx'), 'CompareView'),
});
const proof = createRoute({
  getParentRoute: () => subject,
  path: '/proof',
  validateSearch: texts('version'),
  component: lazyRouteComponent(() => import('../features/proof/proof-view.tsx'), 'ProofView'),
});
const subjectProposals = createRoute({
  getParentRoute: () => subject,
  path: '/proposals',
  validateSearch: texts('status'),
  component: lazyRouteComponent(() => import('../features/proposals/proposals-view.tsx'), 'SubjectProposalsView'),
});
const newProposal = createRoute({
  getParentRoute: () => subject,
  path: '/proposals/new',
  validateSearch: texts('as', 'path'),
  component: lazyRouteComponent(() => import('../features/proposals/new-proposal-view.tsx'), 'NewProposalView'),
});
const proposal = createRoute({
  getParentRoute: () => subject,
  path: '/proposals/$updateId',
  component: lazyRouteComponent(() => import('../features/proposals/proposal-view.tsx'), 'ProposalView'),
});
const subjectSharing = createRoute({
  getParentRoute: () => subject,
  path: '/sharing',
  validateSearch: texts('at', 'from', 'to', 'grantee'),
  component: lazyRouteComponent(() => import('../features/sharing/subject-page.tsx'), 'SubjectSharingView'),
});
const subjectRequests = createRoute({
  getParentRoute: () => subject,
  path: '/requests',
  validateSearch: texts('ask', 'path'),
  component: lazyRouteComponent(() => import('../features/requests/page.tsx'), 'SubjectRequestsView'),
});
const proposals = createRoute({
  getParentRoute: () => tenant,
  path: '/proposals',
  validateSearch: texts('status'),
  component: lazyRouteComponent(() => import('../features/proposals/proposals-view.tsx'), 'ProposalsView'),
});
const sharing = createRoute({
  getParentRoute: () => tenant,
  path: '/sharing',
  validateSearch: texts('show', 'status', 'grantee', 'on', 'find'),
  component: lazyRouteComponent(() => import('../features/sharing/page.tsx'), 'SharingView'),
});
const requests = createRoute({
  getParentRoute: () => tenant,
  path: '/requests',
  validateSearch: texts('direction', 'status', 'type'),
  component: lazyRouteComponent(() => import('../features/requests/page.tsx'), 'RequestsView'),
});
const webhooks = createRoute({
  getParentRoute: () => tenant,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../features/webhooks/page.tsx'), 'WebhooksView'),
});
const webhook = createRoute({
  getParentRoute: () => tenant,
  path: '/webhooks/$subscriptionId',
  validateSearch: texts('status', 'type', 'from', 'to', 'delivery'),
  component: lazyRouteComponent(() => import('../features/webhooks/webhook-page.tsx'), 'WebhookView'),
});
const tenantView = createRoute({
  getParentRoute: () => tenant,
  path: '/tenant',
  validateSearch: texts('show', 'status', 'action', 'principal', 'from', 'to'),
  component: lazyRouteComponent(() => import('../features/tenant/page.tsx'), 'TenantView'),
});
const log = createRoute({
  getParentRoute: () => tenant,
  path: '/log',
  component: lazyRouteComponent(() => import('../features/log/log-view.tsx'), 'LogView'),
});

const tree = root.addChildren([
  verify,
  openLog,
  signedIn.addChildren([
    start,
    tenants,
    tenant.addChildren([
      subjects,
      subject.addChildren([
        attributes,
        timeline,
        compare,
        proof,
        subjectProposals,
        newProposal,
        proposal,
        subjectSharing,
        subjectRequests,
      ]),
      proposals,
      sharing,
      requests,
      webhooks,
      webhook,
      tenantView,
      log,
    ]),
  ]),
]);

/** Makes a router over all views. It uses the browser's history by default. */
export function makeRouter(history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    basepath: BASE,
    defaultPreload: 'intent',
    scrollRestoration: true,
    ...(history === undefined ? {} : { history }),
    // Writes `?version=3` instead of `?version=%223%22`.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(search))
        if (typeof value === 'string' && value !== '') parameters.set(name, value);
      return parameters.size === 0 ? '' : `?${parameters}`;
    },
  });
}

/** The router of all views. The address contains the state of a view, so that users can share it and go back to it. */
export const router = makeRouter();

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
