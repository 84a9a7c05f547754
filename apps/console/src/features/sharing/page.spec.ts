/** @jest-environment ./src/testing/environment.cjs */
import { generateKeys } from '@iss/tlog';
import {
  actAs,
  address,
  answerItem,
  api,
  buttons,
  check,
  field,
  fill,
  letUseGrants,
  open,
  press,
  rows,
  see,
  sends,
  unsee,
  waitFor,
} from '../../testing/page.tsx';

const TENANT = '/v1/tenants/{tenant_id}';
const PAGE = '/t/acme/sharing';
const SUBJECT_PAGE = '/t/acme/subjects/organization/acme-corp/sharing';
const GRANTS = '/v1/tenants/acme/grants';
const GRANT = `${GRANTS}/3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52`;

describe('sharing', () => {
  it('counts at most 1,000 grants, and reads all of them for a file', async () => {
    const many = 2_100;
    api.answer<{ items: object[] }>(`GET ${TENANT}/grants`, (page, { query }) => {
      const from = Number(query['cursor'] ?? 0);
      const items = Array.from({ length: 100 }, (_, index) => ({
        ...page.items[0],
        grant_id: `00000000-0000-4000-8000-${String(from + index).padStart(12, '0')}`,
        status: 'active',
        expires_at: null,
        revoked_at: null,
      }));
      const next = from + 100 < many ? String(from + 100) : null;
      return { ...page, items, next_cursor: next, has_more: next !== null };
    });
    await open(PAGE);
    await see(/1,000\+ ?Live/, '1,000 rows so far');
    expect(api.asked(`GET ${TENANT}/grants`)).toHaveLength(10);
    await press('CSV: Grants that this tenant issued');
    await see(/2,100 ?Live/, '2,100 rows');
  });

  it('creates one grant, and keeps the typed text if the service fails', async () => {
    const message = api.refuse(`POST ${TENANT}/grants`, 500);
    await open(PAGE);
    await press('Share');
    await fill('Who may read', 'beta');
    await fill('Subjects', 'organization/acme-corp\n');
    await check(/^Lineage/);
    await fill('Purpose', ' Loan ');
    await see('This creates one grant.');
    await press('Share');
    await see(message);
    expect((await field('Purpose')).value).toBe(' Loan ');
    api.restore(`POST ${TENANT}/grants`);
    await press('Share');
    await see('One grant was created.');
    const body = {
      grantee_tenant_id: 'beta',
      subject_type: 'organization',
      subject_id: 'acme-corp',
      scopes: ['read_latest', 'read_lineage'],
      purpose: 'Loan',
    };
    await sends(['POST', GRANTS, body], ['POST', GRANTS, body]);
  });

  it.each([
    ['carol', ['Confirm the grant to beta', 'Cancel the request for beta'], 'confirm'],
    ['alice', ['Cancel the request for beta'], 'cancel'],
  ])('offers to confirm a grant on all subjects to humans other than its requester %s', async (by, offered, how) => {
    answerItem(`GET ${TENANT}/pending-grants`, { requested_by: `oidc:dev#${by}` });
    await open(PAGE);
    await see('A second human must confirm these grants');
    expect(
      buttons().filter((name) => / to beta$| for beta$/.test(name) && !/^(Change|Revoke|Proof)/.test(name)),
    ).toEqual(offered);
    await press(offered[0] ?? '');
    await sends(['POST', `/v1/tenants/acme/pending-grants/5a9c2e71-0d4b-4e86-b3f7-2c8d1e6a9b40/${how}`, undefined]);
  });

  it.each([
    [true, ['beta', 'gamma', 'holding']],
    [false, ['beta', 'holding']],
  ])('offers known tenants, including owners of shared subjects: %s', async (isAllowed, expected) => {
    letUseGrants(isAllowed);
    answerItem(`GET ${TENANT}/accessible-subjects`, { granted_by_tenant_id: 'gamma' });
    api.answer<{ items: object[] }>('GET /v1/tenants', (page) => ({
      ...page,
      items: [...page.items, { ...page.items[0], tenant_id: 'holding' }],
    }));
    await open(PAGE);
    await press('Share');
    const known = async () =>
      [...(await field('Add a known tenant')).querySelectorAll('option')].map(({ value }) => value);
    await waitFor(async () => expect(await known()).toEqual(['', ...expected]));
    expect(api.asked(`GET ${TENANT}/accessible-subjects`).length > 0).toBe(isAllowed);
  });

  it('reports that grants on all subjects need a second human', async () => {
    const pending = {
      grant_id: '5a9c2e71-0d4b-4e86-b3f7-2c8d1e6a9b40',
      grantor_tenant_id: 'acme',
      grantee_tenant_id: 'beta',
      subject_type: '*',
      subject_id: '*',
      paths: null,
      starts_at: null,
      scopes: ['read_latest'],
      expires_at: null,
      purpose: null,
      status: 'pending',
      requested_by: 'oidc:dev#alice',
      created_at: '2026-01-20T08:00:00.000Z',
      confirm_by: '2099-01-21T08:00:00.000Z',
      confirmed_by: null,
      confirmed_at: null,
      cancelled_by: null,
      cancelled_at: null,
    };
    const items = [0, 1].map((index) => ({ index, status: 202, pending_grant: pending }));
    api.answer(`POST ${TENANT}/grants/batch`, () => ({ items }));
    await open(PAGE);
    await press('Share');
    await fill('Who may read', 'beta, gamma');
    await check(/^All subjects/);
    await press('Share');
    await see('A second human must confirm 2 grants on all subjects.');
  });

  it('creates many grants in one request, and retries those that were refused', async () => {
    api.answer<{ items: object[] }>(`POST ${TENANT}/grants/batch`, (results) => ({
      items: [
        { index: 0, status: 403, error: { code: 'forbidden', message: 'No such tenant.', request_id: 'r-1' } },
        ...results.items.filter((item) => !('error' in item)).map((item) => ({ ...item, index: 1 })),
      ].slice(0, 2),
    }));
    await open(PAGE);
    await press('Share');
    await fill('Who may read', 'beta, gamma\nbeta');
    await check(/^All subjects/);
    await fill('Until when', '2999-01-01T00:00:00');
    await see('This creates 2 separate grants.');
    await press('Share');
    await see('One grant was refused');
    expect(rows('Refused grants')).toEqual([['beta', 'All subjects', 'No such tenant.']]);
    await press('Try these again');
    await see('2 grants were created.');
    const common = {
      subject_type: '*',
      scopes: ['read_latest'],
      expires_at: new Date('2999-01-01T00:00:00').toISOString(),
    };
    const toBeta = { grantee_tenant_id: 'beta', ...common };
    await sends(
      ['POST', `${GRANTS}/batch`, { grants: [toBeta, { grantee_tenant_id: 'gamma', ...common }] }],
      ['POST', GRANTS, toBeta],
    );
  });

  it.each([
    ['Who may read', '-beta', '-beta is not a tenant id'],
    ['Subjects', 'acme-corp', 'acme-corp is not a subject'],
    ['Until when', '2000-01-01T00:00', 'The end must be in the future.'],
  ])('sends nothing if the field "%s" is invalid', async (label, value, words) => {
    await open(SUBJECT_PAGE);
    await press('Share');
    await fill('Who may read', 'beta');
    await see('This creates one grant.');
    await fill(label, value);
    await see(words, 'Enter at least one tenant');
    await press('Share');
    expect(api.sent()).toEqual([]);
  });

  it('shares only ticked attributes, and previews what the grantee will see', async () => {
    await open(SUBJECT_PAGE);
    await press('Share');
    await fill('Who may read', 'beta');
    await check(/^Only some attributes/);
    await see('Tick at least one attribute');
    await check(/^legal_name/);
    await see('What they will see', '"legal_name": "Acme Corporation AG"', '"source": "commercial register"');
    await unsee('"legal_form": "AG"');
    await check(/^identifiers/);
    await see('"lei": "529900T8BM49AURSDO55"', 'This creates one grant.');
    await fill('From when', '2998-01-01T00:00:00');
    await press('Share');
    const subject = { subject_type: 'organization', subject_id: 'acme-corp' };
    await sends([
      'POST',
      GRANTS,
      {
        grantee_tenant_id: 'beta',
        ...subject,
        scopes: ['read_latest'],
        paths: ['/attributes/identifiers', '/attributes/legal/legal_name'],
        starts_at: new Date('2998-01-01T00:00:00').toISOString(),
      },
    ]);
  });

  it('shows and changes the paths and the start of a scheduled grant', async () => {
    const [start, paths] = ['2998-01-01T00:00:00.000Z', ['/attributes/identifiers', '/attributes/legal']];
    answerItem(`GET ${TENANT}/grants`, { status: 'scheduled', starts_at: start, paths });
    await open(PAGE);
    await see(`Not started Latest Only: /attributes/identifiers, /attributes/legal from ${start}`);
    await press('Change the grant to beta');
    await check(/^legal_form/);
    await press('Change');
    await sends(['PATCH', GRANT, { paths: ['/attributes/identifiers', '/attributes/legal/legal_name'] }]);
    await press('Change the grant to beta');
    await check(/^The whole version/);
    await fill('From when', '');
    await press('Change');
    await waitFor(() => expect(api.sent().at(-1)).toEqual(['PATCH', GRANT, { paths: null, starts_at: null }]));
  });

  it('finds a subject by its name', async () => {
    await open(PAGE);
    await press('Share');
    await fill('Find a subject to add', 'Acme');
    await press('Add organization/acme-corp');
    expect((await field('Subjects')).value).toBe('organization/acme-corp\n');
    expect(api.asked(`GET ${TENANT}/subjects`)).toContainEqual({ q: 'Acme', limit: '6' });
  });

  it.each([
    ['scopes', async () => check(/^Differences/), { scopes: ['read_latest', 'read_diff'] }],
    [
      'the end',
      async () => fill('Until when', '2999-01-01T00:00:00'),
      { expires_at: new Date('2999-01-01T00:00:00').toISOString() },
    ],
    ['the purpose', async () => fill('Purpose', 'Audit'), { purpose: 'Audit' }],
  ] as const)('changes %s of a grant, and sends nothing else', async (_what, change, body) => {
    await open(PAGE);
    await press('Change the grant to beta');
    await see('Nothing is changed yet.');
    await change();
    await press('Change');
    await sends(['PATCH', GRANT, body]);
  });

  it('shows which scopes a change removes and adds', async () => {
    await open(PAGE);
    await press('Change the grant to beta');
    await check(/^Lineage/);
    await check(/^Latest/);
    await fill('Why', ' narrower ');
    await see('Takes away: Latest.', 'Adds: Lineage.');
    await press('Change');
    await sends(['PATCH', GRANT, { scopes: ['read_lineage'], reason: 'narrower' }]);
  });

  it('revokes a grant after confirmation', async () => {
    await open(PAGE);
    await press('Revoke the grant to beta');
    await press('Cancel');
    expect(api.sent()).toEqual([]);
    await press('Revoke the grant to beta');
    await press('Revoke');
    await sends(['POST', `${GRANT}/revoke`]);
  });

  it.each([
    ['that is unchanged', (entry: string) => entry, 'agrees with the keys that this service shows'],
    ['with another entry', (entry: string) => ` ${entry}`, 'The proof failed the verification'],
  ])('verifies the proof of a grant %s', async (_what, tamper, words) => {
    api.answer<{ entry: string }>(`GET ${TENANT}/grants/{grant_id}/log-proof`, (proof) => ({
      ...proof,
      entry: tamper(proof.entry),
    }));
    await open(PAGE);
    await press('Proof of the grant to beta');
    await see(words);
    // The example is about another fact than the one that the page requests now.
    await fill('Fact', 'changed');
    await see('The proof failed the verification');
    expect(api.asked(`GET ${TENANT}/grants/{grant_id}/log-proof`)).toEqual([
      { fact: 'created', wait: '10' },
      { fact: 'changed', wait: '10' },
    ]);
  });

  it.each([
    ['from another log', async () => (await generateKeys('log.example/other', 'ed25519')).verifierKey, 'does not name'],
    ['about another tenant', async () => null, 'tenant_id is acme, but must be other'],
  ])('refuses the proof of a grant %s', async (_what, policyOf, words) => {
    const policy = await policyOf();
    if (policy !== null) localStorage.setItem('identity-state.policy', policy);
    const tenant = policy === null ? 'other' : 'acme';
    answerItem('GET /v1/tenants', { tenant_id: tenant });
    await open(`/t/${tenant}/sharing`);
    await press('Proof of the grant to beta');
    await see('Refused', words);
  });

  it.each([
    ['', 1],
    ['?status=live', 1],
    ['?status=expiring', 0],
    ['?status=revoked', 0],
    ['?grantee=bet', 1],
    ['?grantee=gamma', 0],
    ['?on=single', 1],
    ['?on=all', 0],
    ['?find=ACME', 1],
    ['?find=other', 0],
  ])('filters grants by the address: %s', async (search, count) => {
    await open(PAGE + search);
    await see(count === 1 ? 'beta Acme Corporation AG acme-corp Live' : 'No grant fits these filters');
  });

  it('filters grants by a click on a count', async () => {
    await open(PAGE);
    await press(/^0 ?Revoked/);
    await see('No grant fits these filters');
    expect(address()).toBe(`${PAGE}?status=revoked`);
  });

  it.each(['tenant_reader', 'tenant_admin'] as const)('offers a %s the permitted actions', async (role) => {
    actAs(role);
    await open(PAGE);
    await see('beta Acme Corporation AG acme-corp Live');
    const actions = buttons().filter((name) => /^(Share|Change |Revoke )/.test(name));
    expect(actions).toEqual(
      role === 'tenant_admin' ? ['Share', 'Change the grant to beta', 'Revoke the grant to beta'] : [],
    );
  });
});

describe('the sharing of a subject', () => {
  it('shows a reader that only a tenant_admin sees past access', async () => {
    actAs('tenant_reader');
    await open(SUBJECT_PAGE);
    await see('Only a tenant_admin sees who could read it');
    expect(api.asked(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/access-history`)).toEqual([]);
    expect(api.asked(`GET ${TENANT}/grants`)).toEqual(
      expect.arrayContaining([
        { subject_type: 'organization', subject_id: 'acme-corp', limit: '100' },
        { subject_type: '*', limit: '100' },
      ]),
    );
  });

  it('lists a scheduled grant among the live ones', async () => {
    answerItem(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/grants`, {
      status: 'scheduled',
      starts_at: '2999-01-01T00:00:00.000Z',
    });
    await open(SUBJECT_PAGE);
    await see('beta', 'Not started');
    expect(buttons()).toContain('Revoke the grant to beta');
  });

  it('shows an ended grant with its time of revocation on request', async () => {
    answerItem(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/grants`, {
      status: 'revoked',
      revoked_at: '2026-02-01T00:00:00.000Z',
      expires_at: '2999-01-01T00:00:00.000Z',
    });
    await open(SUBJECT_PAGE);
    await check('Show 1 ended grant');
    await waitFor(() => expect(rows('Grants on this subject')[0]?.join()).toContain('2026-02-01T00:00:00.000Z'));
  });

  it('requests only the grants on this subject for a grantee', async () => {
    answerItem(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/owners`, { owner_tenant_id: 'beta' });
    await open(SUBJECT_PAGE);
    await see('beta owns this subject');
    await waitFor(() => expect(api.asked(`GET ${TENANT}/accessible-subjects`).length).toBeGreaterThan(1));
    for (const query of api.asked(`GET ${TENANT}/accessible-subjects`))
      expect(query).toMatchObject({ subject_type: 'organization', subject_id: 'acme-corp' });
  });

  it('shows the access at the time in the address, and moves to earlier and later changes', async () => {
    const path = `GET ${TENANT}/subjects/{subject_type}/{subject_id}/access-history`;
    await open(`${SUBJECT_PAGE}?at=2026-01-20T00:00:00.000Z`);
    await see('One grant gave access at that moment', 'Revoked');
    expect(api.asked(path).map(({ at }) => at)).toContain('2026-01-20T00:00:00.000Z');
    await press('← Previous change');
    expect(address()).toBe(`${SUBJECT_PAGE}?at=2026-01-15T10%3A00%3A00.000Z`);
    const disabled = (): (string | null)[] =>
      [...document.querySelectorAll('button:disabled')].map((one) => one.textContent);
    await waitFor(() => expect(disabled()).toContain('← Previous change'));
    await press('Next change →');
    expect(address()).toBe(`${SUBJECT_PAGE}?at=2026-02-01T00%3A00%3A00.000Z`);
    await press('Now');
    expect(address()).toBe(SUBJECT_PAGE);
  });

  it('filters disclosures by day', async () => {
    await open(SUBJECT_PAGE);
    await see('bob');
    await fill('From', '2026-01-01');
    await see('bob');
    expect(api.asked(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/disclosures`).at(-1)).toMatchObject({
      from: '2026-01-01',
    });
    await fill('To', '2026-02-01');
    await waitFor(() =>
      expect(api.asked(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/disclosures`).at(-1)).toMatchObject({
        ...{ from: '2026-01-01', to: '2026-02-01' },
      }),
    );
  });
});

it('shared subjects are found by the start of their name', async () => {
  await open(`${PAGE}?show=held`);
  await fill('Name', 'Ac');
  await see('acme-corp acme');
  expect(api.asked(`GET ${TENANT}/accessible-subjects`).at(-1)).toMatchObject({ q: 'Ac' });
});

it('a grant that ends soon is counted separately', async () => {
  answerItem(`GET ${TENANT}/grants`, { expires_at: new Date(Date.now() + 86_400_000).toISOString() });
  await open(PAGE);
  await see(/1 ?Live ?0 ?Not started ?1 ?Ends within 30 days/);
});
