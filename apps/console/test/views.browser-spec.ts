import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { repositoryRoot } from '../../../tools/root.ts';
import { IS_EXHAUSTIVE } from '../../../tools/testing/runs.ts';
import { waitFor } from '../../../tools/testing/wait-for.ts';
import { accessibilityFindings, withConsole } from './testing/scene.ts';

/** Opens every view as a user of the world. docs/console.md shows these pictures. */
const VIEWS: readonly { name: string; user: string; view: string }[] = [
  { name: 'subjects', user: 'alice', view: '/t/acme/subjects' },
  { name: 'attributes', user: 'alice', view: '/t/acme/subjects/organization/kestrel-analytics' },
  { name: 'timeline', user: 'alice', view: '/t/acme/subjects/organization/northgate-components/timeline' },
  { name: 'compare', user: 'alice', view: '/t/acme/subjects/organization/kestrel-analytics/compare?from=30&to=35' },
  { name: 'proof', user: 'alice', view: '/t/acme/subjects/organization/kestrel-analytics/proof' },
  { name: 'proposals', user: 'alice', view: '/t/acme/proposals' },
  { name: 'proposal-new', user: 'alice', view: '/t/acme/subjects/organization/kestrel-analytics/proposals/new' },
  { name: 'sharing', user: 'alice', view: '/t/acme/sharing' },
  { name: 'subject-sharing', user: 'alice', view: '/t/acme/subjects/organization/kestrel-analytics/sharing' },
  { name: 'webhooks', user: 'alice', view: '/t/acme/webhooks' },
  { name: 'tenant', user: 'alice', view: '/t/acme/tenant' },
  { name: 'log', user: 'alice', view: '/t/acme/log' },
  { name: 'requests', user: 'bob', view: '/t/beta/requests' },
  { name: 'granted', user: 'bob', view: '/t/beta/subjects?of=granted' },
  { name: 'verify', user: 'bob', view: '/verify' },
];
/** Views without a picture. */
const MORE: typeof VIEWS = [
  { name: 'credentials', user: 'alice', view: '/t/acme/tenant?show=credentials' },
  { name: 'attestations', user: 'alice', view: '/t/acme/tenant?show=attestations' },
];
const FOLDER = join(repositoryRoot, 'docs', 'images');
const isWriting = process.env['UPDATE_SCREENSHOTS'] === 'true';
const SIZE = { width: 1280, height: 860 };
/** Waits about 300 ms, like `waitFor`. */
const SAME_LOOKS = 10;
const NARROW = { width: 360, height: 640 };
/** Returns how far down the page the first row of its first table ends; 0 without a table. */
const END_OF_ROW = `document.querySelector('main [role=rowgroup] + [role=rowgroup] [role=row]')?.getBoundingClientRect().bottom ?? 0`;
/** Returns the buttons of rows that end outside the window. */
const OUTSIDE = `[...document.querySelectorAll('main tbody button')].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => 'outside: ' + (one.ariaLabel ?? one.textContent))`;
/** Returns how far down the page the actions of a view end. */
const END_OF_ACTIONS = `Math.max(0, ...[...document.querySelectorAll('main [class*=pageHead] [class*=actions]')].slice(0, 1).map((one) => one.getBoundingClientRect().bottom + scrollY))`;

withConsole('every view', (scene) => {
  const pictureOf = (name: string): string => join(FOLDER, `console-${name}.png`);

  /** Waits until the page has received all answers, and nothing changes any more. */
  async function settled(page: Page): Promise<void> {
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    let before = '';
    let same = 0;
    const isStill = async (): Promise<boolean> => {
      const now = await page.getByRole('main').innerText();
      same = now === before && !now.includes('Loading …') ? same + 1 : 0;
      before = now;
      return same === SAME_LOOKS;
    };
    await waitFor(isStill, { deadlineMs: 15_000, what: `all of ${page.url()}` });
  }

  it.each([
    ['alice', 'light', SIZE],
    ['bob', 'light', SIZE],
    ['alice', 'dark', NARROW],
    ['bob', 'dark', NARROW],
  ] as const)(
    'shown to %s (%s, %j) has no error, overflow, hidden action or finding of axe',
    async (user, colorScheme, viewport) => {
      const views = [...VIEWS, ...MORE].filter((one) => one.user === user);
      const page = await scene.open(user, views[0]?.view ?? '', { viewport, colorScheme });
      const found: Record<string, string[]> = {};
      for (const [index, { name, view }] of views.entries()) {
        await scene.go(page, view);
        await settled(page);
        if (isWriting && colorScheme === 'light' && VIEWS.some((one) => one.name === name)) {
          mkdirSync(FOLDER, { recursive: true });
          await page.screenshot({ path: pictureOf(name) });
        }
        const alerts = await page.getByRole('alert').allInnerTexts();
        const width = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        const tooWide = (await page.evaluate(width)) === true ? ['too wide'] : [];
        const outside: string[] = await page.evaluate(OUTSIDE);
        const end: number = await page.evaluate(END_OF_ACTIONS);
        const tooLow = end > NARROW.height ? [`its actions end at ${end}`] : [];
        const row: number = name === 'attributes' ? await page.evaluate(END_OF_ROW) : 0;
        const rowTooLow = row > viewport.height ? [`its first value ends at ${row}`] : [];
        // axe takes seconds, so each view is examined in one of its two forms.
        const isExamined = IS_EXHAUSTIVE || (index % 2 === 0) === (colorScheme === 'light');
        const byAxe = isExamined ? await accessibilityFindings(page) : [];
        const all = [...alerts, ...rowTooLow, ...tooWide, ...tooLow, ...outside, ...byAxe];
        if (all.length > 0) found[name] = all;
      }
      expect(found).toEqual({});
      expect(scene.faults()).toEqual([]);
    },
  );

  it('has a picture in docs/console.md (npm run generate -- pictures)', () => {
    const text = readFileSync(join(repositoryRoot, 'docs/console.md'), 'utf8');
    const missing = VIEWS.filter(
      ({ name }) => !existsSync(pictureOf(name)) || !text.includes(`images/console-${name}.png`),
    );
    expect(missing).toEqual([]);
  });
});
