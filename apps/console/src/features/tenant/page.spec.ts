/** @jest-environment ./src/testing/environment.cjs */
import {
  actAs,
  address,
  answerItem,
  api,
  buttons,
  check,
  field,
  fill,
  open,
  press,
  rows,
  see,
  sends,
  shown,
  waitFor,
} from '../../testing/page.tsx';

const TENANT = '/v1/tenants/{tenant_id}';
const CAROL = '/v1/tenants/acme/principals/oidc%3Adev%23carol';
const PAGE = '/t/acme/tenant';

describe('members', () => {
  it.each([
    ['carol', 'service_account', { role: 'tenant_editor', principal_type: 'service_account' }],
    ['carol', '', { role: 'tenant_editor' }],
  ])('are added by principal id: %s of kind "%s"', async (name, kind, body) => {
    await open(PAGE);
    await press('Add a member');
    await fill('Principal', name);
    await press('Add a member');
    await see('Enter a principal id, for example oidc:dev#carol');
    expect(api.sent()).toEqual([]);
    await fill('Principal', ` oidc:dev#${name} `);
    await fill('Role', 'tenant_editor');
    await fill('Kind', kind);
    await press('Add a member');
    await sends(['PUT', '/v1/tenants/acme/members/oidc%3Adev%23carol', body]);
  });

  it('are shown among the invited ones if they must accept first', async () => {
    api.answer('PUT /v1/tenants/{tenant_id}/members/{principal_id}', { status: 'pending' });
    await open(PAGE);
    await press('Add a member');
    await fill('Principal', 'oidc:dev#carol');
    await press('Add a member');
    await waitFor(() => expect(address()).toContain('status=pending'));
  });

  it('are changed by a request with only the changed values', async () => {
    await open(PAGE);
    await press('Change carol');
    await see('Nothing is changed yet.');
    await fill('Role', 'tenant_proposer');
    await fill('Kind', 'ai_agent');
    await check('Account admin');
    await check(/^May read what other/);
    await press('Save');
    await sends([
      'PUT',
      CAROL,
      {
        api_functional_role: 'tenant_proposer',
        principal_type: 'ai_agent',
        tenancy_role: 'account_admin',
        allow_counterparty_access: false,
      },
    ]);
  });

  it('are removed after confirmation, and a refusal is shown', async () => {
    const message = api.refuse(`DELETE ${TENANT}/members/{principal_id}`, 409);
    await open(PAGE);
    await press('Remove carol');
    await press('Cancel');
    await press('Remove carol');
    await press('Remove');
    await see(message);
    await sends(['DELETE', '/v1/tenants/acme/members/oidc%3Adev%23carol']);
  });

  it.each([
    ['', { status: 'active', limit: '200' }],
    ['removed', { status: 'removed', limit: '200' }],
    ['any', { limit: '200' }],
  ])('are filtered by status in the address: "%s"', async (status, query) => {
    await open(PAGE);
    if (status !== '') await fill('Status', status);
    await see('carol');
    expect(address()).toBe(status === '' ? PAGE : `${PAGE}?status=${status}`);
    expect(api.asked(`GET ${TENANT}/principals`).at(-1)).toEqual(query);
  });

  it.each([
    ['tenant_reader', 'member', [], null],
    ['tenant_editor', 'member', [], null],
    ['tenant_admin', 'member', ['Change carol', 'Remove carol'], 4],
    ['tenant_owner', 'member', ['Change alice', 'Remove alice', 'Change carol', 'Remove carol'], 5],
    ['tenant_reader', 'account_admin', ['Change alice', 'Change carol'], 5],
  ] as const)(
    'can be managed by a %s who is %s according to its rights',
    async (role, tenancyRole, expected, roles) => {
      actAs(role, tenancyRole);
      await open(PAGE);
      await see('carol');
      expect(buttons().filter((name) => /^(Change|Remove) [a-z]+$/.test(name))).toEqual(expected);
      expect(buttons().includes('Add a member')).toBe(roles !== null);
      if (roles === null) return;
      await press('Add a member');
      expect((await field('Role')).querySelectorAll('option')).toHaveLength(roles);
    },
  );

  it('offer an admin nothing that only an account admin can change', async () => {
    actAs('tenant_admin');
    answerItem(`GET ${TENANT}/principals`, { allow_counterparty_access: false, principal_type: 'ai_agent' });
    await open(PAGE);
    await press('Change carol');
    expect(document.querySelectorAll('[role=dialog] input[type=checkbox]')).toHaveLength(0);
    expect(shown(await field('Kind'))).toBe('Service account AI agent');
  });
});

describe('settings', () => {
  it('send changed values, and keep the typed text if the service fails', async () => {
    const body = {
      name: 'Acme Holding',
      slug: null,
      evidence_policy: 'resolved',
      erasure_confirmation: 'off',
      chain_enforced: false,
    };
    api.refuse(`PATCH ${TENANT}`, 500);
    await open(`${PAGE}?show=settings`);
    await fill('Name', 'Acme Holding');
    await fill('Slug', '');
    await fill('Required evidence', 'resolved');
    await fill('Erasures', 'off');
    await check(/^Refuse to apply/);
    await press('Save');
    await see('The service failed.');
    expect((await field('Name')).value).toBe('Acme Holding');
    // The next read returns the stored values.
    api.answer(`GET ${TENANT}`, { ...body });
    api.restore(`PATCH ${TENANT}`);
    await press('Save');
    await see('Saved.');
    await sends(['PATCH', '/v1/tenants/acme', body], ['PATCH', '/v1/tenants/acme', body]);
  });

  it.each([
    ['dora', ['Switch off now']],
    ['alice', []],
  ])('show that %s requested to switch the confirmation of erasures off', async (by, offered) => {
    const change = {
      setting: 'erasure_confirmation',
      requested_by: `oidc:dev#${by}`,
      requested_at: '2026-01-20T08:00:00.000Z',
      effective_at: '2099-01-21T08:00:00.000Z',
    };
    actAs('tenant_admin');
    api.answer(`GET ${TENANT}`, { pending_changes: [change] });
    await open(`${PAGE}?show=settings`);
    await see(`${by} requested that erasures need no second human, from`);
    expect((await field('Erasures')).value).toBe('off');
    expect(buttons().filter((name) => name === 'Switch off now')).toEqual(offered);
    const wanted = offered.length > 0 ? 'off' : 'required';
    if (wanted === 'off') await press('Switch off now');
    else {
      await fill('Erasures', 'required');
      await press('Save');
    }
    await sends(['PATCH', '/v1/tenants/acme', { erasure_confirmation: wanted }]);
  });

  it.each([
    ['tenant_editor', 'Only a tenant_admin can change this.', false],
    ['tenant_admin', 'Name', true],
  ] as const)('are shown to a %s according to its role', async (role, words, mayChange) => {
    actAs(role);
    await open(`${PAGE}?show=settings`);
    await see(words);
    expect(buttons().includes('Save')).toBe(mayChange);
  });
});

describe('ownership offers', () => {
  it('are created with a message and an end', async () => {
    api.answer(`GET ${TENANT}/transfer-offers`, { items: [] });
    await open(`${PAGE}?show=offers`);
    await press('Offer the ownership');
    await fill('To', ' oidc:dev#dora ');
    await fill('Message', ' Yours. ');
    await fill('Until', '2000-01-01T00:00');
    await press('Offer');
    await see('The end must be in the future.');
    expect(api.sent()).toEqual([]);
    await fill('Until', '2999-01-01T00:00');
    await press('Offer');
    const body = {
      to_principal_id: 'oidc:dev#dora',
      message: 'Yours.',
      expires_at: new Date('2999-01-01T00:00').toISOString(),
    };
    await sends(['POST', '/v1/tenants/acme/transfer-offers', body]);
  });

  it('are cancelled by their author', async () => {
    await open(`${PAGE}?show=offers`);
    await press('Cancel the offer');
    await press('Cancel the offer');
    await sends(['POST', '/v1/tenants/acme/transfer-offers/0c7a4be2-3f0d-4c58-9b0e-5a1d2c3e4f60/cancel']);
  });

  it.each([
    ['Accept', 'accept', 'You become the owner of acme immediately, and bob becomes its admin.'],
    ['Decline', 'decline', 'The owner of acme does not change.'],
  ])('are answered by their recipient: %s', async (button, path, words) => {
    answerItem(`GET ${TENANT}/transfer-offers`, {
      from_principal_id: 'oidc:dev#bob',
      to_principal_id: 'oidc:dev#alice',
    });
    api.answer('GET /v1/tenants', { items: [] });
    await open('/t/acme/tenant');
    await see('You are offered the ownership of this tenant');
    await press(button);
    await see(words);
    await press(button);
    await sends(['POST', `/v1/tenants/acme/transfer-offers/0c7a4be2-3f0d-4c58-9b0e-5a1d2c3e4f60/${path}`]);
  });
});

describe('erasures', () => {
  const ERASURE_ID = '6c1e8d7a-94b2-4f3d-a0c5-1e7b2d9f4a63';
  const prepare = (status: 'pending' | 'erased'): void => {
    answerItem(`GET ${TENANT}/erasures`, { status, requested_by: 'oidc:dev#bob', erasure_id: ERASURE_ID });
  };

  it('cannot be confirmed by the human who requested them', async () => {
    await open(`${PAGE}?show=erasures`);
    await see('Waiting for confirmation');
    expect(buttons().filter((name) => /^(Confirm|Cancel)$/.test(name))).toEqual(['Cancel']);
  });

  it.each([
    ['Confirm', 'Erase', 'confirm'],
    ['Cancel', 'Cancel', 'cancel'],
  ])('can be answered while they are pending: %s', async (button, _confirm, path) => {
    prepare('pending');
    await open(`${PAGE}?show=erasures`);
    await see('Waiting for confirmation');
    await press(button);
    await see(/\?/);
    const all = [...document.querySelectorAll<HTMLElement>('[role=alertdialog] button')];
    all.at(-1)?.click();
    await sends(['POST', `/v1/tenants/acme/subjects/organization/acme-corp/erasures/${ERASURE_ID}/${path}`]);
  });

  it('offer no action after they are done', async () => {
    prepare('erased');
    await open(`${PAGE}?show=erasures`);
    await see('Erased');
    expect(buttons().filter((name) => /^(Confirm|Cancel)$/.test(name))).toEqual([]);
  });
});

describe('credentials', () => {
  const CREDENTIAL = 'cred_7d0c51ab-6a0e-4a3c-9e67-0f8f6cf5a004';

  it.each(['valid', 'superseded'] as const)('that are %s are withdrawn after confirmation', async (status) => {
    answerItem(`GET ${TENANT}/credentials`, { credential_id: CREDENTIAL, status });
    await open(`${PAGE}?show=credentials`);
    await press('Withdraw');
    await see('Withdraw the credential?');
    const all = [...document.querySelectorAll<HTMLElement>('[role=alertdialog] button')];
    all.at(-1)?.click();
    await sends(['POST', `/v1/tenants/acme/credentials/${CREDENTIAL}/withdraw`]);
  });

  it('offer no action if they are invalid, or to a reader', async () => {
    answerItem(`GET ${TENANT}/credentials`, { status: 'invalid', invalid_reason: 'withdrawn' });
    await open(`${PAGE}?show=credentials`);
    await see('Invalid');
    expect(buttons()).not.toContain('Withdraw');
    answerItem(`GET ${TENANT}/credentials`, { status: 'valid' });
    actAs('tenant_reader');
    await open(`${PAGE}?show=credentials`);
    await see('Valid');
    expect(buttons()).not.toContain('Withdraw');
  });
});

it.each([
  ['action', 'Action', 'member.removed', { action: 'member.removed' }],
  ['from', 'From', '2026-01-01', { from: '2026-01-01' }],
  ['to', 'To', '2026-02-01', { to: '2026-02-01' }],
  ['principal', 'Principal', 'oidc:dev#alice', { principal_id: 'oidc:dev#alice' }],
  ['principal', 'Principal', 'oidc:dev', {}],
])('the audit trail is filtered by the address: %s (field "%s", value "%s")', async (name, label, value, query) => {
  await open(`${PAGE}?show=audit`);
  await fill(label, value);
  await see('Grant created');
  expect(address()).toBe(`${PAGE}?show=audit&${new URLSearchParams({ [name]: value })}`);
  expect(api.asked(`GET ${TENANT}/audit`).at(-1)).toEqual(query);
});

it.each([
  ['tenant_reader', ['Members', 'Offers', 'Settings', 'Owners']],
  ['tenant_admin', ['Members', 'Offers', 'Settings', 'Limits and usage', 'Owners', 'Audit trail', 'Disclosed to you']],
] as const)('a %s is offered the permitted views', async (role, expected) => {
  actAs(role);
  await open(PAGE);
  await see('carol');
  const links = [...document.querySelectorAll('main nav a')].map((link) => link.textContent);
  expect(links).toEqual(expect.arrayContaining([...expected]));
  expect(links.includes('Audit trail')).toBe(role === 'tenant_admin');
});

it.each([
  ['ok', 'The service moves old versions to its archive.'],
  ['degraded', 'The archive of old versions does not answer.'],
])('the usage shows that the archive is %s', async (status, expected) => {
  api.answer<{ checks: object }>('GET /v1/ops/readiness', (ready) => ({
    ...ready,
    checks: { ...ready.checks, archive: { status } },
  }));
  await open(`${PAGE}?show=usage`);
  await see(expected);
});

it.each([
  ['active', '1'],
  ['revoked', '0'],
])('the usage counts a grant on all subjects that is %s as %s', async (status, count) => {
  answerItem(`GET ${TENANT}/grants`, { subject_type: '*', subject_id: '*', status });
  await open(`${PAGE}?show=usage`);
  await see('Live grants on all subjects');
  expect(rows('Limits and current counts').find(([name]) => name === 'Live grants on all subjects')?.[1]).toBe(count);
});

it('an address of a forbidden view names the required role', async () => {
  actAs('tenant_reader');
  await open(`${PAGE}?show=audit`);
  await see('Only a tenant_admin can see this.');
  expect(api.asked(`GET ${TENANT}/audit`)).toEqual([]);
});

it('the list of owners shows the proof of a change', async () => {
  await open(`${PAGE}?show=owners`);
  await press(/^Proof/);
  await see('agrees with the keys that this service shows');
  expect(rows('Changes of the owner').length).toBe(1);
});
