import { randomUUID } from 'node:crypto';
import { buildEventBody, parseStoredJson, type Scope, seal, validateEnvelope } from '@iss/domain';
import { EXAMPLE_CREDENTIAL, PRE_AUTHORIZED_GRANT } from '@iss/contract';
import { Client } from 'pg';
import { TEST_VRF_SECRET } from '../../../../tools/testing/vrf-key';
import { publishLog } from '../publish-log';
import { waitFor } from '../../../../tools/testing/wait-for';
import { envelope, startGateway, type TestGateway } from '../gateway';
import { type Caller, CALLERS, EVERY_SCOPE, GRANTEES, MEMBERS, tenantOf, userOf } from './callers';

const OWNER = 'acme';
const LEGACY = 'legacy';
const TYPE = 'organization';
const PATCH = [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Neu AG' }];
const EVENT_TYPE = 'identity.snapshot.created';
const DAY_MS = 86_400_000;

/** The parts of a request besides its path: parameters, query and body. */
export interface Prepared {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  /** Lines of NDJSON instead of a body. */
  lines?: string;
  /** Parameters of a form instead of a body. */
  form?: Record<string, string>;
}

type Prepare = (world: World, caller: Caller) => Promise<Prepared>;

/** The owner's tenant with one member per role, a subject with two versions, and grantees of every kind. */
export class World {
  subjectId = '';
  snapshotIds: string[] = [];
  loggedGrantId = '';
  loggedErasure: Prepared = {};
  private readonly tokens = new Map<Caller, string>();

  private constructor(
    readonly gateway: TestGateway,
    readonly sql: Client,
  ) {}

  static async open(): Promise<World> {
    // The table needs more of them than a tenant may have.
    const gateway = await startGateway({
      MAX_SUBSCRIPTIONS_PER_TENANT: '1000',
      MAX_PENDING_REFRESH_REQUESTS: '1000',
      MAX_ISSUING_KEYS_PER_TENANT: '1000',
      LOG_VRF_KEY: TEST_VRF_SECRET,
    });
    const isReady = async (): Promise<boolean> => (await gateway.as(null, 'get', '/v1/ops/readiness')).status === 200;
    await waitFor(isReady, { deadlineMs: 30_000, what: 'the gateway to be ready' });
    const sql = new Client({ connectionString: gateway.databaseUrl });
    await sql.connect();
    const world = new World(gateway, sql);
    await world.populate();
    await publishLog(gateway.databaseUrl, TEST_VRF_SECRET);
    await world.addErased();
    await publishLog(gateway.databaseUrl, TEST_VRF_SECRET);
    return world;
  }

  async close(): Promise<void> {
    await this.sql.end();
    await this.gateway.close();
  }

  /** The caller's token; null for the caller that sends none. */
  token(caller: Caller): string | null {
    return caller === 'no token' ? null : (this.tokens.get(caller) ?? '');
  }

  principalOf(caller: Caller): string {
    return `oidc:test#${userOf(caller)}`;
  }

  async addMember(
    tenantId: string,
    principalId: string,
    role: string,
    more: Record<string, unknown> = {},
  ): Promise<void> {
    const member = { type: 'human', tenancyRole: 'member', flag: false, status: 'active', ...more };
    await this.sql.query(
      `INSERT INTO memberships (tenant_id, principal_id, api_functional_role, principal_type, tenancy_role, allow_counterparty_access, status)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [tenantId, principalId, role, member.type, member.tenancyRole, member.flag, member.status],
    );
  }

  /** Creates a subject of the tenant with one version. Returns its id and that of the snapshot. */
  async addSubject(tenantId = OWNER): Promise<{ subjectId: string; snapshotId: string }> {
    const subjectId = `subject-${randomUUID()}`;
    const sent = envelope({ subject: { subject_type: TYPE, subject_id: subjectId } });
    const first = validateEnvelope(parseStoredJson(JSON.stringify(sent)));
    const { text, hash } = seal(first);
    const snapshotId = first.snapshot_id;
    await this.sql.query(
      `WITH s AS (INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ($1, $2, $3) RETURNING subject_key)
       INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
       SELECT subject_key, 1, $4, $3, '2026-01-15T09:30:00Z', decode($5, 'hex'), $6 FROM s`,
      [TYPE, subjectId, tenantId, snapshotId, hash, text],
    );
    return { subjectId, snapshotId };
  }

  async addUpdate(proposedBy: string): Promise<Prepared> {
    const { subjectId, snapshotId } = await this.addSubject();
    const updateId = randomUUID();
    await this.sql.query(
      `INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, proposed_by)
       SELECT $1, $2, subject_key, $3, 1, $4, $5 FROM subjects WHERE subject_id = $6`,
      [updateId, OWNER, snapshotId, JSON.stringify(PATCH), proposedBy, subjectId],
    );
    return { params: { ...subject(subjectId), update_id: updateId } };
  }

  async addGrant(
    grantee: string,
    scopes: readonly Scope[],
    subjectId: string,
    more: { expiresAt?: Date; revokedAt?: Date } = {},
  ): Promise<string> {
    const grantId = randomUUID();
    await this.sql.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, revoked_at)
       SELECT $1, $2, $3, subject_key, $4, $5, $6 FROM subjects WHERE subject_id = $7`,
      [grantId, OWNER, grantee, scopes, more.expiresAt ?? null, more.revokedAt ?? null, subjectId],
    );
    return grantId;
  }

  /** Creates a subject whose only version is in the log, as an erasure requires. */
  async addLoggedSubject(): Promise<string> {
    const { subjectId } = await this.addSubject();
    await this.sql.query(
      `INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
       SELECT 1000000 + subject_key, 1, subject_key, 1, $2 FROM subjects WHERE subject_id = $1`,
      [subjectId, Buffer.alloc(16)],
    );
    return subjectId;
  }

  /** Creates one that another principal of the owner has requested. */
  async addErasure(subjectId: string): Promise<Prepared> {
    const erasureId = randomUUID();
    await this.sql.query(
      `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
       SELECT $1, $2, subject_key, '{1}', 'oidc:test#someone' FROM subjects WHERE subject_id = $3`,
      [erasureId, OWNER, subjectId],
    );
    return { params: { ...subject(subjectId), erasure_id: erasureId } };
  }

  /** Creates a completed one. */
  private async addErased(): Promise<void> {
    const { subjectId } = await this.addSubject();
    await publishLog(this.gateway.databaseUrl, TEST_VRF_SECRET);
    this.loggedErasure = await this.addErasure(subjectId);
    await this.sql.query(
      `UPDATE erasures SET confirmed_by = 'oidc:test#another', confirmed_at = now() WHERE requested_by = 'oidc:test#someone'`,
    );
    await this.sql.query('SELECT erase_versions(erasure_id) FROM erasures');
  }

  async addRefreshRequest(requestingTenantId: string): Promise<Prepared> {
    const refreshRequestId = randomUUID();
    await this.sql.query(
      `INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type)
       SELECT $1, subject_key, $2, 'someone', CASE WHEN owner_tenant_id = $2 THEN 'owner' ELSE 'counterparty' END
         FROM subjects WHERE subject_id = $3`,
      [refreshRequestId, requestingTenantId, this.subjectId],
    );
    return {
      params: { ...subject(this.subjectId), refresh_request_id: refreshRequestId },
      body: { resolved_snapshot_id: this.snapshotIds[1] },
    };
  }

  async addTrustedIssuer(issuer: string = EXAMPLE_CREDENTIAL.issuer): Promise<Prepared> {
    await this.sql.query(
      `INSERT INTO trusted_issuers (tenant_id, issuer, vcts, keys, roots) VALUES ($1, $2, $3, $4, '{}') ON CONFLICT DO NOTHING`,
      [OWNER, issuer, [EXAMPLE_CREDENTIAL.vct], JSON.stringify([EXAMPLE_CREDENTIAL.key])],
    );
    return { params: { issuer } };
  }

  async createAttestation(): Promise<Prepared> {
    const attestationId = randomUUID();
    await this.sql.query(
      `INSERT INTO attestations (attestation_id, tenant_id, issuer, vct, digest, has_key_binding, added_by, status)
       VALUES ($1, $2, 'https://registry.example', 'vct', decode($3, 'hex'), false, 'someone', 'none')`,
      [attestationId, OWNER, EXAMPLE_CREDENTIAL.digest],
    );
    return { params: { attestation_id: attestationId } };
  }

  async addPresentationRequest(): Promise<Prepared> {
    const { body } = await this.asOwner('presentation-requests').send({ vcts: ['vct'] });
    const { searchParams } = new URL(body.link);
    const params = {
      presentation_request_id: body.presentation_request_id,
      response_id: searchParams.get('response_uri')?.split('/').at(-1) ?? '',
    };
    return { params, form: { error: 'access_denied' } };
  }

  /** Creates a key that can sign, through the service, because only that can seal it. */
  async addIssuingKey(): Promise<Prepared> {
    const { body } = await this.asOwner('issuing-keys');
    return { params: { tenant_id: OWNER, kid: body.kid } };
  }

  private asOwner(path: string) {
    return this.gateway.withToken(this.token('tenant_owner'), 'post', `/v1/tenants/${OWNER}/${path}`).expect(201);
  }

  async addCredential(): Promise<Prepared> {
    await this.addIssuingKey();
    const { body } = await this.asOwner(`snapshots/${this.snapshotIds[0] ?? ''}/credentials`);
    return { params: { credential_id: body.credential_id, list_id: body.status_list.uri.split('/').at(-1) } };
  }

  async addOfferedCode(): Promise<Prepared> {
    await this.addIssuingKey();
    const { body } = await this.asOwner(`snapshots/${this.snapshotIds[0] ?? ''}/credential-offers`);
    const code = body.credential_offer.grants[PRE_AUTHORIZED_GRANT]['pre-authorized_code'];
    return { form: { grant_type: PRE_AUTHORIZED_GRANT, 'pre-authorized_code': code, tx_code: body.tx_code } };
  }

  async addSubscription(): Promise<string> {
    const subscriptionId = randomUUID();
    await this.sql.query(
      `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, status, secret_sealed, secret_fingerprint)
       VALUES ($1, $2, 'https://hooks.example.com/', $3, 'active', 'sealed', 'fingerprint')`,
      [subscriptionId, OWNER, [EVENT_TYPE]],
    );
    return subscriptionId;
  }

  async addDelivery(): Promise<Prepared> {
    const subscriptionId = await this.addSubscription();
    const [eventId, deliveryId] = [randomUUID(), randomUUID()];
    const data = { subscription_id: subscriptionId };
    const body = buildEventBody({ eventId, type: 'webhook.test', createdAt: new Date(), tenantId: OWNER, data });
    await this.sql.query(
      `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, fanned_out_at) VALUES ($1, $2, $3, $4, now())`,
      [eventId, OWNER, EVENT_TYPE, body],
    );
    await this.sql.query(
      `INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, attempt, finished_at)
       VALUES ($1, $2, $3, $4, $5, 'dead', 1, now())`,
      [deliveryId, eventId, subscriptionId, OWNER, EVENT_TYPE],
    );
    return { params: { subscription_id: subscriptionId, delivery_id: deliveryId } };
  }

  /** Offers the tenant to the outsider, as the only pending offer. */
  async addOffer(): Promise<Prepared> {
    await this.restoreOwners();
    const offerId = randomUUID();
    await this.sql.query(
      'INSERT INTO transfer_offers (offer_id, tenant_id, from_principal_id, to_principal_id) VALUES ($1, $2, $3, $4)',
      [offerId, OWNER, this.principalOf('tenant_owner'), this.principalOf('outsider')],
    );
    return { params: { offer_id: offerId } };
  }

  /** Creates a tenant with the owner's members but without an owner. Returns its id. */
  async addOwnerlessTenant(): Promise<string> {
    const tenantId = `t-${randomUUID()}`;
    await this.sql.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $1)', [tenantId]);
    await this.sql.query(
      `INSERT INTO memberships (tenant_id, principal_id, api_functional_role, principal_type, tenancy_role)
       SELECT $1, principal_id, replace(api_functional_role, 'tenant_owner', 'tenant_admin'), principal_type, tenancy_role
         FROM memberships WHERE tenant_id = $2 AND status = 'active'`,
      [tenantId, OWNER],
    );
    return tenantId;
  }

  /** Reverts the changes of an accepted offer, and closes the pending offer. */
  async restoreOwners(): Promise<void> {
    await this.sql.query(
      `UPDATE transfer_offers SET status = 'cancelled', resolved_at = now() WHERE status = 'pending'`,
    );
    await this.sql.query('DELETE FROM memberships WHERE tenant_id = $1 AND principal_id = $2', [
      OWNER,
      this.principalOf('outsider'),
    ]);
    await this.sql.query(
      `UPDATE memberships SET api_functional_role = 'tenant_owner' WHERE tenant_id = $1 AND principal_id = $2`,
      [OWNER, this.principalOf('tenant_owner')],
    );
  }

  private async populate(): Promise<void> {
    const callers: readonly Caller[] = [...CALLERS, EVERY_SCOPE];
    for (const caller of callers) this.tokens.set(caller, await this.gateway.issuer.mint(userOf(caller)));
    const tenants = [OWNER, LEGACY, ...callers.map(tenantOf)];
    await this.sql.query(
      'INSERT INTO tenants (tenant_id, name) SELECT t, t FROM unnest($1::text[]) t ON CONFLICT DO NOTHING',
      [tenants],
    );
    const types: Partial<Record<Caller, string>> = { 'service account': 'service_account', 'ai agent': 'ai_agent' };
    for (const caller of callers) {
      const role = MEMBERS[caller];
      if (role === undefined) continue;
      const isAccountAdmin = role === 'tenant_owner' || caller in types;
      await this.addMember(OWNER, this.principalOf(caller), role, {
        type: types[caller] ?? 'human',
        tenancyRole: isAccountAdmin ? 'account_admin' : 'member',
      });
    }
    await this.addMember(OWNER, this.principalOf('removed member'), 'tenant_owner', { status: 'removed', flag: true });

    const { subjectId, snapshotId } = await this.addSubject();
    const second = envelope({ snapshot_version: 2, subject: { subject_type: TYPE, subject_id: subjectId } });
    await this.gateway
      .withToken(this.token('tenant_owner'), 'post', `/v1/tenants/${OWNER}/entity-states`)
      .send(second)
      .expect(201);
    this.subjectId = subjectId;
    this.snapshotIds = [snapshotId, String(second['snapshot_id'])];

    this.loggedGrantId = await this.addGrant(LEGACY, ['read_latest'], subjectId);
    for (const caller of callers) {
      const scopes = GRANTEES[caller];
      if (scopes === undefined && caller !== 'other tenant') continue;
      await this.addMember(tenantOf(caller), this.principalOf(caller), 'tenant_owner', {
        tenancyRole: 'account_admin',
        flag: caller !== 'flag off' && caller !== 'other tenant',
      });
      if (scopes === undefined) continue;
      const yesterday = new Date(Date.now() - DAY_MS);
      await this.addGrant(tenantOf(caller), scopes, subjectId, {
        ...(caller === 'expired grant' ? { expiresAt: yesterday } : {}),
        ...(caller === 'revoked grant' ? { revokedAt: yesterday } : {}),
      });
    }
  }
}

const subject = (subjectId: string): Record<string, string> => ({ subject_type: TYPE, subject_id: subjectId });

const putMember =
  (body: object): Prepare =>
  async () => ({
    params: { principal_id: `oidc:test#${randomUUID()}` },
    body,
  });

const memberToRemove =
  (role: string): Prepare =>
  async (world) => {
    const principalId = `oidc:test#${randomUUID()}`;
    await world.addMember(OWNER, principalId, role);
    return { params: { principal_id: principalId } };
  };

/** The fixtures of the requests, by name. Each caller gets a new fixture, unless nobody can change it. */
export const FIXTURES = {
  new_tenant: async () => ({ body: { tenant_id: `t-${randomUUID()}`, name: 'New' } }),
  tenant_name: async () => ({ body: { name: 'Acme' } }),
  invitation: async (world, caller) => {
    const tenantId = `t-${randomUUID()}`;
    await world.sql.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $1)', [tenantId]);
    await world.addMember(tenantId, world.principalOf(caller), 'tenant_reader', { status: 'pending' });
    return { params: { tenant_id: tenantId } };
  },
  role_reader: putMember({ role: 'tenant_reader' }),
  role_owner: putMember({ role: 'tenant_owner' }),
  flag_on: putMember({ allow_counterparty_access: true }),
  flag_off: putMember({ allow_counterparty_access: false }),
  member: memberToRemove('tenant_reader'),
  owner_member: memberToRemove('tenant_owner'),
  subject: async (world) => ({
    params: {
      ...subject(world.subjectId),
      snapshot_version: '1',
      snapshot_id: world.snapshotIds[0] ?? '',
      from_snapshot_id: world.snapshotIds[0] ?? '',
      to_snapshot_id: world.snapshotIds[1] ?? '',
    },
  }),
  versions: async (world) => ({ params: subject(world.subjectId), query: { from_version: '1', to_version: '2' } }),
  new_subject: async () => ({ body: envelope() }),
  second_version: async (world) => {
    const { subjectId } = await world.addSubject();
    return { body: envelope({ snapshot_version: 2, subject: { subject_type: TYPE, subject_id: subjectId } }) };
  },
  batch: async () => ({ lines: `${JSON.stringify(envelope())}\n` }),
  legacy_snapshot: async (world) => ({ params: { snapshot_id: (await world.addSubject(LEGACY)).snapshotId } }),
  proposal: async (world) => {
    const { subjectId, snapshotId } = await world.addSubject();
    return {
      body: { ...subject(subjectId), base_snapshot_id: snapshotId, base_snapshot_version: 1, patch_ops: PATCH },
    };
  },
  subject_proposal: async (world) => {
    const { subjectId } = await world.addSubject();
    return { params: subject(subjectId), body: { subject_id: subjectId, base_snapshot_version: 1, patch_ops: PATCH } };
  },
  update: (world) => world.addUpdate('oidc:test#someone'),
  own_update: (world, caller) => world.addUpdate(world.principalOf(caller)),
  new_grant: async (world) => {
    const { subjectId } = await world.addSubject();
    return { body: { grantee_tenant_id: LEGACY, ...subject(subjectId), scopes: ['read_latest'] } };
  },
  grant: async (world) => {
    const { subjectId } = await world.addSubject();
    return { params: { grant_id: await world.addGrant(LEGACY, ['read_latest'], subjectId) } };
  },
  received_grant: async (world) => {
    const { rows } = await world.sql.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       VALUES ($1, $2, $3, 0, '{read_latest}') RETURNING grant_id`,
      [randomUUID(), LEGACY, OWNER],
    );
    return { params: { grant_id: rows[0].grant_id } };
  },
  new_grants: async (world) => {
    const { subjectId } = await world.addSubject();
    return { body: { grants: [{ grantee_tenant_id: LEGACY, ...subject(subjectId), scopes: ['read_latest'] }] } };
  },
  new_grant_on_all: async (world) => {
    await world.sql.query('UPDATE grants SET revoked_at = now() WHERE subject_key = 0 AND revoked_at IS NULL');
    return { body: { grantee_tenant_id: LEGACY, subject_type: '*', scopes: ['read_latest'] } };
  },
  pending_grant: async (world) => {
    const grantId = randomUUID();
    await world.sql.query(
      `WITH grantee AS (INSERT INTO tenants (tenant_id, name) VALUES ($1, 'Grantee') RETURNING tenant_id)
       INSERT INTO pending_grants (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, requested_by)
       SELECT $1::text::uuid, $2, tenant_id, '{read_latest}', 'oidc:test#someone' FROM grantee`,
      [grantId, OWNER],
    );
    return { params: { grant_id: grantId } };
  },
  changed_grant: async (world) => {
    const { subjectId } = await world.addSubject();
    const grantId = await world.addGrant(LEGACY, ['read_latest'], subjectId);
    return { params: { grant_id: grantId }, body: { scopes: ['read_diff'] } };
  },
  logged_grant: async (world) => ({ params: { grant_id: world.loggedGrantId } }),
  lifted_confirmation: async (world) => {
    await world.sql.query('UPDATE tenants SET pending_changes = NULL');
    return { body: { erasure_confirmation: 'off' } };
  },
  new_erasure: async (world) => ({
    params: subject(await world.addLoggedSubject()),
    body: { versions: 'all', reason: 'Asked for.' },
  }),
  erasure: async (world) => world.addErasure(await world.addLoggedSubject()),
  logged_erasure: async (world) => world.loggedErasure,
  owner_change: async (world) => {
    const { rows } = await world.sql.query<{ log_index: string }>(
      `SELECT e.log_index FROM log_entries e JOIN owner_changes c USING (owner_change_id) WHERE c.tenant_id = $1 LIMIT 1`,
      [OWNER],
    );
    return { params: { log_index: rows[0]?.log_index ?? '' } };
  },
  versions_stream: async (world) => ({ params: subject(world.subjectId), query: { stream: 'v' } }),
  access_stream: async (world) => ({ params: subject(world.subjectId), query: { stream: 'a' } }),
  grants_stream: async (world) => ({ params: subject(world.subjectId), query: { stream: 'p' } }),
  disclosures_stream: async (world) => ({ params: subject(world.subjectId), query: { stream: 'r' } }),
  audit_stream: async () => ({ query: { stream: 'd' } }),
  owners_stream: async () => ({ query: { stream: 'o' } }),
  all_grants_stream: async () => ({ query: { stream: 'w' } }),
  received_all_grants_stream: async () => ({ query: { stream: 'p' } }),
  log_sizes: async () => ({ query: { from: '1', to: '2' } }),
  new_refresh_request: async (world, caller) => ({
    params: subject(world.subjectId),
    body: { requesting_tenant_id: tenantOf(caller) },
  }),
  own_refresh_requests: async (world, caller) => ({
    params: subject(world.subjectId),
    query: { requesting_tenant_id: tenantOf(caller) },
  }),
  refresh_request: (world) => world.addRefreshRequest(OWNER),
  refresh_request_to_decline: async (world) => ({
    ...(await world.addRefreshRequest(OWNER)),
    body: { reason: 'No.' },
  }),
  own_refresh_request_to_cancel: async (world, caller) => {
    const { params } = await world.addRefreshRequest(tenantOf(caller));
    return { ...(params === undefined ? {} : { params }) };
  },
  own_refresh_request: (world, caller) => world.addRefreshRequest(tenantOf(caller)),
  new_subscription: async () => ({
    body: { tenant_id: OWNER, target_url: 'https://hooks.example.com/', event_types: [EVENT_TYPE] },
  }),
  subscriptions: async () => ({ query: { tenant_id: OWNER } }),
  subscription: async (world) => ({ params: { subscription_id: await world.addSubscription() }, body: {} }),
  delivery: (world) => world.addDelivery(),
  replay: async (world) => ({ ...(await world.addDelivery()), body: { from: '2026-01-01T00:00:00Z' } }),
  new_offer: async (world) => {
    await world.restoreOwners();
    return { body: { to_principal_id: 'oidc:test#candidate' } };
  },
  founding_offer: async (world) => ({
    params: { tenant_id: await world.addOwnerlessTenant() },
    body: { to_principal_id: 'oidc:test#candidate' },
  }),
  offer: (world) => world.addOffer(),
  trusted_issuer: (world) => world.addTrustedIssuer(),
  new_trusted_issuer: async () => ({
    params: { issuer: `https://${randomUUID()}.example` },
    body: { vcts: [EXAMPLE_CREDENTIAL.vct], keys: [EXAMPLE_CREDENTIAL.key] },
  }),
  issuer_to_remove: (world) => world.addTrustedIssuer(`https://${randomUUID()}.example`),
  new_attestation: async (world) => {
    await world.addTrustedIssuer();
    return { body: { credential: EXAMPLE_CREDENTIAL.text } };
  },
  attestation: (world) => world.createAttestation(),
  new_presentation_request: async () => ({ body: { vcts: ['vct'] } }),
  presentation_request: (world) => world.addPresentationRequest(),
  wallet_error: (world) => world.addPresentationRequest(),
  issuing_key: (world) => world.addIssuingKey(),
  credential_source: async (world) => {
    await world.addIssuingKey();
    return { params: { snapshot_id: world.snapshotIds[0] ?? '' } };
  },
  credential: (world) => world.addCredential(),
  status_list: (world) => world.addCredential(),
  offered_code: (world) => world.addOfferedCode(),
} as const satisfies Record<string, Prepare>;

export type Fixture = keyof typeof FIXTURES;

/**
 * Fixtures of which a tenant can have only one at a time. An admin would confirm the change that an owner has just
 * requested.
 */
const EXCLUSIVE: readonly Fixture[] = ['new_grant_on_all', 'new_offer', 'offer', 'lifted_confirmation'];

export function isExclusive(fixture: Fixture | undefined): boolean {
  return fixture !== undefined && EXCLUSIVE.includes(fixture);
}

/**
 * Checks whether several callers can use a fixture: it does not depend on a caller, and other fixtures do not change
 * it.
 */
export function isForAnyCaller(fixture: Fixture | undefined): boolean {
  return fixture !== undefined && FIXTURES[fixture].length < 2 && !isExclusive(fixture);
}

/** Gives the fixture to the request of a caller. */
export async function prepare(world: World, fixture: Fixture | undefined, caller: Caller): Promise<Prepared> {
  const make: Prepare | undefined = fixture === undefined ? undefined : FIXTURES[fixture];
  return make === undefined ? {} : make(world, caller);
}
