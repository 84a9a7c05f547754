import { isAtLeast, type Role, type Scope } from '@iss/domain';
import type { Method } from '../../../../tools/testing/conformance';
import { type Caller, CALLERS, GRANTEES, MEMBERS } from './callers';
import type { Fixture } from './world';

/** One route, or one case of a route, with the status of each caller. */
export interface Row {
  method: Method;
  path: string;
  /** The case, if the route has several. */
  when?: string;
  /** The status of allowed callers. */
  ok: number;
  /** The least role in the owner's tenant. If absent, any token is enough, or none if `open`. */
  role?: Role;
  open?: true;
  /** The tenant that other callers name: their own (reads and writes of the owner's subject) or the owner's. */
  actsFor: 'own' | 'owner';
  /** The scopes of which a grantee needs one; `any` accepts every grant. */
  grants?: readonly Scope[] | 'any';
  /** A grantee needs no flag. */
  withoutFlag?: true;
  /** The status of callers with a token but no right; 403 unless the route hides what exists. */
  denied?: number;
  /** A POST that takes no `Idempotency-Key`. */
  keepsNothing?: true;
  /** Statuses that do not follow from the above. */
  except?: Partial<Record<Caller, number>>;
  /** The data of the request, created for each caller. */
  fixture?: Fixture;
}

const TENANT = '/v1/tenants/{tenant_id}';
const SUBJECT = '/subjects/{subject_type}/{subject_id}';
const UPDATES = `${TENANT}/entity-state-updates`;
const SUBJECT_UPDATES = `${TENANT}${SUBJECT}/updates`;
const MEMBERSHIP = `${TENANT}/membership`;
const OFFERS = `${TENANT}/transfer-offers`;
const ERASURE = `${TENANT}${SUBJECT}/erasures/{erasure_id}`;
const REFRESH = `/v1${SUBJECT}/refresh-requests`;
const TRUSTED = `${TENANT}/trusted-issuers`;
const KEYS = `${TENANT}/issuing-keys`;
const CREDENTIAL = `${TENANT}/credentials/{credential_id}`;
const HOOKS = '/v1/webhook-subscriptions';
const HOOK = `${HOOKS}/{subscription_id}`;

const LATEST = ['read_latest'] as const;
const LINEAGE = ['read_lineage'] as const;
const BY_ID = ['read_snapshot_by_id'] as const;
const DIFF = ['read_diff'] as const;

/** Returns the tenant-scoped and the global route of a read. */
function read(path: string, grants: readonly Scope[], fixture: Fixture = 'subject'): Row[] {
  const common = { method: 'get', ok: 200, role: 'tenant_reader', actsFor: 'own', grants, fixture } as const;
  return [
    { ...common, path: `${TENANT}${path}` },
    { ...common, path: `/v1${path}`, denied: 404 },
  ];
}

const write = { method: 'post', actsFor: 'own' } as const;
const ofOwner = { actsFor: 'owner' } as const;
const HUMAN_ONLY = { 'service account': 422, 'ai agent': 422 } as const;

/** Every route of the service. A missing route fails the test. */
export const TABLE: readonly Row[] = [
  { method: 'get', path: '/health', ok: 200, open: true, ...ofOwner },
  { method: 'get', path: '/v1/meta', ok: 200, open: true, ...ofOwner },
  { method: 'get', path: '/.well-known/oauth-protected-resource', ok: 200, open: true, ...ofOwner },
  { method: 'get', path: '/v1/ops/readiness', ok: 200, open: true, ...ofOwner },

  { method: 'get', path: '/log/checkpoint', ok: 200, open: true, ...ofOwner },
  { method: 'get', path: '/log/keys', ok: 200, open: true, ...ofOwner },
  {
    method: 'get',
    path: '/.well-known/jwt-vc-issuer/tenants/{tenant_id}',
    ok: 200,
    open: true,
    ...ofOwner,
    fixture: 'issuing_key',
  },
  { method: 'get', path: '/tenants/{tenant_id}', ok: 200, open: true, ...ofOwner, fixture: 'issuing_key' },
  {
    method: 'get',
    path: '/.well-known/openid-credential-issuer/tenants/{tenant_id}',
    ok: 200,
    open: true,
    ...ofOwner,
    fixture: 'issuing_key',
  },
  {
    method: 'get',
    path: '/.well-known/oauth-authorization-server/tenants/{tenant_id}',
    ok: 200,
    open: true,
    ...ofOwner,
    fixture: 'issuing_key',
  },
  { method: 'post', path: '/tenants/{tenant_id}/token', ok: 200, open: true, ...ofOwner, fixture: 'offered_code' },
  { method: 'post', path: '/tenants/{tenant_id}/nonce', ok: 200, open: true, ...ofOwner },
  // Only the token for the code of an offer takes a credential (`credential-offers.e2e-spec.ts`).
  { method: 'post', path: '/tenants/{tenant_id}/credential', ok: 401, open: true, ...ofOwner },
  {
    method: 'post',
    path: '/openid4vp/responses/{response_id}',
    ok: 200,
    open: true,
    ...ofOwner,
    fixture: 'wallet_error',
  },
  { method: 'get', path: '/v1/status-lists/{list_id}', ok: 200, open: true, ...ofOwner, fixture: 'status_list' },
  { method: 'get', path: '/log/consistency', ok: 200, open: true, ...ofOwner, fixture: 'log_sizes' },

  { method: 'post', path: '/v1/tenants', ok: 201, ...ofOwner, fixture: 'new_tenant' },
  { method: 'get', path: '/v1/tenants', ok: 200, ...ofOwner },
  { method: 'get', path: TENANT, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'patch', path: TENANT, ok: 200, role: 'tenant_admin', ...ofOwner, fixture: 'tenant_name' },
  {
    method: 'patch',
    path: TENANT,
    when: 'a confirmation is switched off',
    ok: 200,
    role: 'tenant_owner',
    ...ofOwner,
    fixture: 'lifted_confirmation',
  },
  {
    method: 'put',
    path: `${TENANT}/members/{principal_id}`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'role_reader',
  },
  {
    method: 'put',
    path: `${TENANT}/members/{principal_id}`,
    when: 'role is tenant_owner',
    ok: 200,
    role: 'tenant_owner',
    ...ofOwner,
    // An account_admin could, if it were human.
    except: HUMAN_ONLY,
    fixture: 'role_owner',
  },
  {
    method: 'delete',
    path: `${TENANT}/members/{principal_id}`,
    ok: 204,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'member',
  },
  {
    method: 'delete',
    path: `${TENANT}/members/{principal_id}`,
    when: 'the member is a tenant_owner',
    ok: 204,
    role: 'tenant_owner',
    ...ofOwner,
    fixture: 'owner_member',
  },
  {
    method: 'put',
    path: `${TENANT}/principals/{principal_id}`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'flag_off',
  },
  {
    method: 'put',
    path: `${TENANT}/principals/{principal_id}`,
    when: 'allow_counterparty_access is true',
    ok: 200,
    role: 'tenant_owner',
    ...ofOwner,
    except: HUMAN_ONLY,
    fixture: 'flag_on',
  },
  { method: 'get', path: '/v1/invitations', ok: 200, ...ofOwner },
  { method: 'get', path: '/v1/blocked-tenants', ok: 200, ...ofOwner },
  { ...write, path: `${MEMBERSHIP}/accept`, ok: 200, ...ofOwner, fixture: 'invitation' },
  { ...write, path: `${MEMBERSHIP}/leave`, ok: 200, ...ofOwner, fixture: 'invitation' },
  { method: 'put', path: `${MEMBERSHIP}/block`, ok: 204, ...ofOwner, fixture: 'invitation' },
  { method: 'delete', path: `${MEMBERSHIP}/block`, ok: 204, ...ofOwner, fixture: 'invitation' },
  { method: 'get', path: `${TENANT}/principals`, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'get', path: `${TENANT}/usage`, ok: 200, role: 'tenant_admin', ...ofOwner },
  { method: 'get', path: `${TENANT}/subjects`, ok: 200, role: 'tenant_reader', ...ofOwner },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/owners`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'own',
    grants: 'any',
    fixture: 'subject',
  },

  {
    ...write,
    path: `${TENANT}/entity-states`,
    when: 'the subject is new',
    ok: 201,
    role: 'tenant_editor',
    actsFor: 'owner',
    fixture: 'new_subject',
  },
  {
    ...write,
    path: `${TENANT}/entity-states`,
    when: 'the version is 2',
    ok: 201,
    role: 'tenant_editor',
    fixture: 'second_version',
  },
  {
    ...write,
    path: `${TENANT}/entity-states/batch`,
    ok: 200,
    role: 'tenant_editor',
    actsFor: 'owner',
    keepsNothing: true,
    fixture: 'batch',
  },
  { ...write, path: '/v1/entity-states', ok: 201, open: true, fixture: 'new_subject' },
  {
    method: 'get',
    path: '/v1/entity-states/{snapshot_id}',
    ok: 200,
    open: true,
    ...ofOwner,
    fixture: 'legacy_snapshot',
  },

  { ...write, path: UPDATES, ok: 201, role: 'tenant_proposer', fixture: 'proposal' },
  { ...write, path: SUBJECT_UPDATES, ok: 201, role: 'tenant_proposer', fixture: 'subject_proposal' },
  { method: 'get', path: UPDATES, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'get', path: SUBJECT_UPDATES, ok: 200, role: 'tenant_reader', actsFor: 'own', fixture: 'subject' },
  { method: 'get', path: `${UPDATES}/{update_id}`, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'update' },
  {
    method: 'get',
    path: `${SUBJECT_UPDATES}/{update_id}`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'own',
    fixture: 'update',
  },
  {
    ...write,
    path: `${UPDATES}/{update_id}/apply`,
    ok: 201,
    role: 'tenant_editor',
    actsFor: 'owner',
    fixture: 'update',
  },
  { ...write, path: `${SUBJECT_UPDATES}/{update_id}/apply`, ok: 200, role: 'tenant_editor', fixture: 'update' },
  {
    ...write,
    path: `${UPDATES}/{update_id}/withdraw`,
    ok: 200,
    role: 'tenant_editor',
    actsFor: 'owner',
    fixture: 'update',
  },
  { ...write, path: `${SUBJECT_UPDATES}/{update_id}/withdraw`, ok: 200, role: 'tenant_editor', fixture: 'update' },
  {
    ...write,
    path: `${UPDATES}/{update_id}/withdraw`,
    when: 'the caller proposed it',
    ok: 200,
    role: 'tenant_proposer',
    actsFor: 'owner',
    fixture: 'own_update',
  },

  ...read(SUBJECT, LATEST),
  ...read(`${SUBJECT}/snapshots/latest`, LATEST),
  ...read(`${SUBJECT}/snapshots/{snapshot_version}`, [...BY_ID, ...LINEAGE]),
  ...read('/snapshots/{snapshot_id}', BY_ID),
  ...read('/snapshots/{snapshot_id}/proof', BY_ID),
  ...read('/snapshots/{snapshot_id}/log-proof', BY_ID),
  ...read(`${SUBJECT}/history`, LINEAGE),
  ...read(`${SUBJECT}/snapshots`, LINEAGE),
  ...read(`${SUBJECT}/chain-proof`, LINEAGE),
  ...read(`${SUBJECT}/provenance`, LINEAGE),
  ...read(`${SUBJECT}/export`, LINEAGE),
  ...read(`${SUBJECT}/export.ndjson`, LINEAGE),
  ...read(`${SUBJECT}/diff`, DIFF, 'versions'),
  ...read('/snapshots/{from_snapshot_id}/diff/{to_snapshot_id}', DIFF),

  { ...write, path: `${TENANT}/grants`, ok: 201, role: 'tenant_admin', fixture: 'new_grant' },
  {
    ...write,
    path: `${TENANT}/grants`,
    when: 'on all subjects',
    ok: 201,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'new_grant_on_all',
  },
  { ...write, path: `${TENANT}/grants/batch`, ok: 200, role: 'tenant_admin', ...ofOwner, fixture: 'new_grants' },
  { method: 'get', path: `${TENANT}/grants`, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'get', path: `${TENANT}/grants/{grant_id}`, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'grant' },
  {
    ...write,
    path: `${TENANT}/grants/{grant_id}/accept`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'owner',
    fixture: 'received_grant',
  },
  { method: 'get', path: `${TENANT}/pending-grants`, ok: 200, role: 'tenant_admin', ...ofOwner },
  {
    ...write,
    path: `${TENANT}/pending-grants/{grant_id}/confirm`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    except: HUMAN_ONLY,
    fixture: 'pending_grant',
  },
  {
    ...write,
    path: `${TENANT}/pending-grants/{grant_id}/cancel`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'pending_grant',
  },
  { method: 'get', path: `${TENANT}/changes`, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'get', path: `${TENANT}/owner-history`, ok: 200, role: 'tenant_reader', ...ofOwner },
  {
    method: 'get',
    path: `${TENANT}/owner-history/{log_index}/log-proof`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'owner_change',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/latest-proof`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'own',
    grants: LATEST,
    fixture: 'subject',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/absence-proof`,
    when: 'of versions',
    ok: 200,
    role: 'tenant_editor',
    actsFor: 'own',
    fixture: 'versions_stream',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/absence-proof`,
    when: 'of changes of access',
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'access_stream',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/absence-proof`,
    when: 'of grants to the tenant',
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'grants_stream',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/absence-proof`,
    when: 'of disclosures',
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'disclosures_stream',
  },
  {
    method: 'get',
    path: `${TENANT}/absence-proof`,
    when: 'of audit records',
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'audit_stream',
  },
  {
    method: 'get',
    path: `${TENANT}/absence-proof`,
    when: 'of owners',
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'owners_stream',
  },
  {
    method: 'get',
    path: `${TENANT}/absence-proof`,
    when: 'of grants on all subjects',
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'all_grants_stream',
  },
  {
    method: 'get',
    path: `${TENANT}/absence-proof`,
    when: 'of received grants on all subjects',
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'received_all_grants_stream',
  },
  {
    method: 'get',
    path: `${TENANT}/grants/{grant_id}/state-proof`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'logged_grant',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/access-history`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'subject',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/disclosures`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'subject',
  },
  { method: 'get', path: `${TENANT}/disclosures`, ok: 200, role: 'tenant_admin', ...ofOwner },
  { method: 'get', path: `${TENANT}/audit`, ok: 200, role: 'tenant_admin', ...ofOwner },
  { method: 'get', path: TRUSTED, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'get', path: `${TRUSTED}/{issuer}`, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'trusted_issuer' },
  {
    method: 'put',
    path: `${TRUSTED}/{issuer}`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'new_trusted_issuer',
  },
  {
    method: 'delete',
    path: `${TRUSTED}/{issuer}`,
    ok: 204,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'issuer_to_remove',
  },
  {
    method: 'post',
    path: `${TENANT}/attestations`,
    ok: 201,
    role: 'tenant_editor',
    ...ofOwner,
    fixture: 'new_attestation',
  },
  { method: 'get', path: `${TENANT}/attestations`, ok: 200, role: 'tenant_reader', ...ofOwner },
  {
    method: 'get',
    path: `${TENANT}/attestations/{attestation_id}`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'attestation',
  },
  {
    method: 'post',
    path: `${TENANT}/presentation-requests`,
    ok: 201,
    role: 'tenant_editor',
    ...ofOwner,
    fixture: 'new_presentation_request',
  },
  {
    method: 'get',
    path: `${TENANT}/presentation-requests/{presentation_request_id}`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'presentation_request',
  },
  {
    method: 'get',
    path: KEYS,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
  },
  { method: 'post', path: KEYS, ok: 201, role: 'tenant_admin', ...ofOwner },
  { method: 'post', path: `${KEYS}/{kid}/retire`, ok: 200, role: 'tenant_admin', ...ofOwner, fixture: 'issuing_key' },
  {
    ...write,
    path: `${TENANT}/snapshots/{snapshot_id}/credentials`,
    ok: 201,
    role: 'tenant_admin',
    grants: ['issue_view'],
    fixture: 'credential_source',
  },
  {
    ...write,
    path: `${TENANT}/snapshots/{snapshot_id}/credential-offers`,
    ok: 201,
    role: 'tenant_admin',
    grants: ['issue_view'],
    fixture: 'credential_source',
  },
  { method: 'get', path: `${TENANT}/credentials`, ok: 200, role: 'tenant_reader', ...ofOwner },
  { method: 'get', path: CREDENTIAL, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'credential' },
  { method: 'post', path: `${CREDENTIAL}/withdraw`, ok: 200, role: 'tenant_admin', ...ofOwner, fixture: 'credential' },
  {
    method: 'get',
    path: `${TENANT}/grants/{grant_id}/log-proof`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'logged_grant',
  },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/grants`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'subject',
  },
  {
    method: 'patch',
    path: `${TENANT}/grants/{grant_id}`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    fixture: 'changed_grant',
  },
  {
    ...write,
    path: `${TENANT}/grants/{grant_id}/revoke`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'owner',
    fixture: 'grant',
  },
  {
    method: 'get',
    path: `${TENANT}/accessible-subjects`,
    ok: 200,
    actsFor: 'own',
    role: 'tenant_reader',
    grants: 'any',
    // The flag alone decides, whatever was granted to the tenant. Nobody in the owner's tenant has the flag here.
    except: {
      'other tenant': 403,
      'expired grant': 200,
      'revoked grant': 200,
      tenant_reader: 403,
      tenant_proposer: 403,
      tenant_editor: 403,
      tenant_admin: 403,
      tenant_owner: 403,
      'service account': 403,
      'ai agent': 403,
    },
  },

  { ...write, path: `${TENANT}${SUBJECT}/erasure`, ok: 201, role: 'tenant_owner', fixture: 'new_erasure' },
  {
    method: 'get',
    path: `${TENANT}${SUBJECT}/erasures`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'subject',
  },
  { method: 'get', path: `${TENANT}/erasures`, ok: 200, role: 'tenant_admin', ...ofOwner },
  { method: 'get', path: ERASURE, ok: 200, role: 'tenant_admin', actsFor: 'own', fixture: 'erasure' },
  {
    ...write,
    path: `${ERASURE}/confirm`,
    ok: 200,
    role: 'tenant_admin',
    except: HUMAN_ONLY,
    fixture: 'erasure',
  },
  { ...write, path: `${ERASURE}/cancel`, ok: 200, role: 'tenant_admin', fixture: 'erasure' },
  {
    method: 'get',
    path: `${ERASURE}/log-proof`,
    ok: 200,
    role: 'tenant_admin',
    actsFor: 'own',
    fixture: 'logged_erasure',
  },

  {
    ...write,
    path: REFRESH,
    ok: 201,
    role: 'tenant_reader',
    grants: 'any',
    withoutFlag: true,
    fixture: 'new_refresh_request',
  },
  {
    method: 'get',
    path: REFRESH,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'own',
    grants: 'any',
    withoutFlag: true,
    fixture: 'own_refresh_requests',
  },
  {
    method: 'get',
    path: `${REFRESH}/{refresh_request_id}`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'refresh_request',
  },
  {
    method: 'get',
    path: `${REFRESH}/{refresh_request_id}`,
    when: "the caller's tenant made it",
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'own',
    grants: 'any',
    withoutFlag: true,
    fixture: 'own_refresh_request',
  },
  {
    ...write,
    path: `${REFRESH}/{refresh_request_id}/decline`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'owner',
    fixture: 'refresh_request_to_decline',
  },
  {
    ...write,
    path: `${REFRESH}/{refresh_request_id}/cancel`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'own',
    grants: 'any',
    withoutFlag: true,
    // The requester may cancel, even if its grant has ended.
    except: { 'expired grant': 200, 'revoked grant': 200, 'other tenant': 200 },
    fixture: 'own_refresh_request_to_cancel',
  },
  {
    method: 'get',
    path: `${TENANT}/refresh-requests`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
  },
  {
    ...write,
    path: `${REFRESH}/{refresh_request_id}/fulfill`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'owner',
    fixture: 'refresh_request',
  },

  { ...write, path: HOOKS, ok: 201, role: 'tenant_reader', actsFor: 'owner', fixture: 'new_subscription' },
  { method: 'get', path: HOOKS, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'subscriptions' },
  { method: 'get', path: HOOK, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'subscription' },
  { method: 'patch', path: HOOK, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'subscription' },
  {
    ...write,
    path: `${HOOK}/rotate-secret`,
    ok: 200,
    role: 'tenant_reader',
    actsFor: 'owner',
    fixture: 'subscription',
  },
  { method: 'delete', path: HOOK, ok: 204, role: 'tenant_reader', ...ofOwner, fixture: 'subscription' },
  { method: 'get', path: `${HOOK}/deliveries`, ok: 200, role: 'tenant_reader', ...ofOwner, fixture: 'subscription' },
  {
    method: 'get',
    path: `${HOOK}/deliveries/{delivery_id}`,
    ok: 200,
    role: 'tenant_reader',
    ...ofOwner,
    fixture: 'delivery',
  },
  {
    ...write,
    path: `${HOOK}/deliveries/{delivery_id}/redeliver`,
    ok: 202,
    role: 'tenant_reader',
    actsFor: 'owner',
    fixture: 'delivery',
  },
  { ...write, path: `${HOOK}/deliveries/replay`, ok: 202, role: 'tenant_reader', actsFor: 'owner', fixture: 'replay' },
  { ...write, path: `${HOOK}/test`, ok: 202, role: 'tenant_reader', actsFor: 'owner', fixture: 'subscription' },

  { ...write, path: OFFERS, ok: 201, role: 'tenant_owner', actsFor: 'owner', fixture: 'new_offer' },
  {
    ...write,
    path: OFFERS,
    when: 'the tenant has no tenant_owner left',
    ok: 201,
    role: 'tenant_owner',
    actsFor: 'owner',
    except: { 'service account': 201, 'ai agent': 201 },
    fixture: 'founding_offer',
  },
  // The tenant was offered to the outsider.
  {
    method: 'get',
    path: OFFERS,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    except: { outsider: 200 },
    fixture: 'offer',
  },
  {
    method: 'get',
    path: `${OFFERS}/{offer_id}`,
    ok: 200,
    role: 'tenant_admin',
    ...ofOwner,
    except: { outsider: 200 },
    fixture: 'offer',
  },
  { ...write, path: `${OFFERS}/{offer_id}/accept`, ok: 200, ...nobodyBut('outsider', 200), fixture: 'offer' },
  { ...write, path: `${OFFERS}/{offer_id}/decline`, ok: 200, ...nobodyBut('outsider', 200), fixture: 'offer' },
  { ...write, path: `${OFFERS}/{offer_id}/cancel`, ok: 200, ...nobodyBut('tenant_owner', 200), fixture: 'offer' },
];

function nobodyBut(caller: Caller, status: number): Pick<Row, 'actsFor' | 'except' | 'role'> {
  const others = Object.fromEntries(CALLERS.filter((one) => one !== 'no token').map((one) => [one, 403]));
  return { actsFor: 'owner', except: { ...others, [caller]: status } };
}

/** Returns the status that a caller gets according to a row. */
export function expectedStatus(row: Row, caller: Caller): number {
  const exception = row.except?.[caller];
  if (exception !== undefined) return exception;
  if (row.open === true) return row.ok;
  if (caller === 'no token') return 401;
  if (row.role === undefined) return row.ok;
  const denied = row.denied ?? 403;
  const role = MEMBERS[caller];
  if (role !== undefined) return isAtLeast(role, row.role) ? row.ok : denied;
  const scopes = GRANTEES[caller];
  if (row.actsFor === 'owner' || row.grants === undefined || scopes === undefined) return denied;
  const isLive = caller !== 'expired grant' && caller !== 'revoked grant';
  const hasFlag = caller !== 'flag off' || row.withoutFlag === true;
  const isCovered = row.grants === 'any' || row.grants.some((scope) => scopes.includes(scope));
  return isLive && hasFlag && isCovered ? row.ok : denied;
}
