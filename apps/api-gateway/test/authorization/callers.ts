import type { Role, Scope } from '@iss/domain';

/** Who calls. Those of the owner's tenant act for it; a grantee acts for its own tenant where a subject is concerned. */
export const CALLERS = [
  'no token',
  'outsider',
  'other tenant',
  'tenant_reader',
  'tenant_proposer',
  'tenant_editor',
  'tenant_admin',
  'tenant_owner',
  'removed member',
  'service account',
  'ai agent',
  'read_latest',
  'read_lineage',
  'read_snapshot_by_id',
  'read_diff',
  'expired grant',
  'revoked grant',
  'flag off',
] as const;
export type Caller = (typeof CALLERS)[number];

/** What each caller is, in words for the document. */
export const MEANING: Readonly<Record<Caller, string>> = {
  'no token': 'sends no Authorization header',
  outsider: 'has a valid token and belongs to no tenant',
  'other tenant': 'tenant_owner of a tenant that has nothing to do with the subject',
  tenant_reader: 'member of the owner with this role',
  tenant_proposer: 'member of the owner with this role',
  tenant_editor: 'member of the owner with this role',
  tenant_admin: 'member of the owner with this role, not account_admin',
  tenant_owner: 'human tenant_owner and account_admin of the owner',
  'removed member': 'was tenant_owner of the owner; its token is still valid',
  'service account': 'service_account; tenant_admin and account_admin of the owner',
  'ai agent': 'ai_agent; tenant_admin and account_admin of the owner',
  read_latest: 'tenant_owner of a tenant whose live grant has this one scope, flag on',
  read_lineage: 'tenant_owner of a tenant whose live grant has this one scope, flag on',
  read_snapshot_by_id: 'tenant_owner of a tenant whose live grant has this one scope, flag on',
  read_diff: 'tenant_owner of a tenant whose live grant has this one scope, flag on',
  'expired grant': 'tenant_owner of a tenant whose grant of every scope has expired, flag on',
  'revoked grant': 'tenant_owner of a tenant whose grant of every scope was revoked, flag on',
  'flag off': 'tenant_owner of a tenant whose live grant has every scope, allow_counterparty_access off',
};

/** Callers that are members of the owner's tenant, with the role that counts. */
export const MEMBERS: Partial<Record<Caller, Role>> = {
  tenant_reader: 'tenant_reader',
  tenant_proposer: 'tenant_proposer',
  tenant_editor: 'tenant_editor',
  tenant_admin: 'tenant_admin',
  tenant_owner: 'tenant_owner',
  'service account': 'tenant_admin',
  'ai agent': 'tenant_admin',
};

const EVERY: readonly Scope[] = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'];

/** Callers whose tenant was given a grant on the subject, with its scopes. */
export const GRANTEES: Partial<Record<Caller, readonly Scope[]>> = {
  read_latest: ['read_latest'],
  read_lineage: ['read_lineage'],
  read_snapshot_by_id: ['read_snapshot_by_id'],
  read_diff: ['read_diff'],
  'expired grant': EVERY,
  'revoked grant': EVERY,
  'flag off': EVERY,
};

/** The caller's name in its token. */
export function userOf(caller: Caller): string {
  return caller.replaceAll(' ', '-');
}

/** The tenant that the caller acts for where it acts for its own. */
export function tenantOf(caller: Caller): string {
  return caller === 'other tenant' || caller in GRANTEES ? `of.${userOf(caller)}` : 'acme';
}
