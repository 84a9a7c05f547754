import { IdentityState, type Tenant } from '../src/index.ts';
import { BASE_URL } from './fake-service.ts';

/** The minimal answers, which contain the sent values. */
const request = {
  refresh_request_id: 'r',
  subject: { subject_type: 'individual', subject_id: 'jane doe' },
  requested_paths: [],
};
const answer = {
  items: [],
  next_cursor: null,
  tenant_id: 'a',
  grant_id: 'g',
  scopes: [],
  update_id: 'u',
  ops: [],
  snapshot_id: 's',
  snapshot_version: 2,
  refresh_request: request,
  webhook_subscription: { subscription_id: 'w', event_types: ['grant.created'] },
  secret: 'whsec_',
  delivery_id: 'd',
  attempts: [],
  payload: {},
  principal_id: 'oidc:p#alice',
  count: 0,
  has_more: false,
};
/** Members that replace those of the answer. */
let bent: object = {};

/** The requests of the client: method, path with query, and body. */
const asked: [request: string, body: unknown][] = [];
const fetch: typeof globalThis.fetch = async (input, init) => {
  const { pathname, search } = new URL(String(input));
  const body: unknown = init?.body === undefined ? null : JSON.parse(String(init.body));
  asked.push([`${init?.method} ${pathname}${search}`, body]);
  return Response.json({ ...answer, ...Object(body), ...bent });
};
const iss = new IdentityState({ baseUrl: `${BASE_URL}/prefix/`, fetch });
const tenant: Tenant = iss.tenant('acme/1');
const subject = tenant.individual('jane doe');
const drain = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const item of items) void item;
};

const T = '/prefix/v1/tenants/acme%2F1';
const S = `${T}/subjects/individual/jane%20doe`;
const R = '/prefix/v1/subjects/individual/jane%20doe/refresh-requests';
const W = '/prefix/v1/webhook-subscriptions';

beforeEach(() => {
  asked.length = 0;
  bent = {};
});

it.each<[string, () => Promise<unknown>, string, unknown?]>([
  ['tenants', () => drain(iss.tenants()), 'GET /prefix/v1/tenants'],
  ['invitations', () => drain(iss.invitations()), 'GET /prefix/v1/invitations'],
  ['blockedTenants', () => drain(iss.blockedTenants()), 'GET /prefix/v1/blocked-tenants'],
  ['membership.accept', () => tenant.membership.accept(), `POST ${T}/membership/accept`],
  ['membership.leave', () => tenant.membership.leave(), `POST ${T}/membership/leave`],
  ['membership.block', () => tenant.membership.block(), `PUT ${T}/membership/block`],
  ['membership.unblock', () => tenant.membership.unblock(), `DELETE ${T}/membership/block`],
  [
    'createTenant',
    () => iss.createTenant({ tenant_id: 'a', name: 'A' }),
    'POST /prefix/v1/tenants',
    { tenant_id: 'a', name: 'A' },
  ],
  [
    'subjects',
    () => drain(tenant.subjects({ q: 'Jä', evidence: 'missing' })),
    `GET ${T}/subjects?q=J%C3%A4&evidence=missing`,
  ],
  [
    'accessibleSubjects',
    () => drain(tenant.accessibleSubjects({ subject_type: 'entity', subject_id: 'b' })),
    `GET ${T}/accessible-subjects?subject_type=entity&subject_id=b`,
  ],
  [
    'refreshRequests',
    () => drain(tenant.refreshRequests({ direction: 'incoming', overdue: 'true' })),
    `GET ${T}/refresh-requests?direction=incoming&overdue=true`,
  ],
  ['grants.list', () => drain(tenant.grants.list({ status: 'active' })), `GET ${T}/grants?status=active`],
  ['grants.get', () => tenant.grants.get('g'), `GET ${T}/grants/g`],
  ['grants.received', () => drain(tenant.grants.received()), `GET ${T}/grants?direction=received`],
  ['grants.offered', () => drain(tenant.grants.offered()), `GET ${T}/grants?direction=offered`],
  ['grants.accept', () => tenant.grants.accept('g'), `POST ${T}/grants/g/accept`],
  ['grants.revoke', () => tenant.grants.revoke('g'), `POST ${T}/grants/g/revoke`],
  ['pendingGrants.list', () => drain(tenant.pendingGrants.list()), `GET ${T}/pending-grants`],
  ['pendingGrants.confirm', () => tenant.pendingGrants.confirm('g'), `POST ${T}/pending-grants/g/confirm`],
  ['pendingGrants.cancel', () => tenant.pendingGrants.cancel('g'), `POST ${T}/pending-grants/g/cancel`],
  [
    'grants.change',
    () => tenant.grants.change('g', { scopes: ['read_latest'] }),
    `PATCH ${T}/grants/g`,
    { scopes: ['read_latest'] },
  ],
  ['grants.createMany', () => tenant.grants.createMany([]), `POST ${T}/grants/batch`, { grants: [] }],
  [
    'share',
    () => subject.share({ grantee_tenant_id: 'b', scopes: ['read_diff'] }),
    `POST ${T}/grants`,
    { grantee_tenant_id: 'b', scopes: ['read_diff'], subject_type: 'individual', subject_id: 'jane doe' },
  ],
  [
    'subject.disclosures',
    () => drain(subject.disclosures({ via: 'diff', grantee_tenant_id: 'b' })),
    `GET ${S}/disclosures?via=diff&grantee_tenant_id=b`,
  ],
  ['subject.grants', () => drain(subject.grants()), `GET ${S}/grants`],
  ['accessHistory', () => drain(subject.accessHistory()), `GET ${S}/access-history`],
  ['updates', () => drain(subject.updates({ status: 'proposed' })), `GET ${S}/updates?status=proposed`],
  ['update', () => subject.update('u'), `GET ${S}/updates/u`],
  ['apply', () => subject.apply('u'), `POST ${S}/updates/u/apply`],
  ['withdraw', () => subject.withdraw('u'), `POST ${S}/updates/u/withdraw`],
  ['diff', () => subject.diff({ from: 1, to: 2 }), `GET ${S}/diff?from_version=1&to_version=2`],
  [
    'provenance',
    () => drain(subject.provenance({ path: '/a', version: 2, evidence_status: 'carried' })),
    `GET ${S}/provenance?path=%2Fa&version=2&evidence_status=carried`,
  ],
  [
    'refreshRequests.create',
    () => subject.refreshRequests.create({ requesting_tenant_id: 'b' }),
    `POST ${R}`,
    { requesting_tenant_id: 'b' },
  ],
  ['refreshRequests.list', () => drain(subject.refreshRequests.list()), `GET ${R}`],
  ['refreshRequests.get', () => subject.refreshRequests.get('r'), `GET ${R}/r`],
  ['fulfil', () => subject.refreshRequests.fulfil('r', 's'), `POST ${R}/r/fulfill`, { resolved_snapshot_id: 's' }],
  ['cancel', () => subject.refreshRequests.cancel('r'), `POST ${R}/r/cancel`],
  ['webhooks.list', () => drain(tenant.webhooks.list()), `GET ${W}?tenant_id=acme%2F1`],
  [
    'webhooks.create',
    () => tenant.webhooks.create({ target_url: 'https://h.example', event_types: ['grant.created'] }),
    `POST ${W}`,
    { tenant_id: 'acme/1', target_url: 'https://h.example', event_types: ['grant.created'] },
  ],
  ['webhooks.get', () => tenant.webhooks.get('w'), `GET ${W}/w`],
  [
    'webhooks.update',
    () => tenant.webhooks.update('w', { status: 'disabled' }),
    `PATCH ${W}/w`,
    { status: 'disabled' },
  ],
  ['webhooks.delete', () => tenant.webhooks.delete('w'), `DELETE ${W}/w`],
  ['webhooks.rotateSecret', () => tenant.webhooks.rotateSecret('w'), `POST ${W}/w/rotate-secret`, {}],
  [
    'webhooks.deliveries',
    () => drain(tenant.webhooks.deliveries('w', { status: 'dead' })),
    `GET ${W}/w/deliveries?status=dead`,
  ],
  ['webhooks.delivery', () => tenant.webhooks.delivery('w', 'd'), `GET ${W}/w/deliveries/d`],
  ['webhooks.redeliver', () => tenant.webhooks.redeliver('w', 'd'), `POST ${W}/w/deliveries/d/redeliver`],
  [
    'webhooks.replay',
    () => tenant.webhooks.replay('w', { from: '2026-01-01T00:00:00Z' }),
    `POST ${W}/w/deliveries/replay`,
    { from: '2026-01-01T00:00:00Z' },
  ],
  [
    'list',
    () =>
      drain(iss.list('/v1/tenants/{tenant_id}/grants', { path: { tenant_id: 'acme/1' }, query: { status: 'active' } })),
    `GET ${T}/grants?status=active`,
  ],
  ['webhooks.test', () => tenant.webhooks.test('w'), `POST ${W}/w/test`],
])('%s sends one request', async (_what, call, request, body = null) => {
  await call();
  expect(asked).toEqual([[request, body]]);
});

it.each<[string, object, () => Promise<unknown>]>([
  ['another tenant', { tenant_id: 'b' }, () => iss.createTenant({ tenant_id: 'a', name: 'A' })],
  [
    'other scopes',
    { scopes: ['read_latest', 'read_diff'] },
    () => subject.share({ grantee_tenant_id: 'b', scopes: ['read_diff'] }),
  ],
  ['another expires_at', { expires_at: null }, () => tenant.grants.change('g', { expires_at: '2026-01-01T00:00:00Z' })],
  ['another grant', { grant_id: 'h' }, () => tenant.grants.revoke('g')],
  ['a grant that is still active', { status: 'active' }, () => tenant.grants.revoke('g')],
  [
    'other operations',
    { patch_ops: [{ op: 'remove', path: '/attributes/a' }] },
    () => subject.propose({ base_snapshot_version: 1, patch_ops: [{ op: 'remove', path: '/attributes/b' }] }),
  ],
  ['another update', { update_id: 'v' }, () => subject.withdraw('u')],
  [
    'another request',
    { refresh_request: { ...request, refresh_request_id: 'q' } },
    () => subject.refreshRequests.cancel('r'),
  ],
  [
    'another target_url',
    { webhook_subscription: { subscription_id: 'w', event_types: [], target_url: 'https://evil.example' } },
    () => tenant.webhooks.create({ target_url: 'https://h.example', event_types: [] }),
  ],
])('a write refuses an answer with %s', async (_what, otherwise, call) => {
  bent = otherwise;
  await expect(call()).rejects.toMatchObject({ failure: 'written' });
});

it('share accepts an answer with equal values in another form', async () => {
  bent = { scopes: ['read_diff', 'read_latest'], expires_at: '2026-01-01T00:00:00.000Z' };
  await subject.share({
    grantee_tenant_id: 'b',
    scopes: ['read_latest', 'read_diff'],
    expires_at: '2026-01-01T01:00:00+01:00',
  });
});
