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
    ['nobody', { membership: null, ownsSubject: true, grantScopes: SCOPES, grantPaths: null }, latest, 'not_a_member'],
    ['an invited owner', facts({ status: 'pending', role: 'tenant_owner', owns: true }), latest, 'invitation_pending'],
    ['a removed owner', facts({ status: 'removed', role: 'tenant_owner', owns: true }), latest, 'member_removed'],
    ['a reader of the owner', facts({ owns: true }), latest, 'allowed'],
    ['a reader of the owner, flag or not', facts({ owns: true }), owner, 'allowed'],
    ['an owner of another tenant', facts({ role: 'tenant_owner' }), owner, 'not_owner'],
    ['a grantee where the owner is demanded', facts({ flag: true, scopes: SCOPES }), owner, 'not_owner'],
    ['no grant', facts({ flag: true }), latest, 'owner_or_grant_required'],
    ['a grant with another scope', facts({ flag: true, scopes: ['read_diff'] }), latest, 'scope_missing'],
    ['a grant with the scope', facts({ flag: true, scopes: ['read_latest'] }), latest, 'allowed'],
    ['a grant with one of two fitting scopes', facts({ flag: true, scopes: ['read_lineage'] }), version, 'allowed'],
    ['a grant without the flag', facts({ scopes: ['read_latest'] }), latest, 'counterparty_access_off'],
    ['any grant where a grantee will do, without the flag', facts({ scopes: ['read_diff'] }), grantee, 'allowed'],
    ['the owner where a grantee will do', facts({ owns: true }), grantee, 'allowed'],
    ['no grant where a grantee will do', facts({ flag: true }), grantee, 'owner_or_grant_required'],
    ['an owner without grants', facts({ owns: true, scopes: null }), version, 'allowed'],
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
    ['a statement that expects other scopes', facts({ flag: true, scopes: ['read_latest'], paths: [] }), []],
    ['the owner, whatever its grants say', facts({ owns: true, paths: ['/a'] }), null],
  ])('shows what the paths cover: %s', (_, given, visible) => {
    expect(requireAccess(given, latest)).toEqual(visible);
    expect(decideAccess(given, latest)).toEqual({ allowed: true, visible });
  });

  it('holds each role to the ladder', () => {
    for (const held of ROLES) {
      for (const required of ROLES) {
        const { allowed } = decideAccess(facts({ role: held }), { role: required });
        expect(allowed).toBe(ROLES.indexOf(held) >= ROLES.indexOf(required));
        expect(isAtLeast(held, required)).toBe(allowed);
        expect(rolesFrom(required).includes(held)).toBe(allowed);
      }
    }
  });

  it('says the same of a subject that does not exist and of one that is not the caller’s', () => {
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
