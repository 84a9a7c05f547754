import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { envelope, makeTenant, OWNER, write } from './testing/subjects-of-tests.ts';

withConsole('the view of subjects', (scene) => {
  const hostile = `<img src=x onerror="document.title='broken'">`;
  const reference = (id: string): unknown[] => [{ evidence_id: id, evidence_type: 'registry_extract' }];
  const extract = (id: string): unknown => ({
    evidence_id: id,
    evidence_type: 'registry_extract',
    source: 'register',
    captured_at: '2026-01-01T00:00:00Z',
  });
  let tenantId: string;

  beforeAll(async () => {
    tenantId = await makeTenant(scene);
    const legalName = '/attributes/legal/legal_name';
    const backed = { evidence: [extract('ev-1')], attributePaths: { [legalName]: reference('ev-1') } };
    await write(
      scene,
      tenantId,
      envelope('north', { ...backed, attributes: { legal: { legal_name: 'Northern Lights' } } }),
      envelope('north', { ...backed, version: 2, attributes: { legal: { legal_name: 'Northern Light AG' } } }),
      envelope('gone', { attributePaths: { [legalName]: reference('ev-9') } }),
      envelope('lei-holder', {
        attributes: { legal: { legal_name: hostile }, identifiers: { lei: '5493001KJTIIGC8Y1R12' } },
      }),
      envelope('p-1', {
        type: 'individual',
        attributes: { biographic: { name: { given_name: 'Nora', family_name: 'Berg' } } },
      }),
    );
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  it('shows what the API answers, names and hostile ones as text, what lacks evidence, and has nothing that axe finds', async () => {
    const page = await scene.open(OWNER, `/t/${tenantId}/subjects`);
    const { body } = await scene.api(OWNER, 'GET', `/v1/tenants/${tenantId}/subjects`);
    const rows = page.getByRole('table', { name: 'Subjects of this tenant' }).getByRole('rowheader');
    await page.getByText('Northern Light AG').first().waitFor();
    await page.getByText(hostile).first().waitFor();
    await page.getByText('Nora Berg').first().waitFor();
    const shown = await rows.getByRole('link').allTextContents();
    expect(shown).toEqual(body.items.map((item: { subject_id: string }) => item.subject_id));
    const lacking = page.getByRole('region', { name: 'Lacks evidence' });
    expect(await lacking.getByRole('link').allTextContents()).toEqual(['gone', 'north']);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);

    // What is written now appears by itself.
    await write(scene, tenantId, envelope('arrived', { attributes: { legal: { legal_name: 'Arrived Ltd' } } }));
    await page.getByRole('region', { name: 'Changed lately' }).getByRole('link', { name: 'arrived' }).waitFor();
    await rows.getByRole('link', { name: 'arrived' }).waitFor();
  });

  it('finds by name, id and identifier, filters by type and evidence, and says so where nothing fits', async () => {
    const page = await scene.open(OWNER, `/t/${tenantId}/subjects?find=northern`);
    const links = async (region: string): Promise<string[]> => {
      const found = page.getByRole('region', { name: region, exact: true });
      await found.waitFor();
      return found.getByRole('rowheader').getByRole('link').allTextContents();
    };
    expect(await links('By name')).toEqual(['north']);
    await scene.go(page, `/t/${tenantId}/subjects?find=LEI:5493-001KJTIIGC8Y1R12`);
    expect(await links('By identifier')).toEqual(['lei-holder']);
    const box = page.getByRole('searchbox', { name: 'Find' });
    await box.fill('p-');
    await box.press('Enter');
    await page.waitForURL(/find=p-$/);
    expect(await links('By id')).toEqual(['p-1']);
    await box.fill('nothing of that');
    await box.press('Enter');
    await page.getByRole('heading', { name: 'Nothing is found by “nothing of that”' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Type').selectOption('individual');
    await page.waitForURL(/type=individual$/);
    const rows = page.getByRole('table', { name: 'Subjects of this tenant' }).getByRole('rowheader').getByRole('link');
    await page.getByRole('rowheader').filter({ hasText: 'north' }).waitFor({ state: 'detached' });
    expect(await rows.allTextContents()).toEqual(['p-1']);
    await page.getByLabel('Type').selectOption('');
    await page.getByLabel('Evidence', { exact: true }).selectOption('carried');
    await page.getByRole('rowheader').filter({ hasText: 'p-1' }).waitFor({ state: 'detached' });
    expect(await rows.allTextContents()).toEqual(['north']);
    await page.goBack();
    await page.waitForURL(/type=individual$|subjects$/);
  });

  it('shows what others share, and to whom it is shown what no one may use', async () => {
    await scene.api(OWNER, 'POST', `/v1/tenants/${tenantId}/grants`, {
      grantee_tenant_id: 'beta',
      subject_type: 'organization',
      subject_id: 'north',
      scopes: ['read_latest'],
    });
    const page = await scene.open('bob', '/t/beta/subjects?of=granted');
    const row = page.getByRole('row').filter({ hasText: tenantId });
    await row.getByText('Latest', { exact: true }).waitFor();
    await scene.go(page, '/t/beta/subjects?find=Northern');
    await page
      .getByRole('region', { name: 'Shared with us' })
      .getByRole('link', { name: 'north', exact: true })
      .first()
      .waitFor();
    // What the service refuses or cannot answer is said, with a way out.
    await page.route('**/v1/tenants/beta/accessible-subjects*', (route) =>
      route.fulfill({ status: 500, body: '{"error":{"code":"internal_error","message":"Broken","request_id":"r-1"}}' }),
    );
    await scene.go(page, '/t/beta/subjects?of=granted&find=Nor');
    await page.getByRole('alert').getByText('r-1').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'north', exact: true }).first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
