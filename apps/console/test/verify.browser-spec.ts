import { generateKeys } from '@iss/tlog';
import { bundleText, lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { accessibilityFindings, withConsole } from './testing/scene.ts';

withConsole('verification without signing in', (scene) => {
  let made: Awaited<ReturnType<typeof lineageBundle>>;
  beforeAll(async () => {
    made = await lineageBundle(3);
  });

  /** The user is not signed in, and uses their own keys. */
  const openWith = async (policy: string, options = {}) => {
    const page = await scene.visit('/verify', options);
    await page.getByRole('button', { name: 'Use keys of my own' }).click();
    await page.getByLabel('Policy or key').fill(policy);
    await page.getByRole('button', { name: 'Trust these keys' }).click();
    await page.getByText('Your own keys').waitFor();
    return page;
  };
  const file = (name: string, text: string) => ({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(text) });

  it('proves a bundle, and refuses a forged line without a network', async () => {
    const page = await openWith(made.log.vkey);
    const { head, lines } = made;
    const input = page.getByLabel('A bundle or a proof');
    await input.setInputFiles(file('acme.ndjson', bundleText(head, lines)));
    await page.locator('[data-outcome=proved]').getByText('acme.ndjson is proved by the keys').waitFor();
    const report = page.getByRole('region', { name: 'Report' });
    expect(await report.textContent()).toContain('organization acme-corp, of the tenant acme');
    expect(await report.textContent()).toContain('1 to 3, complete');
    expect(await report.textContent()).toContain('No trusted witness saw this checkpoint');
    expect(await page.getByRole('table', { name: 'Lines' }).getByRole('row').count()).toBe(4);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.context().setOffline(true);
    const [first, second, third] = lines;
    const forged = {
      ...second,
      snapshot: {
        ...second?.snapshot,
        envelope: { ...second?.snapshot.envelope, attributes: { legal: { legal_name: '<b>X</b>' } } },
      },
    };
    await input.setInputFiles(file('<i>forged</i>.ndjson', bundleText(head, [first ?? {}, forged, third ?? {}])));
    const refused = page.locator('[data-outcome=refused]');
    await refused.getByText('Line 3, version 2').waitFor();
    expect(await refused.textContent()).toContain('<i>forged</i>.ndjson failed the verification');
    expect(await refused.textContent()).toContain('the SHA-256 of the envelope is');
    expect(await refused.textContent()).toContain('The 1 versions before it hold.');
    expect(await page.getByRole('table', { name: 'Lines' }).getByRole('row').last().textContent()).toContain('Refused');
    expect(await accessibilityFindings(page)).toEqual([]);

    // The keys belong to another log. The test uses only the keyboard.
    const other = await generateKeys('log.example/other', 'ed25519');
    await page.getByRole('button', { name: 'Change' }).press('Enter');
    await page.getByLabel('Policy or key').fill('quorum nobody\n');
    await page.getByRole('button', { name: 'Trust these keys' }).press('Enter');
    await page.getByText('no line before it defines nobody').waitFor();
    await page.getByLabel('Policy or key').fill(other.verifierKey);
    await page.getByRole('button', { name: 'Trust these keys' }).press('Enter');
    await page.getByRole('button', { name: 'Verify again' }).press('Enter');
    await page.getByText('The policy does not name the log').waitFor();
    await page.getByRole('button', { name: 'Remove them' }).click();
    expect(scene.faults()).toEqual([]);
  });
});
