import { DomainError } from '../errors';
import type { MemberStatus } from '../statuses';
import { type AccessFacts, type AccessRule, decideAccess, DENY_REASONS, requireAccess } from './decide-access';
import { isAtLeast, ROLES, rolesFrom } from './roles';
import { SCOPES } from './scopes';

const facts = (change: {
  role?: (typeof ROLES)[number];
  status?: MemberStatus;
  flag?: boolean;
  owns?: boolean;
  scopes?: AccessFacts['grantScopes'];
  paths?: AccessFacts['grantPaths'];
}): AccessFacts => ({
  membership: {
    role: change.role ?? 'tenant_reader',
    status: change.status ?? 'active',
    allowCounterpartyAccess: change.flag ?? false,
  },
  ownsSubject: change.owns ?? false,
  grantScopes: change.scopes ?? null,
  grantPaths: change.paths ?? null,
});

const owner: AccessRule = { role: 'tenant_reader', subject: 'owner' };
const grantee: AccessRule = { role: 'tenant_reader', subject: 'owner_or_grantee' };
const latest: AccessRule = { role: 'tenant_reader', subject: ['read_latest'] };
const version: AccessRule = { role: 'tenant_reader', subject: ['read_snapshot_by_id', 'read_lineage'] };

describe('decideAccess', () => {
  it.each<[string, AccessFacts, AccessRule, (typeof DENY_REASONS)[number] | 'allowed']>([
    [
      'refuses a caller without a membership',
      { membership: null, ownsSubject: true, grantScopes: SCOPES, grantPaths: null },
      latest,
      'not_a_member',
    ],
    [
      'refuses an owner whose invitation is pending',
      facts({ status: 'pending', role: 'tenant_owner', owns: true }),
      latest,
      'invitation_pending',
    ],
    [
      'refuses an owner who was removed',
      facts({ status: 'removed', role: 'tenant_owner', owns: true }),
      latest,
      'member_removed',
    ],
    ['allows a reader in the owning tenant', facts({ owns: true }), latest, 'allowed'],
    ['allows a reader in the owning tenant if the rule is owner', facts({ owns: true }), owner, 'allowed'],
    ['refuses an owner of another tenant if the rule is owner', facts({ role: 'tenant_owner' }), owner, 'not_owner'],
    ['refuses a grantee if the rule is owner', facts({ flag: true, scopes: SCOPES }), owner, 'not_owner'],
    ['refuses a caller without a grant', facts({ flag: true }), latest, 'owner_or_grant_required'],
    ['refuses a grant with another scope', facts({ flag: true, scopes: ['read_diff'] }), latest, 'scope_missing'],
    ['allows a grant with the scope', facts({ flag: true, scopes: ['read_latest'] }), latest, 'allowed'],
    [
      'allows a grant with one of two sufficient scopes',
      facts({ flag: true, scopes: ['read_lineage'] }),
      version,
      'allowed',
    ],
    [
      'refuses a grant if allow_counterparty_access is off',
      facts({ scopes: ['read_latest'] }),
      latest,
      'counterparty_access_off',
    ],
    [
      'allows any grant without the flag if the rule is owner_or_grantee',
      facts({ scopes: ['read_diff'] }),
      grantee,
      'allowed',
    ],
    ['allows the owner if the rule is owner_or_grantee', facts({ owns: true }), grantee, 'allowed'],
    [
      'refuses a caller without a grant if the rule is owner_or_grantee',
      facts({ flag: true }),
      grantee,
      'owner_or_grant_required',
    ],
    ['allows an owner without grants', facts({ owns: true, scopes: null }), version, 'allowed'],
  ])('%s', (_, given, rule, expected) => {
    const verdict = decideAccess(given, rule);
    expect(verdict.allowed ? 'allowed' : verdict.reason).toBe(expected);
    if (verdict.allowed) expect(() => requireAccess(given, rule)).not.toThrow();
    else expect(() => requireAccess(given, rule)).toThrow(DomainError);
  });

  it.each<[string, AccessFacts, readonly string[] | null]>([
    ['a grant without paths', facts({ flag: true, scopes: ['read_latest'] }), null],
    [
      'two grants with paths',
      facts({ flag: true, scopes: ['read_latest'], paths: ['/b/c', '/a', '/b', '/a'] }),
      ['/a', '/b'],
    ],
    ['a grant with an empty list of paths', facts({ flag: true, scopes: ['read_latest'], paths: [] }), []],
    ['an owner, regardless of paths of grants', facts({ owns: true, paths: ['/a'] }), null],
  ])('returns the visible paths of %s', (_, given, visible) => {
    expect(requireAccess(given, latest)).toEqual(visible);
    expect(decideAccess(given, latest)).toEqual({ allowed: true, visible });
  });

  it('allows a role exactly if it is at least the required one', () => {
    for (const held of ROLES) {
      for (const required of ROLES) {
        const { allowed } = decideAccess(facts({ role: held }), { role: required });
        expect(allowed).toBe(ROLES.indexOf(held) >= ROLES.indexOf(required));
        expect(isAtLeast(held, required)).toBe(allowed);
        expect(rolesFrom(required).includes(held)).toBe(allowed);
      }
    }
  });

  it('refuses a caller without ownership or a grant with "Owner or grant required"', () => {
    const message = (given: AccessFacts): string => {
      try {
        requireAccess(given, latest);
        return '';
      } catch (error) {
        return error instanceof DomainError ? `${error.code} ${error.message}` : '';
      }
    };
    expect(message(facts({}))).toMatch(/^forbidden Owner or grant required/);
  });
});
