import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { envelope, makeTenant, OWNER, write } from './testing/subjects-of-tests.ts';

withConsole('sharing', (scene) => {
  let owner: string;
  let bank: string;

  const grants = (method: string, below = '', body?: unknown): ReturnType<typeof scene.api> =>
    scene.api(OWNER, method, `/v1/tenants/${owner}/grants${below}`, body);

  beforeAll(async () => {
    owner = await makeTenant(scene);
    bank = await makeTenant(scene);
    await write(scene, owner, envelope('third'));
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  it('creates, changes and revokes a grant, and creates many with the refused ones listed', async () => {
    const page = await scene.open(OWNER, `/t/${owner}/sharing?find=third`);
    await page.getByRole('button', { name: 'Share', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Who may read').focus();
    await page.keyboard.type(bank);
    // The console also offers tenants that the user knows from other suites.
    const subjects = dialog.getByLabel('Subjects', { exact: true });
    for (let tabs = 0; tabs < 5 && !(await subjects.evaluate((field) => field.matches(':focus'))); tabs++) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('organization/third');
    await dialog.getByText('This creates one grant.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await dialog.getByLabel('Purpose').focus();
    await page.keyboard.type('Audit');
    // If the service fails, the typed text remains.
    await page.route('**/grants', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 500, body: '' }) : route.continue(),
    );
    await dialog.getByLabel('Purpose').press('Enter');
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Purpose').inputValue()).toBe('Audit');
    await page.unroute('**/grants');
    await dialog.getByLabel('Purpose').press('Enter');
    await dialog.getByText('One grant was created.').waitFor();
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
    await dialog.getByText(/agrees with the keys/).waitFor();
    await page.route('**/log-proof?*', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({ response, body: text.replace('"entry":"{', '"entry":"{ ') });
    });
    await dialog.getByLabel('Fact').selectOption('changed');
    await dialog.getByText('The proof failed the verification').waitFor();
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
    await dialog.getByText('This creates 2 separate grants').waitFor();
    await dialog.getByRole('button', { name: 'Share' }).click();
    await dialog.getByText('One grant was created.').waitFor();
    expect(await dialog.getByRole('table').innerText()).toContain('nobody-of-this-name');
    const made = (await grants('GET')).body.items[0];
    expect(made).toMatchObject({ subject_type: '*', grantee_tenant_id: bank, status: 'active' });
    await grants('POST', `/${made.grant_id}/revoke`);
  });

  it('shares ticked attributes, and the grantee sees exactly what the preview showed', async () => {
    const subject = 'subjects/organization/ticked';
    const item = { evidence_type: 'register', source: 'hr', captured_at: '2026-01-01T00:00:00Z' };
    const attributePaths = {
      '/attributes/legal/legal_name': [{ evidence_id: 'ev-1', evidence_type: 'register' }],
      '/attributes/revenue': [{ evidence_id: 'ev-2', evidence_type: 'register' }],
    };
    const evidence = ['ev-1', 'ev-2'].map((id) => ({ evidence_id: id, ...item }));
    const attributes = { legal: { legal_name: 'Ticked AG' }, revenue: 'h1dden' };
    await write(scene, owner, envelope('ticked', { attributes, evidence, attributePaths }));
    const reader = `/v1/tenants/${bank}/principals/${encodeURIComponent(`oidc:dev#${OWNER}`)}`;
    await scene.api(OWNER, 'PUT', reader, { allow_counterparty_access: true });
    const page = await scene.open(OWNER, `/t/${owner}/${subject}/sharing`);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Who may read').fill(bank);
    await dialog.getByRole('radio', { name: 'Only some attributes' }).check();
    await dialog.getByRole('checkbox', { name: /^legal_name/ }).press('Space');
    const preview = dialog.getByRole('region', { name: 'What they will see' });
    await preview.getByText('"legal_name"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const seen = JSON.parse(await preview.innerText());
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByText('One grant was created.').waitFor();

    const { body } = await scene.api(OWNER, 'GET', `/v1/tenants/${bank}/${subject}/snapshots/latest`);
    expect(body.envelope).toMatchObject(seen);
    expect(seen).toMatchObject({
      attributes: { legal: { legal_name: 'Ticked AG' } },
      evidence: [{ evidence_id: 'ev-1' }],
    });
    expect(JSON.stringify([seen, body])).not.toMatch(/h1dden|ev-2|revenue/);
    await scene.go(page, `/t/${bank}/${subject}`);
    await page.getByText('You see a part of this version: /attributes/legal/legal_name').waitFor();
    await page.getByRole('row').filter({ hasText: 'Ticked AG' }).waitFor();
    expect(await page.getByRole('main').innerText()).not.toMatch(/h1dden|ev-2|revenue/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await grants('POST', `/${(await grants('GET')).body.items[0].grant_id}/revoke`);
  });
});
