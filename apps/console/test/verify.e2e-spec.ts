import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeHash, formatLogProof, generateKeys } from '@iss/tlog';
import { bundleText, lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { takeLongTasks, watchLongTasks } from './testing/long-tasks.ts';
import { accessibilityFindings, withConsole } from './testing/scene.ts';

const MANY = 3_000;

withConsole('verifying without signing in', (scene) => {
  let made: Awaited<ReturnType<typeof lineageBundle>>;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'iss-console-'));
    made = await lineageBundle(3);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Where nobody is signed in, with keys of one's own. */
  const openWith = async (policy: string, options = {}) => {
    const page = await scene.visit('/verify', options);
    await page.getByRole('button', { name: 'Use keys of my own' }).click();
    await page.getByLabel('Policy or key').fill(policy);
    await page.getByRole('button', { name: 'Trust these keys' }).click();
    await page.getByText('Your own keys').waitFor();
    return page;
  };
  const file = (name: string, text: string) => ({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(text) });

  it('proves a bundle as iss verify does, finds the forged line, and goes on without a network', async () => {
    const page = await openWith(made.log.vkey);
    const { head, lines } = made;
    const input = page.getByLabel('A bundle or a proof');
    await input.setInputFiles(file('acme.ndjson', bundleText(head, lines)));
    await page.locator('[data-outcome=proved]').getByText('acme.ndjson proves what it shows').waitFor();
    const report = page.getByRole('region', { name: 'Report' });
    expect(await report.textContent()).toContain('organization acme-corp, of the tenant acme');
    expect(await report.textContent()).toContain('1 to 3, none left out between');
    expect(await report.textContent()).toContain('No witness that you trust saw this checkpoint');
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
    expect(await refused.textContent()).toContain('<i>forged</i>.ndjson does not hold');
    expect(await refused.textContent()).toContain('the SHA-256 of the envelope is');
    expect(await refused.textContent()).toContain('The 1 versions before it hold.');
    expect(await page.getByRole('table', { name: 'Lines' }).getByRole('row').last().textContent()).toContain('Refused');
    expect(await accessibilityFindings(page)).toEqual([]);

    // The keys of another log, and by keyboard alone.
    const other = await generateKeys('log.example/other', 'ed25519');
    await page.getByRole('button', { name: 'Change' }).press('Enter');
    await page.getByLabel('Policy or key').fill('quorum nobody\n');
    await page.getByRole('button', { name: 'Trust these keys' }).press('Enter');
    await page.getByText('no line before it defines nobody').waitFor();
    await page.getByLabel('Policy or key').fill(other.verifierKey);
    await page.getByRole('button', { name: 'Trust these keys' }).press('Enter');
    await page.getByRole('button', { name: 'Verify again' }).press('Enter');
    await page.getByText('which the policy does not name').waitFor();
    await page.getByRole('button', { name: 'Forget them' }).click();
    expect(scene.faults()).toEqual([]);
  });

  it('proves what was pasted: a proof of one entry, in both forms, with a wrong one refused', async () => {
    const page = await openWith(made.log.vkey);
    const [line] = made.lines;
    if (line === undefined) throw new Error('no line');
    const { entry, log_index: index, inclusion } = line;
    const proof = formatLogProof({
      extra: null,
      index,
      inclusion: inclusion.map((hash) => decodeHash(hash, 'hash')),
      checkpoint: made.note,
    });
    await page.getByText('Paste it instead').click();
    await page.getByLabel('Bundle or proof', { exact: true }).fill(proof);
    await page.getByRole('button', { name: 'Verify what was pasted' }).click();
    await page.locator('[data-outcome=unreadable]').getByText('The proof does not hold its entry').waitFor();
    await page.getByText('A proof that does not hold its entry').click();
    await page.getByLabel('The entry, as it was logged').fill(entry);
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.locator('[data-outcome=proved]').waitFor();
    await page.getByLabel('The entry, as it was logged').fill(entry.replace('acme', 'ecma'));
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.locator('[data-outcome=refused]').getByText('it leads to another root').waitFor();
    await page.getByLabel('The entry, as it was logged').fill('');
    await page.getByLabel('Bundle or proof', { exact: true }).fill('{"log_index": "1"}');
    await page.getByRole('button', { name: 'Verify what was pasted' }).click();
    await page.locator('[data-outcome=unreadable]').getByText('no member').waitFor();
    expect(scene.faults()).toEqual([]);
  });

  it(`verifies ${MANY} versions in a worker while the page stays quick`, async () => {
    const { log, head, lines } = await lineageBundle(MANY);
    const page = await openWith(log.vkey);
    await watchLongTasks(page);
    const path = join(folder, 'many.ndjson');
    writeFileSync(path, bundleText(head, lines));
    const begun = Date.now();
    await page.getByLabel('A bundle or a proof').setInputFiles(path);
    const verdict = page.locator('[data-outcome=proved]');
    await verdict.waitFor();
    const tookMs = Date.now() - begun;
    const longest = Math.max(0, ...(await takeLongTasks(page)));
    process.stdout.write(
      `A bundle of ${MANY} versions in the browser: ${await verdict.textContent()}; longest task of the page ${Math.round(longest)} ms\n`,
    );
    // Promised are 100 ms on a machine of its own. Suites share theirs: without a worker it would be nearly all of the time.
    expect(longest).toBeLessThan(tookMs / 2);
    const table = page.getByRole('table', { name: 'Lines' });
    expect(await table.getAttribute('aria-rowcount')).toBe(String(MANY + 1));
    await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await table.getByRole('cell', { name: String(MANY), exact: true }).waitFor();
    expect(scene.faults()).toEqual([]);
  });
});
