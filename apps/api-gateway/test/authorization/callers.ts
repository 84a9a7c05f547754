import type { Role, Scope } from '@iss/domain';

/** The kinds of callers. Callers of the owner's tenant act for it. A grantee acts for its own tenant when it reads a subject. */
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
  'issue_view',
  'expired grant',
  'revoked grant',
  'flag off',
] as const;
/**
 * A grantee with every scope. `npm test` sends a route that ignores grants as this caller instead of one grantee per
 * scope.
 */
export const EVERY_SCOPE = 'every scope';
type Documented = (typeof CALLERS)[number];
export type Caller = Documented | typeof EVERY_SCOPE;

const GRANTEE =
  'grantee: `tenant_owner` of a tenant with a live grant of only this scope, with `allow_counterparty_access` on';

/** Describes each caller for the document. */
export const MEANING: Readonly<Record<Documented, string>> = {
  'no token': 'sends no `Authorization` header',
  outsider: 'has a valid token, but belongs to no tenant',
  'other tenant': '`tenant_owner` of an unrelated tenant',
  tenant_reader: 'member of the owner with this role',
  tenant_proposer: 'member of the owner with this role',
  tenant_editor: 'member of the owner with this role',
  tenant_admin: 'member of the owner with this role, not `account_admin`',
  tenant_owner: 'human `tenant_owner` and `account_admin` of the owner',
  'removed member': 'former `tenant_owner` of the owner whose token is still valid',
  'service account': '`service_account` with `tenant_admin` and `account_admin` in the owner',
  'ai agent': '`ai_agent` with `tenant_admin` and `account_admin` in the owner',
  read_latest: GRANTEE,
  read_lineage: GRANTEE,
  read_snapshot_by_id: GRANTEE,
  read_diff: GRANTEE,
  issue_view: GRANTEE,
  'expired grant': 'grantee whose grant of all scopes has expired, flag on',
  'revoked grant': 'grantee whose grant of all scopes was revoked, flag on',
  'flag off': 'grantee with all scopes whose `allow_counterparty_access` is off',
};

/** The callers that are members of the owner's tenant, with their roles. */
export const MEMBERS: Partial<Record<Caller, Role>> = {
  tenant_reader: 'tenant_reader',
  tenant_proposer: 'tenant_proposer',
  tenant_editor: 'tenant_editor',
  tenant_admin: 'tenant_admin',
  tenant_owner: 'tenant_owner',
  'service account': 'tenant_admin',
  'ai agent': 'tenant_admin',
};

const EVERY: readonly Scope[] = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff', 'issue_view'];

/** The callers whose tenant has a grant on the subject, with its scopes. */
export const GRANTEES: Partial<Record<Caller, readonly Scope[]>> = {
  read_latest: ['read_latest'],
  read_lineage: ['read_lineage'],
  read_snapshot_by_id: ['read_snapshot_by_id'],
  read_diff: ['read_diff'],
  issue_view: ['issue_view'],
  'expired grant': EVERY,
  'revoked grant': EVERY,
  'flag off': EVERY,
  [EVERY_SCOPE]: EVERY,
};

/** Returns the caller's name in its token. */
export function userOf(caller: Caller): string {
  return caller.replaceAll(' ', '-');
}

/** Returns the caller's own tenant. */
export function tenantOf(caller: Caller): string {
  return caller === 'other tenant' || caller in GRANTEES ? `of.${userOf(caller)}` : 'acme';
}
