import { DomainError } from '../errors';
import type { MemberStatus } from '../statuses';
import { isAtLeast, type Role } from './roles';
import type { Scope } from './scopes';
import { unionOf, type Visible } from '../view/paths';

/** The current facts about one principal that acts for one tenant on at most one subject. Never cached. */
export interface AccessFacts {
  /** The principal's membership of the acting tenant; null without one. */
  membership: { role: Role; status: MemberStatus; allowCounterpartyAccess: boolean } | null;
  /** False if the subject does not exist. */
  ownsSubject: boolean;
  /** Scopes of the acting tenant's active grant on the subject; null without a grant. */
  grantScopes: readonly Scope[] | null;
  /**
   * The paths of the grants that give a scope which the operation needs; null if one of them has none, and empty if none
   * gives such a scope. A caller may use the grants of all its tenants in a global read.
   */
  grantPaths: readonly string[] | null;
}

/** The requirements of an operation. `subject` is absent if the operation concerns only the tenant. */
export interface AccessRule {
  role: Role;
  /**
   * `owner`: only the owner. `owner_or_grantee`: the owner or the holder of any active grant, for operations that read
   * nothing of the subject. A list: the owner, or a principal whose counterparty flag is on and whose tenant holds a
   * grant with at least one of these scopes.
   */
  subject?: 'owner' | 'owner_or_grantee' | readonly Scope[];
}

export const DENY_REASONS = [
  'not_a_member',
  'invitation_pending',
  'member_removed',
  'role_too_low',
  'not_owner',
  'owner_or_grant_required',
  'scope_missing',
  'counterparty_access_off',
] as const;
export type DenyReason = (typeof DENY_REASONS)[number];

export type Verdict = { allowed: true; visible: Visible } | { allowed: false; reason: DenyReason };

const EVERYTHING: Verdict = { allowed: true, visible: null };
const deny = (reason: DenyReason): Verdict => ({ allowed: false, reason });

/**
 * Decides access, and is the only function that does: membership first, then role, then ownership or grant
 * (specification, "Authentication" 6). The verdict is the same for a subject that does not exist and for one on which
 * the tenant has no rights, so it does not reveal which subjects exist.
 */
export function decideAccess(facts: AccessFacts, rule: AccessRule): Verdict {
  const { membership } = facts;
  if (membership === null) return deny('not_a_member');
  if (membership.status === 'pending') return deny('invitation_pending');
  if (membership.status !== 'active') return deny('member_removed');
  if (!isAtLeast(membership.role, rule.role)) return deny('role_too_low');
  if (rule.subject === undefined || facts.ownsSubject) return EVERYTHING;
  if (rule.subject === 'owner') return deny('not_owner');
  const scopes = facts.grantScopes;
  if (scopes === null) return deny('owner_or_grant_required');
  const visible = unionOf([facts.grantPaths]);
  if (rule.subject === 'owner_or_grantee') return { allowed: true, visible };
  if (!rule.subject.some((scope) => scopes.includes(scope))) return deny('scope_missing');
  return membership.allowCounterpartyAccess ? { allowed: true, visible } : deny('counterparty_access_off');
}

const REMEDIES: Record<DenyReason, (rule: AccessRule) => string> = {
  not_a_member: () =>
    'You are not a member of this tenant. Ask one of its tenant_admins to add your principal, or use one of ' +
    'your own tenants.',
  invitation_pending: () =>
    'You were invited to this tenant. Accept the invitation first: POST /v1/tenants/{tenant_id}/membership/accept.',
  member_removed: () => 'Your membership of this tenant was removed. Ask one of its tenant_admins to restore it.',
  role_too_low: (rule) => `This needs at least ${rule.role} in the tenant. Ask one of its tenant_admins for that role.`,
  not_owner: () =>
    'Owner required: the subject does not exist, or the tenant does not own it. Check type and id (GET ' +
    '/v1/tenants/{tenant_id}/subjects lists the owned subjects), and act for the tenant that owns it.',
  owner_or_grant_required: () =>
    'Owner or grant required: the subject does not exist, or the tenant may not read it. Check type and id: ' +
    'GET /v1/tenants/{tenant_id}/subjects lists the subjects that the tenant owns, and …/accessible-subjects ' +
    'those that it may read. Act for the tenant that owns it, or ask its owner for a grant.',
  scope_missing: (rule) =>
    "The grant does not permit this read. Ask the subject's owner for a grant with " +
    `${Array.isArray(rule.subject) ? rule.subject.join(' or ') : 'a wider scope'}.`,
  counterparty_access_off: () =>
    'Your allow_counterparty_access is false, so you cannot use grants. Ask a human account_admin of your ' +
    'tenant to set it.',
};

/**
 * Returns what the caller is shown of the subject. Throws 403 `forbidden` unless the rule allows access. The message
 * names what is missing and how to get it.
 */
export function requireAccess(facts: AccessFacts, rule: AccessRule): Visible {
  const verdict = decideAccess(facts, rule);
  if (!verdict.allowed) throw new DomainError('forbidden', REMEDIES[verdict.reason](rule));
  return verdict.visible;
}
