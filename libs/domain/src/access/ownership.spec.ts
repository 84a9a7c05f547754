import { mayHandOver, type PossibleOfferer } from './ownership';

const owner: PossibleOfferer = {
  role: 'tenant_owner',
  tenancyRole: 'account_admin',
  principalType: 'human',
  status: 'active',
};

it.each<[string, Partial<PossibleOfferer>, boolean, boolean]>([
  ['the owner', {}, false, true],
  ['an owner with the tenancy_role member', { tenancyRole: 'member' }, true, true],
  ['an owner that is not human', { principalType: 'ai_agent' }, false, false],
  ['an owner that was removed', { status: 'removed' }, false, false],
  ['an account_admin of a tenant without an owner', { role: 'tenant_reader' }, false, true],
  [
    'a machine as account_admin of a tenant without an owner',
    { role: 'tenant_admin', principalType: 'ai_agent' },
    false,
    true,
  ],
  ['an account_admin of a tenant with an owner', { role: 'tenant_admin' }, true, false],
  ['a tenant_admin of a tenant without an owner', { role: 'tenant_admin', tenancyRole: 'member' }, false, false],
  ['a removed account_admin', { role: 'tenant_admin', status: 'removed' }, false, false],
])('mayHandOver for %s (%j, another owner: %p) is %p', (_, change, hasOtherOwner, expected) => {
  expect(mayHandOver({ ...owner, ...change }, hasOtherOwner)).toBe(expected);
});
