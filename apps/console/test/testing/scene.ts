import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { source as axeSource } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Run, RunStatus } from '../../../../tools/dev/data-folder.ts';
import { mintToken } from '../../../../tools/dev/identity-provider.ts';
import { BROWSERS, findBrowser } from '../../../../tools/testing/browser.ts';

/** The answers of the API, which tests inspect. */
type Json = ReturnType<typeof JSON.parse>;

/** A browser beside the running product with the world of `npm start` (tools/dev/seed.ts). */
export interface Scene {
  readonly baseUrl: string;
  readonly browser: Browser;
  /** Opens a page of the console on which `user` has signed in, at a view: `/t/acme/subjects`. */
  open(user: string, view: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a page of the console on which nobody has signed in. */
  visit(view: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens another view on the same page, like a click on a link. The user stays signed in. */
  go(page: Page, view: string): Promise<void>;
  /** Sends a request to the API as this user. */
  api(user: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }>;
  /** Returns the token of this user, for requests that `api` does not send. */
  token(user: string): Promise<string>;
  /** Unexpected messages of pages: scripts that the policy refused, errors, and uncaught exceptions. Forgets it. */
  faults(): string[];
}

const executablePath = findBrowser();
const ACTION_MS = 15_000;
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-sync',
];

/**
 * Declares a suite of the console: `describe` with a browser. Without Chromium, it prints a line and skips the suite.
 */
export function withConsole(name: string, body: (scene: Scene) => void): void {
  if (executablePath === undefined) {
    process.stdout.write(`Skipped: no ${BROWSERS.join(', ')} on the PATH to open /console with.\n`);
    describe.skip(name, () => it('needs a browser', () => undefined));
    return;
  }
  describe(name, () => {
    const { baseUrl, dataFolder } = productOfTests();
    let browser: Browser;
    const faults: string[] = [];
    const tokens = new Map<string, Promise<string>>();
    const token = (user: string): Promise<string> => {
      const minted = tokens.get(user) ?? tokenOf(dataFolder, user);
      tokens.set(user, minted);
      return minted;
    };
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath, args: ARGUMENTS });
    });
    afterEach(async () => {
      for (const context of browser.contexts()) await context.close();
    });
    afterAll(() => browser?.close());

    body({
      baseUrl,
      get browser() {
        return browser;
      },
      async visit(view, options = {}) {
        const context = await browser.newContext({
          reducedMotion: 'reduce',
          viewport: { width: 1280, height: 900 },
          ...options,
        });
        context.setDefaultTimeout(ACTION_MS);
        await context.addInitScript({ content: axeSource });
        const page = await context.newPage();
        page.on('pageerror', (error) => faults.push(String(error)));
        page.on('console', (message) => {
          // The page itself shows a refusal of the API. The browser's own message about it is not a fault of the page.
          const isAnswer = message.text().startsWith('Failed to load resource');
          if (message.type() === 'error' && !isAnswer) faults.push(message.text());
        });
        await page.goto(`${baseUrl}/console${view}`);
        return page;
      },
      async open(user, view, options) {
        const page = await this.visit(view, options);
        await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
        await signInAtIssuer(page, user);
        await page.waitForURL(`${baseUrl}/console${view === '' ? '/**' : view}`);
        return page;
      },
      async go(page, view) {
        await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/console${view}`)})`);
        await page.waitForURL(`${baseUrl}/console${view}`);
      },
      async api(user, method, path, content) {
        const response = await fetch(baseUrl + path, {
          method,
          headers: { Authorization: `Bearer ${await token(user)}`, 'Content-Type': 'application/json' },
          ...(content === undefined ? {} : { body: JSON.stringify(content) }),
        });
        const text = await response.text();
        return { status: response.status, body: text === '' ? null : JSON.parse(text) };
      },
      token,
      faults: () => faults.splice(0),
    });
  });
}

/** Signs in on the page of the development issuer, which accepts every name. */
export async function signInAtIssuer(page: Page, user: string): Promise<void> {
  await page.getByLabel('Or as another user').fill(user);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Returns the findings of axe (WCAG 2.2 AA), one per line: the rule and the place. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          root: string,
          options: unknown,
        ): Promise<{ violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[] }>;
      };
    };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run('html', { runOnly: { type: 'tag', values: tags } });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
    );
  });
}

function productOfTests(): { baseUrl: string; dataFolder: string } {
  const text = process.env['CONSOLE_TEST_PRODUCT'];
  if (text === undefined)
    throw new Error('The suites of the console run by Jest, whose globalSetup starts the product.');
  return JSON.parse(text);
}

async function tokenOf(dataFolder: string, user: string): Promise<string> {
  const run: Run & { status: RunStatus } = JSON.parse(readFileSync(join(dataFolder, 'run.json'), 'utf8'));
  const { signing_key: signingKey } = JSON.parse(readFileSync(join(dataFolder, 'secrets.json'), 'utf8'));
  return mintToken({ issuer: run.status.issuer, audience: run.audience, signingKey, user });
}
