import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { envelope, makeTenant, OWNER, write } from './testing/subjects-of-tests.ts';

const PHONE = { viewport: { width: 360, height: 640 } };

withConsole('proofs of completeness', (scene) => {
  let owner: string;
  let bank: string;
  let policy: string;
  let subject: string;

  beforeAll(async () => {
    owner = await makeTenant(scene);
    bank = await makeTenant(scene);
    await write(scene, owner, envelope('newest'), envelope('newest', { version: 2 }));
    subject = `/t/${owner}/subjects/organization/newest`;
    policy = (await scene.api(OWNER, 'GET', '/log/keys')).body.policy;
    const body = {
      grantee_tenant_id: bank,
      subject_type: 'organization',
      subject_id: 'newest',
      scopes: ['read_latest'],
    };
    await scene.api(OWNER, 'POST', `/v1/tenants/${owner}/grants`, body);
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  /** Trusts the policy that the service shows, as if it came from somebody else. */
  async function trust(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Use keys of my own' }).click();
    await page.getByLabel('Policy or key').fill(policy);
    await page.getByRole('button', { name: 'Trust these keys' }).click();
  }
  const step = (page: Page, state: string) => page.locator(`[data-step=newest][data-state=${state}]`);
  const findings = async (page: Page): Promise<unknown[]> => [
    ...(await accessibilityFindings(page)),
    ...((await page.evaluate('document.documentElement.scrollWidth > innerWidth')) === true ? ['too wide'] : []),
  ];

  it('prove only the newest version with own keys, and can be downloaded', async () => {
    const page = await scene.open(OWNER, `${subject}/proof`, PHONE);
    await step(page, 'open').getByText('These keys come from the service').waitFor();
    await trust(page);
    await step(page, 'holds')
      .getByText(/Version 2, the newest among the first \d+ entries, cosigned by/)
      .waitFor();
    expect(await findings(page)).toEqual([]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download proof of the newest version' }).click(),
    ]);
    const proof = readFileSync(await file.path(), 'utf8');

    await page.route('**/latest-proof?*', (route) =>
      route.fulfill({ body: proof.replace('"snapshot_version": 2', '"snapshot_version": 1') }),
    );
    await scene.go(page, `${subject}/proof?version=1`);
    await step(page, 'fails').getByText('The newest version is 2 instead of 1').waitFor();
    await page.unroute('**/latest-proof?*');

    await scene.go(page, '/verify');
    await page
      .getByLabel('A bundle or a proof')
      .setInputFiles({ name: 'newest.json', mimeType: 'application/json', buffer: Buffer.from(proof) });
    await page.locator('[data-outcome=proved]').waitFor();
    expect(await page.getByRole('region', { name: 'Report' }).textContent()).toContain('2, the newest among the first');
  });

  it('prove the state of a grant, and that the list of readers is complete', async () => {
    const page = await scene.open(OWNER, `${subject}/sharing`, PHONE);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: /^Proof/ }).press('Enter');
    await dialog.getByText(/live, the newest among the first/).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Prove that the list is complete' }).press('Enter');
    await dialog.getByText('The list is complete: the log has no disclosure of this subject.').waitFor();
    expect(await findings(page)).toEqual([]);
  });

  it.each(['newest', 'nothing-of-this-name'])(
    'prove to a tenant without access that it never had access to %s',
    async (id) => {
      const other = await makeTenant(scene);
      const page = await scene.open(OWNER, `/t/${other}/subjects/organization/${id}`, PHONE);
      await page.getByRole('button', { name: 'Prove that it was never shared with you' }).press('Enter');
      await page.getByRole('dialog').getByText(`The log has no grant on this subject to ${other}.`).waitFor();
      expect(await findings(page)).toEqual([]);
    },
  );
});
