import { waitFor } from '../../../tools/testing/wait-for.ts';
import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { envelope, makeTenant, OWNER, write } from './testing/subjects-of-tests.ts';

withConsole('the view of a subject', (scene) => {
  const hostile = `"><script>document.title='broken'</script>`;
  const name = '/attributes/legal/legal_name';
  const reference = (id: string): unknown[] => [
    { evidence_id: id, evidence_type: 'registry_extract', role: 'primary' },
  ];
  const extract = {
    evidence_id: 'ev-1',
    evidence_type: 'registry_extract',
    source: hostile,
    captured_at: '2026-01-01T00:00:00Z',
  };
  const values = (legalName: string): unknown => ({
    legal: { legal_name: legalName, form: 'AG', tags: [], '/a~b': hostile },
    contact: { phone: 41 },
  });
  const backed = {
    evidence: [extract],
    attributePaths: { [name]: reference('ev-1'), '/attributes/contact': reference('ev-2') },
  };
  let tenantId: string;
  let view: string;
  let path: string;

  beforeAll(async () => {
    tenantId = await makeTenant(scene);
    view = `/t/${tenantId}/subjects/organization/backed`;
    path = `/v1/tenants/${tenantId}/subjects/organization/backed`;
    await write(
      scene,
      tenantId,
      envelope('backed', { ...backed, generatedAt: '2026-01-01T00:00:00Z', attributes: values('Holding Ltd') }),
      envelope('backed', {
        ...backed,
        generatedAt: '2026-02-01T00:00:00Z',
        version: 2,
        attributes: values('Holding AG'),
      }),
    );
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  it('leads from a value without evidence that fits to where it is mended', async () => {
    const page = await scene.open(OWNER, `${view}?status=missing`);
    await page.getByRole('link', { name: 'Mend it' }).first().click();
    await page.waitForURL('**/proposals/new?path=%2Fattributes%2Fcontact%2Fphone');
    await page
      .locator(':focus')
      .and(page.getByLabel('phone', { exact: true }))
      .waitFor();
    expect(scene.faults()).toEqual([]);
  });

  it('shows each value of the API with since when, by whom and what backs it, verified here, filtered by the address', async () => {
    const page = await scene.open(OWNER, view);
    await page.getByText('Verified here').waitFor();
    const table = page.getByRole('table', { name: 'Values of the attributes' });
    await table.getByText('Carried over').waitFor();
    const { body } = await scene.api(OWNER, 'GET', `${path}/provenance`);
    const rows = table.getByRole('row');
    expect(await rows.count()).toBe(body.items.length + 1);
    const words: Record<string, string> = {
      current: 'Current',
      carried: 'Carried over',
      missing: 'Missing',
      none: 'None',
    };
    for (const [index, leaf] of body.items.entries()) {
      const text = await rows.nth(index + 1).innerText();
      expect(text).toContain(typeof leaf.value === 'string' ? leaf.value : JSON.stringify(leaf.value));
      expect(text).toContain(`Version ${leaf.since_version}`);
      expect(text).toContain(words[leaf.evidence_status]);
    }
    await page.getByText('ev-2').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole('button', { name: 'Carried over 1' }).click();
    await page.waitForURL(/status=carried/);
    expect(await rows.count()).toBe(2);
    await page.getByRole('button', { name: 'Carried over 1' }).click();
    await page.getByRole('main').getByRole('searchbox', { name: 'Find' }).fill('form');
    await page.waitForURL(/find=form$/);
    await page.getByText('1 of 5 values').waitFor();

    await page.getByRole('link', { name: 'Evidence (1)' }).click();
    await page.getByRole('table', { name: 'Evidence of this version' }).getByText(hostile).waitFor();
    await page.getByRole('link', { name: 'Envelope' }).click();
    await page.getByRole('region', { name: 'The envelope as JSON' }).getByText('"legal_name": "Holding AG"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('goes to any version and any moment by keys, and says which one it is', async () => {
    const page = await scene.open(OWNER, view);
    await page.getByRole('link', { name: '‹ Previous' }).press('Enter');
    await page.waitForURL(/version=1$/);
    await page.getByText('Holding Ltd').first().waitFor();
    await page.getByText('not the latest, which is 2').waitFor();
    await page.getByLabel('By').selectOption('effective');
    await page.getByLabel('As it was at').fill('2026-03-01T12:00:00');
    await page.getByLabel('As it was at').press('Enter');
    await page.waitForURL(/as_of=.*basis=effective/);
    await page.getByText('the latest', { exact: true }).waitFor();
    await page.getByText('Holding AG').first().waitFor();
    await scene.go(page, `${view}?as_of=2020-01-01T00:00:00Z`);
    await page.getByRole('alert').waitFor();
    await scene.go(page, `${view}?version=7`);
    await page.getByRole('alert').waitFor();
  });

  it('shows an answer that does not hold in red with what failed, and nothing of it', async () => {
    const tampered: readonly (readonly [said: string, tamper: (text: string) => string])[] = [
      ['The content does not have the hash', (text) => text.replace('Holding AG', 'Holding SA')],
      ['another version than was asked for', (text) => text.replace('"snapshot_version":2', '"snapshot_version":3')],
      ['not a snapshot at all', () => '{}'],
    ];
    const page = await scene.open(OWNER, `/t/${tenantId}/subjects`);
    for (const [said, tamper] of tampered) {
      await page.route(`**${path}/snapshots/2`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: tamper(await response.text()) });
      });
      await scene.go(page, view);
      await page.getByRole('alert').getByText('Not verified.').waitFor();
      await page.getByText(said).waitFor();
      expect(await page.getByRole('table').count()).toBe(0);
      expect(await page.getByText(/Holding (AG|SA)/).count()).toBe(1);
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.unrouteAll();
      await scene.go(page, `/t/${tenantId}/subjects`);
    }
  });

  it('shows what was erased as erased, with what remains of it', async () => {
    await scene.api(OWNER, 'PATCH', `/v1/tenants/${tenantId}`, { erasure_confirmation: 'off' });
    await write(scene, tenantId, envelope('forgotten'));
    const page = await scene.open(OWNER, `/t/${tenantId}/subjects/organization/forgotten`);
    await page.getByText('Company forgotten').first().waitFor();
    const erasure = `/v1/tenants/${tenantId}/subjects/organization/forgotten/erasure`;
    const erase = async (): Promise<boolean> =>
      (await scene.api(OWNER, 'POST', erasure, { versions: 'all', reason: 'test' })).status === 201;
    await waitFor(erase, { what: 'the log to have the version' });
    // By the feed, while it is looked at.
    await page.getByRole('heading', { name: 'The content of version 1 was erased' }).waitFor();
    expect(await page.getByText('Company forgotten').count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('offers a grantee what its scopes let it read, and refuses the rest', async () => {
    const cases: readonly (readonly [scope: string, tabs: string[], said: string])[] = [
      ['read_latest', ['Attributes', 'Timeline', 'Requests'], 'is told to those with whom the lineage is shared'],
      ['read_lineage', ['Attributes', 'Timeline', 'Compare', 'Proof', 'Requests'], 'Carried over'],
      ['read_snapshot_by_id', ['Attributes', 'Compare', 'Proof', 'Requests'], 'Name one above'],
      ['read_diff', ['Compare', 'Requests'], 'lets it compare versions, and read none'],
    ];
    for (const [scope] of cases) {
      await write(
        scene,
        tenantId,
        envelope(scope, { ...backed, attributes: values('Shared Ltd') }),
        envelope(scope, { ...backed, version: 2, attributes: values('Shared AG') }),
      );
      await scene.api(OWNER, 'POST', `/v1/tenants/${tenantId}/grants`, {
        grantee_tenant_id: 'beta',
        subject_type: 'organization',
        subject_id: scope,
        scopes: [scope],
      });
    }
    const page = await scene.open('bob', '/t/beta/subjects');
    for (const [scope, tabs, said] of cases) {
      await scene.go(page, `/t/beta/subjects/organization/${scope}`);
      const views = page.getByRole('navigation', { name: `Views of ${scope}` });
      await views.waitFor();
      expect(await views.getByRole('link').allTextContents()).toEqual(tabs);
      await page.getByText(said).first().waitFor();
      expect(await page.getByRole('link', { name: 'Propose a change' }).count()).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
      const proposal = {
        subject_id: scope,
        base_snapshot_version: 2,
        patch_ops: [{ op: 'remove', path: '/attributes/legal/form' }],
      };
      const forced = await scene.api(
        'bob',
        'POST',
        `/v1/tenants/beta/subjects/organization/${scope}/updates`,
        proposal,
      );
      expect(forced.status).toBe(403);
    }
  });
});
