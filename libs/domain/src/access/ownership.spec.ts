import { mayHandOver, type PossibleOfferer } from './ownership';

const owner: PossibleOfferer = {
  role: 'tenant_owner',
  tenancyRole: 'account_admin',
  principalType: 'human',
  status: 'active',
};

it.each<[string, Partial<PossibleOfferer>, boolean, boolean]>([
  ['its owner', {}, false, true],
  ['one of its owners, whatever its tenancy_role', { tenancyRole: 'member' }, true, true],
  ['an owner that is no human', { principalType: 'ai_agent' }, false, false],
  ['an owner that was removed', { status: 'removed' }, false, false],
  ['an account_admin where nobody owns it', { role: 'tenant_reader' }, false, true],
  ['a machine as account_admin where nobody owns it', { role: 'tenant_admin', principalType: 'ai_agent' }, false, true],
  ['an account_admin beside an owner', { role: 'tenant_admin' }, true, false],
  ['an admin where nobody owns it', { role: 'tenant_admin', tenancyRole: 'member' }, false, false],
  ['a removed account_admin', { role: 'tenant_admin', status: 'removed' }, false, false],
])('a tenant is handed over by %s: asked with %j, another owner %p: %p', (_, change, hasOtherOwner, expected) => {
  expect(mayHandOver({ ...owner, ...change }, hasOtherOwner)).toBe(expected);
});
