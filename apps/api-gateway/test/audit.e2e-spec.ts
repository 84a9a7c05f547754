import { AUDIT_ACTIONS, type AuditAction } from '@iss/domain';
import { EXAMPLE_CREDENTIAL } from '@iss/contract';
import type { Response, Test } from 'supertest';
import type { AuditEntry } from '@iss/contract';
import type { Method } from '../../../tools/testing/conformance';
import type { User } from './gateway';
import { GrantWorld, places } from './grant-world';
import { publishLog } from './publish-log';

let world: GrantWorld;

beforeAll(async () => {
  world = await GrantWorld.open();
});

afterAll(() => world?.close());

const idOf = (user: string): string => `oidc:test#${user}`;
const REQUEST_ID = 'the-request';

const call = (user: User, method: Method, path: string, body?: object): Test => {
  const test = world.gateway.as(user, method, path);
  return body === undefined ? test : test.send(body);
};

async function trailOf(tenant = 'acme', user: User = 'alice', query = ''): Promise<AuditEntry[]> {
  const { body } = await call(user, 'get', `/v1/tenants/${tenant}/audit${query}`).expect(200);
  return body.items;
}

async function latestId(tenant = 'acme'): Promise<number> {
  const latest = 'SELECT coalesce(max(audit_id), 0)::int AS id FROM audit_records WHERE tenant_id = $1';
  const { rows } = await world.superuser.query(latest, [tenant]);
  return rows[0].id;
}

const PRINCIPALS = '/v1/tenants/acme/principals';
const principal = (user: string): string => `${PRINCIPALS}/${encodeURIComponent(idOf(user))}`;
const memberPath = (user: string): string => `/v1/tenants/acme/members/${encodeURIComponent(idOf(user))}`;
const HOOKS = '/v1/webhook-subscriptions';
const ISSUER = `/v1/tenants/acme/trusted-issuers/${encodeURIComponent(EXAMPLE_CREDENTIAL.issuer)}`;
const TRUST = { vcts: [EXAMPLE_CREDENTIAL.vct], keys: [EXAMPLE_CREDENTIAL.key] };
const KEYS = '/v1/tenants/acme/issuing-keys';
const OFFERS = '/v1/tenants/acme/transfer-offers';
const URL = 'https://hooks.example.com/';

async function addSubscription(): Promise<string> {
  const event_types = ['identity.snapshot.created'];
  const made = await call('reader', 'post', HOOKS, { tenant_id: 'acme', target_url: URL, event_types }).expect(201);
  return made.body.webhook_subscription.subscription_id;
}

async function addOffer(): Promise<string> {
  const made = await call('alice', 'post', OFFERS, { to_principal_id: idOf('o2'), message: 'secret words' }).expect(
    201,
  );
  return made.body.transfer_offer.offer_id;
}

/** An action: its principal, its request, and the expected record. */
interface Deed {
  by: User;
  make: () => Promise<[Method, string, object?]>;
  target?: object;
  details: object;
  /** The tenant of the trail, and the principals that may read it. */
  tenant?: string;
  reader?: User;
  /** Other actions of the same request. */
  also?: AuditAction[];
}

const changed = (before: unknown, after: unknown): object => ({ before, after });
let subscriptionId = '';

const ON_ALL = { subject_type: '*', grantee_tenant_id: 'gamma', scopes: ['read_latest'] };
async function pendingGrant(): Promise<string> {
  const { body } = await call('admin', 'post', '/v1/tenants/acme/grants', ON_ALL).expect(202);
  return `/v1/tenants/acme/pending-grants/${body.grant_id}`;
}
const OFF = { erasure_confirmation: 'off' };
const ERASURE = { versions: 'all', reason: 'secret words', reference: 'secret words' };

async function snapshotOfAcme(): Promise<string> {
  const { subject_id } = await world.addSubject();
  const path = `/v1/tenants/acme/subjects/organization/${subject_id}/snapshots/latest`;
  return (await call('admin', 'get', path).expect(200)).body.snapshot_id;
}

async function addErasable(id: string): Promise<string> {
  await world.addSubject(id);
  await publishLog(world.gateway.databaseUrl);
  return `/v1/tenants/acme/subjects/organization/${id}`;
}

async function addErasure(id: string): Promise<string> {
  const path = await addErasable(id);
  const { body } = await call('alice', 'post', `${path}/erasure`, ERASURE).expect(201);
  return `${path}/erasures/${body.erasure_id}`;
}

const FREE_TEXT = { reason_code: 'secret words', message: 'secret words' };
const FROM_BETA = { requesting_tenant_id: 'beta' };

/** Returns the path of refresh requests on a new subject that beta may read. */
async function refreshPath(id: string): Promise<string> {
  await world.create({ ...(await world.addSubject(id)), scopes: ['read_latest'] }).expect(201);
  return `/v1/subjects/organization/${id}/refresh-requests`;
}

async function askedRefresh(id: string): Promise<string> {
  const path = await refreshPath(id);
  const { body } = await call('bob', 'post', path, { ...FROM_BETA, ...FREE_TEXT }).expect(201);
  return `${path}/${body.refresh_request.refresh_request_id}`;
}

// A test below fails if an action is neither here nor in WITHOUT_REQUEST.
const DEEDS: Partial<Record<AuditAction, Deed>> = {
  'tenant.changed': {
    by: 'alice',
    make: async () => ['patch', '/v1/tenants/acme', { name: 'Acme Ltd', slug: 'acme' }],
    details: { name: changed('acme', 'Acme Ltd'), slug: changed(null, 'acme') },
  },
  'member.invited': {
    by: 'admin',
    make: async () => [
      'put',
      `/v1/tenants/acme/members/${encodeURIComponent('oidc:another#o1')}`,
      { role: 'tenant_reader' },
    ],
    target: { principal_id: 'oidc:another#o1' },
    details: {
      api_functional_role: changed(null, 'tenant_reader'),
      tenancy_role: changed(null, 'member'),
      principal_type: changed(null, 'human'),
      allow_counterparty_access: changed(null, false),
      status: changed(null, 'pending'),
    },
  },
  'member.added': {
    by: 'admin',
    make: async () => ['put', memberPath('o1'), { role: 'tenant_proposer' }],
    target: { principal_id: idOf('o1') },
    details: {
      api_functional_role: changed(null, 'tenant_proposer'),
      tenancy_role: changed(null, 'member'),
      principal_type: changed(null, 'human'),
      allow_counterparty_access: changed(null, false),
      status: changed(null, 'active'),
    },
  },
  'member.changed': {
    by: 'alice',
    make: async () => [
      'put',
      principal('o1'),
      {
        api_functional_role: 'tenant_reader',
        tenancy_role: 'account_admin',
        principal_type: 'ai_agent',
        allow_counterparty_access: true,
      },
    ],
    target: { principal_id: idOf('o1') },
    details: {
      api_functional_role: changed('tenant_proposer', 'tenant_reader'),
      tenancy_role: changed('member', 'account_admin'),
      principal_type: changed('human', 'ai_agent'),
      allow_counterparty_access: changed(false, true),
    },
  },
  'member.removed': {
    by: 'admin',
    make: async () => ['delete', memberPath('o1')],
    target: { principal_id: idOf('o1') },
    details: { status: changed('active', 'removed') },
  },
  'webhook_subscription.created': {
    by: 'reader',
    make: async () => [
      'post',
      HOOKS,
      { tenant_id: 'acme', target_url: URL, event_types: ['identity.snapshot.created'] },
    ],
    details: {
      target_url: changed(null, URL),
      event_types: changed(null, ['identity.snapshot.created']),
      status: changed(null, 'active'),
    },
  },
  'webhook_subscription.changed': {
    by: 'reader',
    make: async () => {
      subscriptionId = await addSubscription();
      return ['patch', `${HOOKS}/${subscriptionId}`, { target_url: `${URL}new`, paths: ['/attributes/legal'] }];
    },
    details: { target_url: changed(URL, `${URL}new`), paths: changed(null, ['/attributes/legal']) },
  },
  'webhook_subscription.disabled': {
    by: 'editor',
    make: async () => ['patch', `${HOOKS}/${subscriptionId}`, { status: 'disabled' }],
    details: { status: changed('active', 'disabled'), disabled_reason: changed(null, 'requested') },
  },
  'webhook_subscription.enabled': {
    by: 'editor',
    make: async () => ['patch', `${HOOKS}/${subscriptionId}`, { status: 'active' }],
    details: { status: changed('disabled', 'active'), disabled_reason: changed('requested', null) },
  },
  'webhook_subscription.secret_rotated': {
    by: 'editor',
    make: async () => ['post', `${HOOKS}/${subscriptionId}/rotate-secret`, { grace_seconds: 60 }],
    details: {},
  },
  'webhook_subscription.deleted': {
    by: 'editor',
    make: async () => ['delete', `${HOOKS}/${subscriptionId}`],
    details: {},
  },
  'trusted_issuer.added': {
    by: 'admin',
    make: async () => ['put', ISSUER, TRUST],
    target: { issuer: EXAMPLE_CREDENTIAL.issuer },
    details: { vcts: changed(null, TRUST.vcts), keys: changed(null, TRUST.keys), roots: changed(null, []) },
  },
  'attestation.added': {
    by: 'editor',
    make: async () => ['post', '/v1/tenants/acme/attestations', { credential: EXAMPLE_CREDENTIAL.text }],
    details: { vct: changed(null, EXAMPLE_CREDENTIAL.vct) },
  },
  'presentation.requested': {
    by: 'editor',
    make: async () => ['post', '/v1/tenants/acme/presentation-requests', { vcts: ['vct'] }],
    details: {
      ...{ vcts: changed(null, ['vct']), claims: changed(null, []) },
      expires_at: changed(null, expect.any(String)),
    },
  },
  'trusted_issuer.changed': {
    by: 'admin',
    make: async () => ['put', ISSUER, { ...TRUST, vcts: ['another'] }],
    target: { issuer: EXAMPLE_CREDENTIAL.issuer },
    details: { vcts: changed(TRUST.vcts, ['another']) },
  },
  'trusted_issuer.removed': {
    by: 'admin',
    make: async () => ['delete', ISSUER],
    target: { issuer: EXAMPLE_CREDENTIAL.issuer },
    details: { vcts: changed(['another'], null), keys: changed(TRUST.keys, null), roots: changed([], null) },
  },
  'issuing_key.created': {
    by: 'admin',
    make: async () => ['post', KEYS],
    details: { issuer: changed(null, expect.stringMatching(/\/tenants\/acme$/)) },
  },
  'credential.issued': {
    by: 'admin',
    make: async () => ['post', `/v1/tenants/acme/snapshots/${await snapshotOfAcme()}/credentials`, {}],
    details: expect.objectContaining({
      ...{ snapshot_version: changed(null, 1), format: changed(null, 'dc+sd-jwt'), status: changed(null, 'valid') },
      ...{ has_holder_key: changed(null, false), expires_at: changed(null, expect.any(String)) },
    }),
  },
  'credential.offered': {
    by: 'admin',
    make: async () => ['post', `/v1/tenants/acme/snapshots/${await snapshotOfAcme()}/credential-offers`, {}],
    details: { snapshot_version: changed(null, 1), expires_at: changed(null, expect.any(String)) },
  },
  'credential.withdrawn': {
    by: 'admin',
    make: async () => {
      const { body } = await call('admin', 'get', '/v1/tenants/acme/credentials').expect(200);
      return ['post', `/v1/tenants/acme/credentials/${body.items[0].credential_id}/withdraw`];
    },
    details: { status: changed('valid', 'invalid') },
  },
  'issuing_key.retired': {
    by: 'admin',
    make: async () => {
      const { body } = await call('admin', 'get', KEYS).expect(200);
      return ['post', `${KEYS}/${body.items.at(-1).kid}/retire`];
    },
    also: ['issuing_key.created'],
    details: {},
  },
  'transfer_offer.made': {
    by: 'alice',
    make: async () => ['post', OFFERS, { to_principal_id: idOf('o2'), message: 'secret words' }],
    details: { status: changed(null, 'pending') },
  },
  'transfer_offer.cancelled': {
    by: 'alice',
    make: async () => {
      const { body } = await call('alice', 'get', OFFERS).expect(200);
      return ['post', `${OFFERS}/${body.items[0].offer_id}/cancel`];
    },
    details: { status: changed('pending', 'cancelled') },
  },
  'transfer_offer.declined': {
    by: 'o2',
    make: async () => ['post', `${OFFERS}/${await addOffer()}/decline`],
    details: { status: changed('pending', 'declined') },
  },
  'grant.requested': {
    by: 'admin',
    make: async () => {
      await call('alice', 'patch', '/v1/tenants/acme', { grant_confirmation: 'required' }).expect(200);
      return ['post', '/v1/tenants/acme/grants', ON_ALL];
    },
    details: { scopes: changed(null, ['read_latest']) },
  },
  'grant.cancelled': {
    by: 'alice',
    make: async () => ['post', `${await pendingGrant()}/cancel`],
    details: {},
  },
  'grant.confirmed': {
    by: 'alice',
    make: async () => ['post', `${await pendingGrant()}/confirm`],
    details: {},
    also: ['grant.created'],
  },
  'grant.created': {
    by: 'admin',
    make: async () => [
      'post',
      '/v1/tenants/acme/grants',
      {
        ...(await world.addSubject('granted')),
        grantee_tenant_id: 'beta',
        scopes: ['read_latest'],
        expires_at: '2099-01-01T00:00:00Z',
      },
    ],
    details: { scopes: changed(null, ['read_latest']), expires_at: changed(null, '2099-01-01T00:00:00+00:00') },
  },
  'grant.changed': {
    by: 'admin',
    make: async () => {
      const { body } = await call('admin', 'get', '/v1/tenants/acme/grants').expect(200);
      const change = { scopes: ['read_latest', 'read_diff'], expires_at: null, reason: 'secret words' };
      return ['patch', `/v1/tenants/acme/grants/${body.items[0].grant_id}`, change];
    },
    details: {
      scopes: changed(['read_latest'], ['read_latest', 'read_diff']),
      expires_at: changed('2099-01-01T00:00:00+00:00', null),
    },
  },
  'grant.revoked': {
    by: 'admin',
    make: async () => {
      const { body } = await call('admin', 'get', '/v1/tenants/acme/grants').expect(200);
      return ['post', `/v1/tenants/acme/grants/${body.items[0].grant_id}/revoke`];
    },
    details: {},
  },
  'grant.accepted': {
    by: 'zoe',
    make: async () => {
      const { body } = await world.create({ subject_type: '*' }, 'o1', 'gamma').expect(201);
      return ['post', `/v1/tenants/beta/grants/${body.grant_id}/accept`];
    },
    details: { accepted_at: changed(null, expect.any(String)) },
    tenant: 'beta',
    reader: 'zoe',
  },
  'erasure.requested': {
    by: 'alice',
    make: async () => ['post', `${await addErasable('asked')}/erasure`, ERASURE],
    details: { status: changed(null, 'pending'), confirmation: changed(null, 'required') },
  },
  'erasure.cancelled': {
    by: 'admin',
    make: async () => ['post', `${await addErasure('kept')}/cancel`],
    details: { status: changed('pending', 'cancelled') },
  },
  'erasure.confirmed': {
    by: 'admin',
    make: async () => ['post', `${await addErasure('erased')}/confirm`],
    details: {},
    also: ['erasure.done'],
  },
  'erasure.done': {
    by: 'alice',
    make: async () => {
      for (const by of ['alice', 'admin'] as const) await call(by, 'patch', '/v1/tenants/acme', OFF).expect(200);
      return ['post', `${await addErasable('alone')}/erasure`, ERASURE];
    },
    details: { status: changed('pending', 'erased') },
    also: ['erasure.requested'],
  },
  'refresh_request.created': {
    by: 'bob',
    make: async () => ['post', await refreshPath('wanted'), { ...FROM_BETA, ...FREE_TEXT, every: 'P1Y' }],
    details: { status: changed(null, 'pending'), every: changed(null, 'P1Y') },
  },
  'refresh_request.fulfilled': {
    by: 'editor',
    make: async () => {
      const path = await askedRefresh('renewed');
      const latest = '/v1/tenants/acme/subjects/organization/renewed/snapshots/latest';
      const { body } = await call('alice', 'get', latest).expect(200);
      return ['post', `${path}/fulfill`, { resolved_snapshot_id: body.snapshot_id }];
    },
    details: {
      status: changed('pending', 'fulfilled'),
      resolved_snapshot_id: changed(null, expect.any(String)),
      resolved_snapshot_version: changed(null, 1),
    },
  },
  'refresh_request.declined': {
    by: 'editor',
    make: async () => ['post', `${await askedRefresh('refused')}/decline`, { reason: 'secret words' }],
    details: { status: changed('pending', 'declined') },
  },
  'refresh_request.cancelled': {
    by: 'bob',
    make: async () => ['post', `${await askedRefresh('dropped')}/cancel`],
    details: { status: changed('pending', 'cancelled') },
  },
  'transfer_offer.accepted': {
    by: 'o2',
    make: async () => ['post', `${OFFERS}/${await addOffer()}/accept`],
    details: { status: changed('pending', 'accepted') },
    reader: 'admin',
    also: ['member.added', 'member.changed'],
  },
  'tenant.founded': {
    by: 'zoe',
    make: async () => ['post', '/v1/tenants', { tenant_id: 'zeta', name: 'Zeta' }],
    details: {
      name: changed(null, 'Zeta'),
      chain_enforced: changed(null, true),
      evidence_policy: changed(null, 'open'),
      erasure_confirmation: changed(null, 'required'),
      grant_confirmation: changed(null, 'off'),
    },
    tenant: 'zeta',
    reader: 'zoe',
    also: ['member.added'],
  },
};

/** Actions that no request performs. */
const WITHOUT_REQUEST: AuditAction[] = ['limit.changed', 'grant.expired', 'grant.started'];

it.each(Object.entries(DEEDS))('%s is recorded with its principal, request and changes', async (action, deed) => {
  const { by, make, target, details, tenant = 'acme', reader = 'alice', also = [] } = deed;
  const [method, path, body] = await make();
  const before = await latestId(tenant);
  const { status } = await call(by, method, path, body).set('X-Request-Id', REQUEST_ID);
  expect(status).toBeLessThan(300);
  const records = (await trailOf(tenant, reader)).filter(({ audit_id }) => audit_id > before);
  expect(records.map((record) => record.action).sort()).toEqual([action, ...also].sort());
  for (const record of records) expect(record).toMatchObject({ principal_id: idOf(by), request_id: REQUEST_ID });
  const record = records.find((one) => one.action === action);
  expect(record?.details).toEqual(details);
  if (target !== undefined) expect(record?.target).toEqual(target);
});

it('DEEDS and WITHOUT_REQUEST contain every audit action', () => {
  expect([...Object.keys(DEEDS), ...WITHOUT_REQUEST].sort()).toEqual(Object.keys(AUDIT_ACTIONS).sort());
});

it('the target of each record has the members that its action defines', async () => {
  const named: Readonly<Record<string, readonly string[]>> = AUDIT_ACTIONS;
  for (const { action, target } of await trailOf('acme', 'admin', '?limit=200')) {
    expect([action, Object.keys(target).sort()]).toEqual([action, [...(named[action] ?? [])].sort()]);
  }
});

it('a change of tenant settings is recorded with the old and new values', async () => {
  const settings = { evidence_policy: 'resolved', erasure_confirmation: 'required' };
  await call('o2', 'patch', '/v1/tenants/acme', settings).expect(200);
  const [record] = await trailOf('acme', 'admin');
  expect(record).toMatchObject({ action: 'tenant.changed', principal_id: idOf('o2') });
  expect(record?.details).toEqual({
    evidence_policy: changed('open', 'resolved'),
    erasure_confirmation: changed('off', 'required'),
  });
});

it('switching a confirmation off records both the request and the human who confirms it', async () => {
  const off = { grant_confirmation: 'off' };
  const { body } = await call('o2', 'patch', '/v1/tenants/acme', off).expect(200);
  const { setting, ...request } = body.pending_changes[0];
  await call('admin', 'patch', '/v1/tenants/acme', off).expect(200);
  const [confirmed, requested] = await trailOf('acme', 'admin');
  expect(requested).toMatchObject({ action: 'tenant.changed', principal_id: idOf('o2') });
  expect(requested?.details).toEqual({ pending_changes: changed(null, { [setting]: request }) });
  expect(confirmed).toMatchObject({ action: 'tenant.changed', principal_id: idOf('admin') });
  expect(confirmed?.details).toEqual({
    grant_confirmation: changed('required', 'off'),
    pending_changes: changed({ [setting]: request }, null),
  });
});

it('a batch of grants writes one record per created grant, and none for a refused one', async () => {
  const before = await latestId();
  const scopes = ['read_latest'];
  const grants = [
    await world.addSubject('one'),
    await world.addSubject('two'),
    { subject_type: 'organization', subject_id: 'none' },
  ];
  const batch = { grants: grants.map((subject) => ({ grantee_tenant_id: 'gamma', ...subject, scopes })) };
  await call('admin', 'post', '/v1/tenants/acme/grants/batch', batch).set('X-Request-Id', REQUEST_ID).expect(200);
  const records = (await trailOf('acme', 'admin')).filter(({ audit_id }) => audit_id > before);
  expect(records.map(({ action, target }) => [action, target['subject_id']])).toEqual([
    ['grant.created', 'two'],
    ['grant.created', 'one'],
  ]);
  for (const record of records) expect(record).toMatchObject({ principal_id: idOf('admin'), request_id: REQUEST_ID });
});

it('the grantee’s audit trail contains a grant from creation to end, without its purpose', async () => {
  const before = await latestId('beta');
  const subject = await world.addSubject('received');
  const expiring = {
    grantee_tenant_id: 'beta',
    ...subject,
    scopes: ['read_latest'],
    purpose: 'ours',
    expires_at: '2099-01-01T00:00:00Z',
  };
  const { body } = await call('admin', 'post', '/v1/tenants/acme/grants', expiring).expect(201);
  const path = `/v1/tenants/acme/grants/${body.grant_id}`;
  await call('admin', 'patch', path, { purpose: 'other' }).expect(200);
  await call('admin', 'patch', path, { scopes: ['read_diff'] }).expect(200);
  await world.superuser.query('UPDATE grants SET expires_at = now() WHERE grant_id = $1', [body.grant_id]);
  await world.superuser.query('UPDATE grants SET expired_told_for = expires_at WHERE grant_id = $1', [body.grant_id]);
  const { body: next } = await call('admin', 'post', '/v1/tenants/acme/grants', expiring).expect(201);
  await call('admin', 'post', `/v1/tenants/acme/grants/${next.grant_id}/revoke`).expect(200);
  const records = (await trailOf('beta', 'zoe')).filter(({ audit_id }) => audit_id > before).reverse();
  expect(records.map(({ action }) => action)).toEqual([
    'grant.created',
    'grant.changed',
    'grant.changed',
    'grant.expired',
    'grant.created',
    'grant.revoked',
  ]);
  const [created, rescoped, , expired] = records;
  expect(created).toMatchObject({
    principal_id: idOf('admin'),
    target: { grant_id: body.grant_id, grantor_tenant_id: 'acme', grantee_tenant_id: 'beta', ...subject },
  });
  expect(Object.keys(created?.details ?? {}).sort()).toEqual(['expires_at', 'scopes']);
  expect(rescoped?.details).toEqual({ scopes: changed(['read_latest'], ['read_diff']) });
  expect(expired).toMatchObject({ principal_id: null, request_id: null, details: {} });
  const ofGrantor = await trailOf('acme', 'admin', `?target_id=${body.grant_id}&action=grant.expired`);
  expect(ofGrantor).toMatchObject([{ target: expired?.target }]);
});

it('both tenants find the records of a refresh request by its id and subject, also when a series ends', async () => {
  const before = { acme: await latestId(), beta: await latestId('beta') };
  const { body } = await call('bob', 'post', await refreshPath('both'), { ...FROM_BETA, every: 'P1M' }).expect(201);
  const path = `/v1/subjects/organization/both/refresh-requests/${body.refresh_request.refresh_request_id}`;
  await call('alice', 'post', `${path}/decline`, { reason: 'secret words' }).expect(200);
  await call('bob', 'post', `${path}/cancel`).expect(200);
  const target = {
    refresh_request_id: body.refresh_request.refresh_request_id,
    requesting_tenant_id: 'beta',
    owner_tenant_id: 'acme',
    subject_type: 'organization',
    subject_id: 'both',
  };
  const expected = [
    {
      action: 'refresh_request.cancelled',
      principal_id: idOf('bob'),
      target,
      details: { series_end_reason: changed(null, 'cancelled') },
    },
    { action: 'refresh_request.declined', principal_id: idOf('alice'), target },
    { action: 'refresh_request.created', principal_id: idOf('bob'), target },
  ];
  for (const [tenant, user] of [
    ['acme', 'alice'],
    ['beta', 'bob'],
  ] as const) {
    for (const query of [`target_id=${target.refresh_request_id}`, 'subject_type=organization&subject_id=both']) {
      const records = (await trailOf(tenant, user, `?${query}`)).filter(
        ({ audit_id, action }) => audit_id > before[tenant] && action.startsWith('refresh_request.'),
      );
      expect(records).toMatchObject(expected);
    }
  }
});

it('the grantee’s audit trail contains a grant on all subjects only from its acceptance', async () => {
  const before = await latestId('beta');
  const all = { grantee_tenant_id: 'beta', subject_type: '*', scopes: ['read_latest'] };
  const { body: refused } = await call('admin', 'post', '/v1/tenants/acme/grants', all).expect(201);
  await call('admin', 'post', `/v1/tenants/acme/grants/${refused.grant_id}/revoke`).expect(200);
  const { body } = await call('admin', 'post', '/v1/tenants/acme/grants', all).expect(201);
  await world.accept(body.grant_id).expect(200);
  await call('admin', 'post', `/v1/tenants/acme/grants/${body.grant_id}/revoke`).expect(200);
  const records = (await trailOf('beta', 'zoe')).filter(({ audit_id }) => audit_id > before).reverse();
  expect(records.map(({ action, target }) => [action, target['grant_id']])).toEqual([
    ['grant.accepted', body.grant_id],
    ['grant.revoked', body.grant_id],
  ]);
});

it('concurrent batches of two tenants that grant each other do not deadlock', async () => {
  const made = async (
    user: 'alice' | 'o1',
    tenant: string,
    grantees: readonly string[],
    round: number,
  ): Promise<number> => {
    const subjects = await Promise.all(
      [0, 1, 2, 3].map(async (at) => world.addSubject(`both-${tenant}-${round}-${at}`, user, tenant)),
    );
    const grants = subjects.map((subject, at) => ({
      grantee_tenant_id: grantees[at % 2],
      ...subject,
      scopes: ['read_latest'],
    }));
    const { body } = await world.createMany(grants, user, tenant).expect(200);
    return body.items.filter(({ status }: { status: number }) => status === 201).length;
  };
  for (let round = 0; round < 4; round += 1) {
    const counts = await Promise.all([
      made('alice', 'acme', ['gamma', 'beta'], round),
      made('o1', 'gamma', ['beta', 'acme'], round),
    ]);
    expect(counts).toEqual([4, 4]);
  }
});

it('the record of a grant on all subjects has * as its subject', async () => {
  await call('admin', 'post', '/v1/tenants/acme/grants', { ...ON_ALL, grantee_tenant_id: 'beta' }).expect(201);
  const [made] = await trailOf('acme', 'admin');
  expect(made).toMatchObject({ action: 'grant.created', target: { subject_type: '*', subject_id: '*' } });
});

it('the purpose of a grant is recorded with its old and new values', async () => {
  const subject = await world.addSubject('with a purpose');
  const sent = { grantee_tenant_id: 'gamma', ...subject, scopes: ['read_latest'], purpose: 'Loan review' };
  const { body } = await call('admin', 'post', '/v1/tenants/acme/grants', sent).expect(201);
  const purpose = async () => (await trailOf('acme', 'admin'))[0]?.details['purpose'];
  expect(await purpose()).toEqual(changed(null, 'Loan review'));
  await call('admin', 'patch', `/v1/tenants/acme/grants/${body.grant_id}`, { purpose: null }).expect(200);
  expect(await purpose()).toEqual(changed('Loan review', null));
});

it('a limit that an operator changes is recorded without principal and request', async () => {
  const add = `INSERT INTO limit_overrides (scope, scope_id, limit_name, value) VALUES ($1, $2, 'members_per_tenant', 7)`;
  await world.superuser.query(add, ['tenant', 'acme']);
  await world.superuser.query(add, ['principal', 'acme']);
  await world.superuser.query('UPDATE limit_overrides SET value = 8');
  await world.superuser.query('DELETE FROM limit_overrides');
  const records = await trailOf('acme', 'admin', '?action=limit.changed');
  expect(records.map(({ principal_id, request_id }) => [principal_id, request_id])).toEqual(
    records.map(() => [null, null]),
  );
  expect(records.map(({ details }) => details['value'])).toEqual([changed(8, null), changed(7, 8), changed(null, 7)]);
});

it('requests that change nothing or are refused are not recorded', async () => {
  const [last] = await trailOf('acme', 'admin');
  await call('admin', 'patch', '/v1/tenants/acme', { name: 'Acme Ltd' }).expect(200);
  await call('admin', 'put', memberPath('reader'), { role: 'tenant_reader' }).expect(200);
  await call('reader', 'patch', '/v1/tenants/acme', { name: 'Other' }).expect(403);
  await call('reader', 'put', memberPath('o1'), { role: 'tenant_reader' }).expect(403);
  const told = await world.superuser.query('UPDATE grants SET expiring_told_for = now()');
  expect(told.rowCount).toBeGreaterThan(0);
  expect((await trailOf('acme', 'admin'))[0]).toEqual(last);
});

it('audit records contain no secret and no message', async () => {
  const { rows } = await world.superuser.query<{ text: string }>(
    'SELECT row_to_json(a)::text AS text FROM audit_records a',
  );
  for (const { text } of rows) expect(text).not.toMatch(/secret_sealed|fingerprint|whsec_|secret words|message/);
});

it('database triggers record every change of the audited tables', async () => {
  const { rows } = await world.superuser.query<{ name: string }>(
    `SELECT c.relname || ' ' || CASE WHEN t.tgtype & 4 > 0 THEN 'insert' ELSE '' END || CASE WHEN t.tgtype & 16 > 0 THEN 'update' ELSE '' END AS name
       FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE t.tgname LIKE '%audited' AND t.tgenabled = 'O'
      ORDER BY 1`,
  );
  const audited = [
    'erasures',
    'grants',
    'memberships',
    'refresh_requests',
    'tenants',
    'transfer_offers',
    'webhook_subscriptions',
  ];
  expect(rows.map(({ name }) => name)).toEqual(
    [
      ...audited.flatMap((table) => [`${table} insert`, `${table} update`]),
      'attestations insert',
      'credential_offers insert',
      'credentials insert',
      'credentials update',
      'issuing_keys insert',
      'issuing_keys update',
      'limit_overrides insertupdate',
      'pending_grants insertupdate',
      'presentation_requests insert',
      'trusted_issuers insertupdate',
    ].sort(),
  );
});

it('audit records cannot be changed, deleted or written directly', async () => {
  const { superuser } = world;
  for (const change of [
    `UPDATE audit_records SET action = 'x'`,
    'DELETE FROM audit_records',
    'TRUNCATE audit_records',
  ]) {
    await expect(superuser.query(change)).rejects.toThrow(/records stay as they were written/);
  }
  await superuser.query('SET ROLE iss_app');
  try {
    for (const change of [
      `INSERT INTO audit_records (tenant_id, action, target, details) VALUES ('acme', 'x', '{}', '{}')`,
      `SELECT write_audit_record('acme', 'x', '{}', '{}')`,
      'DELETE FROM audit_records',
    ]) {
      await expect(superuser.query(change)).rejects.toThrow(/permission denied/);
    }
  } finally {
    await superuser.query('RESET ROLE');
  }
});

describe('GET …/audit', () => {
  it('returns records newest first, in pages, and filters them', async () => {
    const all = await trailOf('acme', 'admin', '?limit=200');
    const times = all.map(({ at }) => at);
    expect(times).toEqual([...times].sort().reverse());
    // Each tenant has its own numbers, without gaps. Transactions that overlap may take their numbers in another order
    // than they began.
    const ids = all.map(({ audit_id }) => audit_id).sort((one, other) => other - one);
    expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) - index));
    const { rows } = await world.superuser.query(
      'SELECT min(audit_id)::int AS first, (max(audit_id) - count(*))::int AS gaps FROM audit_records GROUP BY tenant_id',
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const numbers of rows) expect(numbers).toEqual({ first: 1, gaps: 0 });
    const seen: AuditEntry[] = [];
    let cursor = '';
    do {
      const answer: Response = await call('admin', 'get', `/v1/tenants/acme/audit?limit=7${cursor}`).expect(200);
      seen.push(...answer.body.items);
      cursor = answer.body.next_cursor === null ? '' : `&cursor=${answer.body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(all);
    const byEditor = `?principal_id=${encodeURIComponent(idOf('editor'))}`;
    expect(await trailOf('acme', 'admin', byEditor)).toEqual(
      all.filter(({ principal_id }) => principal_id === idOf('editor')),
    );
    expect(await trailOf('acme', 'admin', '?action=member.added')).toEqual(
      all.filter(({ action }) => action === 'member.added'),
    );
    const [newest] = all;
    expect(await trailOf('acme', 'admin', `?from=${newest?.at}&to=${newest?.at}&limit=1`)).toEqual([newest]);
    expect(await trailOf('acme', 'admin', '?to=2020-01-01T00:00:00Z')).toEqual([]);
  });

  it('filters by target and by subject', async () => {
    const all = await trailOf('acme', 'admin', '?limit=200');
    const ids = all.flatMap(({ target }) => [target['grant_id'], target['principal_id'], target['offer_id']]);
    const targets = [...new Set(ids)].flatMap((id) => id ?? []);
    expect(targets.length).toBeGreaterThan(3);
    for (const id of targets) {
      const found = await trailOf('acme', 'admin', `?limit=200&target_id=${encodeURIComponent(id)}`);
      expect(found).toEqual(
        all.filter(({ target }) => [target['grant_id'], target['principal_id'], target['offer_id']].includes(id)),
      );
    }
    const onAll = await trailOf('acme', 'admin', '?limit=200&subject_type=*');
    expect(onAll).toEqual(all.filter(({ target }) => target['subject_type'] === '*'));
    const { target = {} } = all.find((record) => record.target['subject_type'] === 'organization') ?? {};
    const named = `?limit=200&subject_type=organization&subject_id=${encodeURIComponent(target['subject_id'] ?? '')}`;
    const ofSubject = all.filter(({ target: { subject_id } }) => subject_id === target['subject_id']);
    expect(ofSubject.length).toBeGreaterThan(0);
    expect(await trailOf('acme', 'admin', named)).toEqual(ofSubject);
    expect(await trailOf('acme', 'admin', `${named}&action=tenant.changed`)).toEqual([]);
    expect(await trailOf('acme', 'admin', '?target_id=nothing')).toEqual([]);
  });

  it.each([
    ['subject_type=organization', '/query/subject_id'],
    ['from=yesterday', '/query/from'],
    ['action=member.exploded', '/query/action'],
    ['principal_id=alice', '/query/principal_id'],
    ['actor=x', '/query/actor'],
  ])('refuses %s', async (query, place) => {
    const answer = await call('admin', 'get', `/v1/tenants/acme/audit?${query}`).expect(400);
    expect(places(answer)).toEqual([place]);
  });
});
