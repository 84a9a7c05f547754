import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { envelope, makeTenant, OWNER, write } from './testing/subjects-of-tests.ts';

withConsole('the view of a tenant', (scene) => {
  const hostile = `"><script>document.title='broken'</script>`;
  const admin = 'tenant-admin';
  const reader = 'tenant-reader';
  const heir = 'tenant-heir';
  let tenantId: string;
  let path: string;

  const id = (user: string): string => `oidc:dev#${user}`;
  const members = async (): Promise<Record<string, unknown>[]> =>
    (await scene.api(OWNER, 'GET', `${path}/principals`)).body.items;
  const memberOf = async (user: string): Promise<Record<string, unknown> | undefined> =>
    (await members()).find(({ principal_id: one }) => one === id(user));

  beforeAll(async () => {
    tenantId = await makeTenant(scene);
    path = `/v1/tenants/${tenantId}`;
    await scene.api(OWNER, 'PUT', `${path}/members/${encodeURIComponent(id(admin))}`, { role: 'tenant_admin' });
    await scene.api(OWNER, 'PUT', `${path}/members/${encodeURIComponent(id(reader))}`, { role: 'tenant_reader' });
    await write(scene, tenantId, envelope('one'), envelope('two'));
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  it('adds, changes and removes members, changes settings, and tells of all that in the audit trail', async () => {
    const page = await scene.open(OWNER, `/t/${tenantId}/tenant`);
    const dialog = page.getByRole('dialog');
    const table = page.getByRole('table', { name: 'Members of the tenant' });
    await table
      .getByRole('row', { name: new RegExp(OWNER) })
      .getByText('you')
      .waitFor();
    expect(await table.getByRole('row').count()).toBe((await members()).length + 1);
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole('button', { name: 'Add a member' }).click();
    await dialog.getByLabel('Principal').fill('fritz');
    await dialog.getByRole('button', { name: 'Add a member' }).click();
    await dialog.getByText('Write it as oidc:dev#carol').waitFor();
    await dialog.getByLabel('Principal').fill(id('fritz'));
    await dialog.getByLabel('Role').selectOption('tenant_editor');
    await dialog.getByRole('button', { name: 'Add a member' }).click();
    const row = table.getByRole('row', { name: /fritz/ });
    await row.getByText('tenant_editor').waitFor();

    await row.getByRole('button', { name: /^Change/ }).click();
    await dialog.getByLabel('Role').selectOption('tenant_proposer');
    await dialog.getByLabel('May read what other tenants share').check();
    expect(await accessibilityFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('tenant_proposer').waitFor();
    await expect(memberOf('fritz')).resolves.toMatchObject({
      api_functional_role: 'tenant_proposer',
      allow_counterparty_access: true,
      tenancy_role: 'member',
    });
    await row.getByRole('button', { name: /^Remove/ }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    await expect(memberOf('fritz')).resolves.toMatchObject({ status: 'removed' });
    await page.getByLabel('Which').selectOption('removed');
    await page.waitForURL('**/tenant?status=removed');
    await row.getByText('Removed').waitFor();

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name', { exact: true }).fill(hostile);
    await page.getByLabel('Slug').fill('a-slug');
    await page.getByLabel(/Evidence that is demanded/).selectOption('resolved');
    await page.getByLabel('Erasures').selectOption('off');
    await page.getByRole('checkbox', { name: /without a hash/ }).uncheck();
    // What is typed stays where the service fails.
    const isPatch = (method: string): boolean => method === 'PATCH';
    await page.route(`**${path}`, (route) =>
      isPatch(route.request().method()) ? route.fulfill({ status: 500, body: '' }) : route.continue(),
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Slug').inputValue()).toBe('a-slug');
    await page.unroute(`**${path}`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await scene.api(OWNER, 'GET', path)).body).toMatchObject({
      name: hostile,
      slug: 'a-slug',
      evidence_policy: 'resolved',
      erasure_confirmation: 'off',
      chain_enforced: false,
    });
    await page.getByRole('heading', { level: 1, name: hostile }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole('link', { name: 'Audit trail' }).click();
    const trail = page.getByRole('table', { name: /Audit trail/ });
    await trail.getByText('Settings changed').waitFor();
    const { body } = await scene.api(OWNER, 'GET', `${path}/audit`);
    expect(await trail.getByRole('row').count()).toBe(body.items.length + 1);
    await page.getByLabel('What', { exact: true }).selectOption('member.removed');
    await page.waitForURL('**/tenant?show=audit&action=member.removed');
    await trail.getByRole('row').nth(2).waitFor({ state: 'detached' });
    expect(await trail.getByRole('row').nth(1).innerText()).toContain(id('fritz'));
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('plots usage, shows owners with their proof, what it was shown, and erasures', async () => {
    const page = await scene.open(OWNER, `/t/${tenantId}/tenant?show=usage`);
    await page.getByText(/2 versions in \d+ days/).waitFor();
    await page.getByRole('row', { name: /Active members/ }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Owners' }).click();
    await page.getByRole('button', { name: /^Proof of log entry/ }).click();
    await page
      .getByRole('dialog')
      .getByText(/is in the tree of/)
      .waitFor();
    await page.keyboard.press('Escape');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'What we were shown' }).click();
    await page.getByText('Nobody of this tenant was shown anything').waitFor();

    await scene.api(OWNER, 'PATCH', path, { erasure_confirmation: 'required' });
    const { body } = await scene.api(OWNER, 'POST', `${path}/subjects/organization/two/erasure`, {
      versions: 'all',
      reason: hostile,
    });
    await page.getByRole('link', { name: 'Erasures' }).click();
    await page.getByText('Waits to be confirmed').waitFor();
    await page.getByRole('cell', { name: hostile }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).last().click();
    await page.getByText('Cancelled').waitFor();
    const erasure = await scene.api(OWNER, 'GET', `${path}/subjects/organization/two/erasures/${body.erasure_id}`);
    expect(erasure.body.status).toBe('cancelled');
  });

  it('hands the tenant over: offered and cancelled, offered and accepted by who was no member', async () => {
    const page = await scene.open(OWNER, `/t/${tenantId}/tenant?show=offers`);
    const offer = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Offer the ownership' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('To', { exact: true }).fill(id(heir));
      await dialog.getByLabel('Message').fill(hostile);
      await dialog.getByRole('button', { name: 'Offer', exact: true }).click();
      await page.getByRole('button', { name: 'Cancel the offer' }).waitFor();
    };
    await offer();
    await page.getByRole('cell', { name: hostile }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel the offer' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the offer' }).click();
    await page.getByText('Cancelled').waitFor();
    await offer();

    const other = await scene.open(heir, `/t/${tenantId}/tenant`);
    await other.getByText('You are offered the ownership').waitFor();
    expect(await accessibilityFindings(other)).toEqual([]);
    await other.getByRole('button', { name: 'Accept' }).click();
    await other.getByRole('alertdialog').getByRole('button', { name: 'Accept' }).click();
    await other.getByRole('table', { name: 'Members of the tenant' }).waitFor();
    await expect(memberOf(heir)).resolves.toMatchObject({ api_functional_role: 'tenant_owner' });
    await expect(memberOf(OWNER)).resolves.toMatchObject({ api_functional_role: 'tenant_admin' });
  });

  it('offers each role what it may do', async () => {
    const page = await scene.open(reader, `/t/${tenantId}/tenant`);
    await page.getByRole('table', { name: 'Members of the tenant' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Add|Change |Remove )/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: /^(Audit trail|Limits and usage|Erasures)$/ }).count()).toBe(0);
    await scene.go(page, `/t/${tenantId}/tenant?show=audit`);
    await page.getByText('This is shown to a tenant_admin.').waitFor();
    await scene.go(page, `/t/${tenantId}/tenant?show=settings`);
    await page.getByText('Changed by a tenant_admin.').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    for (const [method, below, body] of [
      ['PATCH', '', { name: 'Mine' }],
      ['GET', '/audit', undefined],
      ['PUT', `/members/${encodeURIComponent(id(reader))}`, { role: 'tenant_admin' }],
    ] as const) {
      expect((await scene.api(reader, method, path + below, body)).status).toBe(403);
    }

    const asAdmin = await scene.open(admin, `/t/${tenantId}/tenant`);
    await asAdmin
      .getByRole('row', { name: new RegExp(reader) })
      .getByRole('button', { name: /^Change/ })
      .click();
    const dialog = asAdmin.getByRole('dialog');
    expect(await dialog.getByLabel('Role').locator('option').allInnerTexts()).not.toContain('Owner (tenant_owner)');
    expect(await dialog.getByRole('checkbox').count()).toBe(0);
    const flag = { allow_counterparty_access: true };
    const to = `${path}/principals/${encodeURIComponent(id(reader))}`;
    expect((await scene.api(admin, 'PUT', to, flag)).status).toBe(403);
    await asAdmin.keyboard.press('Escape');
    await scene.go(asAdmin, `/t/${tenantId}/tenant?show=offers`);
    await asAdmin.getByRole('table').waitFor();
    expect(await asAdmin.getByRole('button', { name: 'Offer the ownership' }).count()).toBe(0);
  });
});
