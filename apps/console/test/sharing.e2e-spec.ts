import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { envelope, makeTenant, OWNER, write } from './testing/subjects-of-tests.ts';

withConsole('sharing', (scene) => {
  const hostile = `"><img src=x onerror="document.title='broken'">`;
  const reader = 'sharing-reader';
  let owner: string;
  let bank: string;
  let view: string;

  const principal = (user: string): string => encodeURIComponent(`oidc:dev#${user}`);
  const grants = (method: string, below = '', body?: unknown): ReturnType<typeof scene.api> =>
    scene.api(OWNER, method, `/v1/tenants/${owner}/grants${below}`, body);
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

  beforeAll(async () => {
    owner = await makeTenant(scene);
    bank = await makeTenant(scene);
    view = `/t/${owner}/subjects/organization/holding/sharing`;
    await write(scene, owner, envelope('holding'), envelope('other'), envelope('third'));
    await scene.api(OWNER, 'PUT', `/v1/tenants/${owner}/members/${principal(reader)}`, { role: 'tenant_reader' });
    await scene.api(OWNER, 'PUT', `/v1/tenants/${bank}/principals/${principal(OWNER)}`, {
      allow_counterparty_access: true,
    });
    const scopes = ['read_latest', 'read_lineage'];
    const on = { grantee_tenant_id: bank, subject_type: 'organization', subject_id: 'holding' };
    const { body } = await grants('POST', '', { ...on, scopes, purpose: hostile });
    await grants('POST', `/${body.grant_id}/revoke`);
    await grants('POST', '', { ...on, scopes, expires_at: inDays(6), purpose: 'Loan review' });
    await grants('POST', '', { ...on, subject_id: 'other', scopes: ['read_diff'] });
    for (const read of ['snapshots/latest', 'history']) {
      await scene.api(OWNER, 'GET', `/v1/tenants/${bank}/subjects/organization/holding/${read}`);
    }
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  it('shows the grants of the API by status, filtered by the address, in light, dark and narrow', async () => {
    const page = await scene.open(OWNER, `/t/${owner}/sharing`);
    const rows = page.getByRole('table', { name: 'Grants that this tenant issued' }).getByRole('row');
    await page.getByText(hostile).waitFor();
    expect(await rows.count()).toBe((await grants('GET')).body.items.length + 1);
    const figures = page.getByRole('navigation', { name: 'Grants by status' });
    expect(await figures.innerText()).toMatch(/2\s+Live\s+1\s+Ends within 30 days\s+0\s+Expired\s+1\s+Revoked/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await figures.getByRole('link', { name: /Revoked/ }).click();
    await page.waitForURL('**/sharing?status=revoked');
    await rows.nth(2).waitFor({ state: 'detached' });
    await page.getByLabel('Status', { exact: true }).selectOption('');
    await page.getByLabel('Subject', { exact: true }).pressSequentially('OTHER');
    await page.waitForURL('**/sharing?find=OTHER');
    await rows.nth(2).waitFor({ state: 'detached' });
    expect(await rows.nth(1).innerText()).toContain('Differences');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')).toBe(
      false,
    );
    expect(await page.title()).toContain('Sharing');
  });

  it('shares, narrows and revokes: one grant by keys alone, many at once with what was refused', async () => {
    const page = await scene.open(OWNER, `/t/${owner}/sharing?find=third`);
    await page.getByRole('button', { name: 'Share', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Who may read').focus();
    await page.keyboard.type(bank);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('organization/third');
    await dialog.getByText('This makes one grant.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await dialog.getByLabel('What for').focus();
    await page.keyboard.type('Audit');
    // What is typed stays where the service fails.
    await page.route('**/grants', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 500, body: '' }) : route.continue(),
    );
    await dialog.getByLabel('What for').press('Enter');
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('What for').inputValue()).toBe('Audit');
    await page.unroute('**/grants');
    await dialog.getByLabel('What for').press('Enter');
    await dialog.getByText('One grant was made.').waitFor();
    await page.keyboard.press('Escape');
    const row = page.getByRole('row').filter({ hasText: 'third' });
    await row.getByText('Audit').waitFor();

    await row.getByRole('button', { name: /^Change/ }).click();
    await dialog.getByRole('checkbox', { name: /read_diff/ }).check();
    await dialog.getByRole('checkbox', { name: /read_latest/ }).uncheck();
    await dialog.getByText('Takes away: Latest.').waitFor();
    await dialog.getByRole('button', { name: 'In 30 days' }).click();
    await dialog.getByRole('button', { name: 'Change', exact: true }).click();
    await row.getByText('Ends within 30 days').waitFor();
    const changed = (await grants('GET')).body.items[0];
    expect(changed).toMatchObject({ scopes: ['read_diff'], purpose: 'Audit', subject_id: 'third' });
    expect(Date.parse(changed.expires_at)).toBeGreaterThan(Date.now());

    await row.getByRole('button', { name: /^Proof/ }).click();
    await dialog.getByText(/is in the tree of/).waitFor();
    await page.route('**/log-proof?*', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({ response, body: text.replace('"entry":"{', '"entry":"{ ') });
    });
    await dialog.getByLabel('Fact').selectOption('changed');
    await dialog.getByText(/does not lead from the entry/).waitFor();
    await page.unroute('**/log-proof?*');
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: /^Revoke/ }).click();
    const question = page.getByRole('alertdialog');
    expect(await accessibilityFindings(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await row.getByRole('button', { name: /^Revoke/ }).click();
    await question.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('Revoked').waitFor();
    expect((await grants('GET')).body.items[0].status).toBe('revoked');

    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByLabel('Who may read').fill(`${bank}, nobody-of-this-name`);
    await dialog.getByRole('radio', { name: /All subjects/ }).check();
    await dialog.getByText('This makes 2 grants').waitFor();
    await dialog.getByRole('button', { name: 'Share' }).click();
    await dialog.getByText('One grant was made.').waitFor();
    expect(await dialog.getByRole('table').innerText()).toContain('nobody-of-this-name');
    const made = (await grants('GET')).body.items[0];
    expect(made).toMatchObject({ subject_type: '*', grantee_tenant_id: bank, status: 'active' });
    await grants('POST', `/${made.grant_id}/revoke`);
  });

  it('says of a subject who may read, who could at the moment of the address, and who did', async () => {
    const page = await scene.open(OWNER, view);
    const could = page.getByRole('region', { name: 'Who could, and when' });
    const did = page.getByRole('region', { name: 'Who read it' });
    await page.getByText(/live grant.* ends? within 30 days/).waitFor();
    await could.getByText('let it be read then').waitFor();
    await did.getByRole('table').waitFor();
    const path = `/v1/tenants/${owner}/subjects/organization/holding`;
    const { body } = await scene.api(OWNER, 'GET', `${path}/disclosures`);
    expect(body.items.length).toBeGreaterThan(0);
    expect(await did.getByRole('row').count()).toBe(body.items.length + 1);
    await did.getByText(/disclosures? on 1 day, to 1 tenant/).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    const slider = could.getByRole('slider', { name: 'Moment' });
    await slider.focus();
    await page.keyboard.press('Home');
    await page.waitForURL('**/sharing?at=*');
    await could.getByText('Nobody outside could read it then.').waitFor();
    const [first] = (await scene.api(OWNER, 'GET', `${path}/access-history`)).body.items.toReversed();
    await could.getByRole('button', { name: /Next change/ }).click();
    await page.waitForURL(`**/sharing?at=${encodeURIComponent(first.from)}`);
    await could.getByText('One grant let it be read then:').waitFor();
    await could.getByRole('cell', { name: 'Revoked' }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.route('**/disclosures*', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        body: JSON.stringify({ error: { code: 'internal_error', message: 'It broke.', request_id: 'r-500' } }),
      }),
    );
    await did.getByLabel('From').fill('2026-01-01');
    await did.getByRole('alert').getByText('r-500').waitFor();
    await page.unroute('**/disclosures*');
    await did.getByRole('button', { name: 'Try again' }).click();
    await did.getByRole('row').nth(1).waitFor();
  });

  it('offers a reader nothing that it may not do, and a tenant what it holds', async () => {
    const page = await scene.open(reader, `/t/${owner}/sharing`);
    await page.getByText('Loan review').waitFor();
    expect(await page.getByRole('button', { name: /^(Share$|Change |Revoke )/ }).count()).toBe(0);
    await scene.go(page, view);
    await page.getByText('is shown to a tenant_admin').waitFor();
    expect(await page.getByRole('slider').count()).toBe(0);
    const wanted = { grantee_tenant_id: bank, subject_type: '*', scopes: ['read_latest'] };
    expect((await scene.api(reader, 'POST', `/v1/tenants/${owner}/grants`, wanted)).status).toBe(403);

    const holder = await scene.open(OWNER, `/t/${bank}/sharing?show=held`);
    const rows = holder.getByRole('table').getByRole('row');
    await holder.getByRole('link', { name: 'holding' }).waitFor();
    const { body } = await scene.api(OWNER, 'GET', `/v1/tenants/${bank}/accessible-subjects`);
    expect(await rows.count()).toBe(body.items.length + 1);
    expect(await accessibilityFindings(holder)).toEqual([]);
  });
});
