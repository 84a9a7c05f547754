import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { repositoryRoot } from '../../../tools/root.ts';
import { accessibilityFindings, signInAtIssuer, withConsole } from './testing/scene.ts';

const FIRST_VIEW_BYTES = 180 * 1024;

withConsole('the frame', (scene) => {
  afterEach(() => expect(scene.faults()).toEqual([]));

  const isScrollingSideways = (page: Page): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

  it('signs in at the issuer, returns to the requested view, and signs out', async () => {
    const page = await scene.open('alice', '/t/acme/subjects?type=organization');
    expect(await page.getByLabel('Tenant', { exact: true }).inputValue()).toBe('acme');
    await page.getByRole('link', { name: 'Acme Corporation International', exact: true }).first().waitFor();
    // The token is only in memory, so that no other page can find it.
    const stored = 'JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])';
    expect(await page.evaluate(stored)).not.toMatch(/eyJ|token|oidc/);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to continue' }).waitFor();
    expect(await page.getByRole('link', { name: 'Acme Corporation International' }).count()).toBe(0);
  });

  it('has no findings of axe with open commands and signed out, dark and narrow', async () => {
    const page = await scene.open('alice', '/t/acme/subjects', {
      colorScheme: 'dark',
      viewport: { width: 360, height: 800 },
    });
    await page.getByRole('table').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to continue' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await isScrollingSideways(page)).toBe(false);
  });

  it('renews an expired sign-in in a popup, and keeps the typed text', async () => {
    const page = await scene.open('alice', '/t/acme/subjects');
    await page.getByRole('table').first().waitFor();
    await page.getByRole('search').getByRole('searchbox').fill('what I was about to look for');
    let isRefusing = true;
    await page.route('**/v1/**', async (route) =>
      isRefusing
        ? route.fulfill({
            status: 401,
            contentType: 'application/json',
            body: JSON.stringify({
              error: { code: 'unauthorized', message: 'The token has expired.', request_id: 'r-1' },
            }),
          })
        : route.continue(),
    );
    await page.getByRole('search').getByRole('searchbox').press('Enter');
    const dialog = page.getByRole('alertdialog', { name: 'Your sign-in has expired' });
    await dialog.waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // Escape does not close this dialog, because the service would refuse the next request.
    await page.keyboard.press('Escape');
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      dialog.getByRole('button', { name: 'Sign in again' }).click(),
    ]);
    isRefusing = false;
    await Promise.all([popup.waitForEvent('close'), signInAtIssuer(popup, 'alice')]);
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('search').getByRole('searchbox').inputValue()).toBe('what I was about to look for');
    expect(new URL(page.url()).search).toBe('?find=what+I+was+about+to+look+for');
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('opens the popup again after the user closed it', async () => {
    const page = await scene.open('alice', '/t/acme/subjects');
    await page.route('**/v1/**', (route) =>
      route.fulfill({ status: 401, contentType: 'application/json', body: '{}' }),
    );
    await scene.go(page, '/t/acme/subjects?find=x');
    const again = page.getByRole('button', { name: 'Sign in again' });
    for (let time = 1; time <= 2; time++) {
      const [popup] = await Promise.all([page.waitForEvent('popup'), again.click()]);
      await popup.close();
    }
    await page.unroute('**/v1/**');
    const [popup] = await Promise.all([page.waitForEvent('popup'), again.click()]);
    await Promise.all([popup.waitForEvent('close'), signInAtIssuer(popup, 'alice')]);
    await again.waitFor({ state: 'detached' });
  });

  it('loads at most 180 KiB for the first view', async () => {
    const page = await scene.open('alice', '/t/acme/subjects');
    await page.getByRole('table').first().waitFor();
    const names: string[] = await page.evaluate(
      `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((name) => name.startsWith('/console/assets/'))`,
    );
    expect(names.length).toBeGreaterThan(1);
    const sizes = names.map((name) => [name, gzippedSize(name)] as const);
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    console.log(`first view: ${total} bytes of gzip in ${names.length} files, of ${FIRST_VIEW_BYTES} allowed`);
    expect(total).toBeLessThan(FIRST_VIEW_BYTES);
  });
});

function gzippedSize(name: string): number {
  return readFileSync(join(repositoryRoot, 'apps/console/dist', `${name.replace(/^\/console\//, '')}.gz`)).length;
}
