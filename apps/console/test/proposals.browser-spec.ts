import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { accessibilityFindings, type Scene, signInAtIssuer, withConsole } from './testing/scene.ts';

const HOSTILE = `<img src=x onerror="document.title='owned'">"'&{{7*7}}`;

interface World {
  readonly tenant: string;
  readonly subject: string;
  /** The addresses of the API and of the console. */
  readonly path: string;
  readonly view: string;
  readonly owner: string;
  readonly proposer: string;
  readonly reader: string;
}

/** Creates a tenant with a company of one version, and with one member for each relevant role. */
async function makeWorld(scene: Scene): Promise<World> {
  const run = randomUUID().slice(0, 8);
  const [tenant, subject] = [`prop-${run}`, `works-${run}`];
  const [owner, proposer, reader] = [`owner-${run}`, `proposer-${run}`, `reader-${run}`];
  await scene.api(owner, 'POST', '/v1/tenants', { tenant_id: tenant, name: `Proposals ${run}` });
  for (const [user, role] of [
    [proposer, 'tenant_proposer'],
    [reader, 'tenant_reader'],
  ] as const) {
    await scene.api(owner, 'PUT', `/v1/tenants/${tenant}/members/${encodeURIComponent(`oidc:dev#${user}`)}`, { role });
  }
  const at = '2026-01-15T09:00:00Z';
  const written = await scene.api(owner, 'POST', `/v1/tenants/${tenant}/entity-states`, {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: at,
    subject: { subject_type: 'organization', subject_id: subject },
    attributes: {
      legal: { legal_name: 'Harbour Works Ltd', legal_form: 'Ltd' },
      employees: 12,
      listed: false,
      addresses: [{ city: 'Bern' }, { city: HOSTILE }],
    },
    evidence: [{ evidence_id: 'ex-1', evidence_type: 'registry_extract', source: 'register', captured_at: at }],
    attribute_paths: { '/attributes/legal/legal_form': [{ evidence_id: 'ex-1', evidence_type: 'registry_extract' }] },
    audit: { created_by: 'test', created_at: at, source: 'test' },
  });
  expect(written.status).toBe(201);
  const path = `/v1/tenants/${tenant}/subjects/organization/${subject}`;
  return { tenant, subject, path, view: `/t/${tenant}/subjects/organization/${subject}`, owner, proposer, reader };
}

const patchOf = (page: Page) => page.getByRole('region', { name: 'Your changes' }).getByRole('listitem');

withConsole('proposals', (scene) => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(scene);
  });

  it('add evidence to a value in a new version, and keep the typed text despite failures', async () => {
    const { view, path, owner } = world;
    const page = await scene.open(owner, `${view}/proposals/new?path=%2Fattributes%2Flegal%2Flegal_name`);
    const name = page.getByLabel('legal_name', { exact: true });
    await name.waitFor();
    await page.getByLabel('Kind of evidence').and(page.locator(':focus')).waitFor();

    await name.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(HOSTILE);
    await page.getByLabel('Kind of evidence').fill('registry_extract');
    await page.getByLabel('employees', { exact: true }).fill('1x');
    await page.getByText('This is not a number').waitFor();
    await page.getByLabel('employees', { exact: true }).fill('13');
    await patchOf(page).filter({ hasText: 'Employees' }).waitFor();
    expect(await patchOf(page).count()).toBe(4);
    expect(await accessibilityFindings(page)).toEqual([]);

    // The page shows missing values and refusals at their places.
    const source = page.getByLabel('Source');
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await source.and(page.locator(':focus')).waitFor();
    await page.keyboard.type(HOSTILE);
    await name.fill('');
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await name.fill(HOSTILE);

    // A failed request, other tabs, and a change between form and JSON lose nothing.
    await page.route('**/updates', (route) => route.fulfill({ status: 500, body: 'broken' }));
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText('HTTP 500').waitFor();
    await page.unroute('**/updates');
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('navigation', { name: world.subject }).getByRole('link', { name: 'Proposals' }).click();
    await page.getByRole('link', { name: 'Continue with them' }).click();
    expect(await name.inputValue()).toBe(HOSTILE);
    expect(await source.inputValue()).toBe(HOSTILE);
    await page.getByRole('link', { name: 'JSON', exact: true }).click();
    const json = page.getByLabel('Content of the version');
    const typed = (await json.inputValue()).replace('"employees": 13', '"employees": 14,');
    await json.fill(typed);
    await page.getByRole('link', { name: 'Form', exact: true }).click();
    await page.getByRole('link', { name: 'Correct it as JSON' }).click();
    expect(await json.inputValue()).toBe(typed);
    await json.fill(typed.replace('14,,', '14,'));
    await page.getByRole('link', { name: 'Form', exact: true }).click();
    expect(await page.getByLabel('employees', { exact: true }).inputValue()).toBe('14');

    // Another view asks for confirmation.
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click();
    expect(await source.inputValue()).toBe(HOSTILE);

    // The user renews an expired sign-in beside the page.
    const refused = JSON.stringify({ error: { code: 'unauthorized', message: 'Expired.', request_id: 'r-1' } });
    await page.route('**/updates', (route) =>
      route.fulfill({ status: 401, contentType: 'application/json', body: refused }),
    );
    await page.getByRole('button', { name: 'Propose and apply' }).click();
    const again = page.getByRole('alertdialog').getByRole('button', { name: 'Sign in again' });
    const [popup] = await Promise.all([page.waitForEvent('popup'), again.click()]);
    await page.unroute('**/updates');
    await Promise.all([popup.waitForEvent('close'), signInAtIssuer(popup, owner)]);
    await again.waitFor({ state: 'detached' });
    expect(await source.inputValue()).toBe(HOSTILE);

    await page.getByRole('button', { name: 'Propose and apply' }).click();
    await page.getByText('It became version 2.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const { body } = await scene.api(owner, 'GET', `${path}/snapshots/latest`);
    expect(body.envelope.attributes).toMatchObject({ legal: { legal_name: HOSTILE }, employees: 14 });
    const item = body.envelope.evidence[1];
    expect(item).toMatchObject({ evidence_type: 'registry_extract', source: HOSTILE });
    expect(body.envelope.attribute_paths['/attributes/legal/legal_name']).toEqual([
      { evidence_id: item.evidence_id, evidence_type: 'registry_extract', role: 'primary' },
    ]);
    expect(await page.title()).not.toBe('owned');
    expect(scene.faults()).toEqual([]);
  });
});
