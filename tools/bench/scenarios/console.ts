import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { type Browser, chromium, type Page } from 'playwright-core';
import { CONSOLE_DIST } from '../../console/console.ts';
import { BROWSERS, findBrowser } from '../../testing/browser.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { SUBJECT_TYPE } from '../flows.ts';
import { figure } from '../measure.ts';
import { type Line, Missing, type Outcome } from '../run.ts';
import { largeEnvelope } from './documents.ts';
import { seedHistories } from './histories.ts';
import { type Bench, call, OWNER } from './scenario.ts';

/** The principal of every caller of a gateway without authentication. */
const PRINCIPAL = 'oidc:local#dev';
const FIRST_VIEW_MS = 1_000;
const FIRST_VIEW_BYTES = 180 * 1024;
const LONG_TASK_MS = 80;
const SHOWN_MS = 1_000;
const VISITS = { quick: 3, full: 15 };
const VERSIONS = { quick: 1_000, full: 10_000 };
/** About a megabyte. */
const OFFICERS = 5_500;
const WHEELS = 40;
const READY_MS = 30_000;
const PAGES_FOR_MEMORY = 300;

/** Measures the console in Chromium, on a gateway without authentication: time to first use, scrolling, and the cost for the gateway. */
export async function consolePage(bench: Bench): Promise<Outcome> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Missing(`There is no Chromium. Install it, and put it on PATH as ${BROWSERS.join(' or ')}.`);
  }
  const { effort, owner, stage } = bench;
  const member = `/v1/tenants/${OWNER}/members/${encodeURIComponent(PRINCIPAL)}`;
  await call(bench, owner, 'PUT', member, { role: 'tenant_admin' });
  const [long, large] = [`console-long-${randomUUID()}`, `console-large-${randomUUID()}`];
  const versions = effort.quick ? VERSIONS.quick : VERSIONS.full;
  const count = versions.toLocaleString('en');
  await seedHistories(bench, [long], versions);
  await call(bench, owner, 'POST', `/v1/tenants/${OWNER}/entity-states`, largeSubject(large));

  const gateway = await stage.startGateway({ AUTH_MODE: 'disabled', OIDC_ISSUER: '', OIDC_PROJECT_ID: '' });
  await call({ ...bench, gateway }, {}, 'POST', `/v1/tenants/${OWNER}/membership/accept`);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const root = `http://127.0.0.1:${gateway.port}/console/t/${OWNER}/subjects`;
    const subject = (id: string, view: string): string => `${root}/${SUBJECT_TYPE}/${id}${view}`;
    const before = gateway.rssMiB();
    for (let page = 0; page < PAGES_FOR_MEMORY; page++) await (await fetch(root)).arrayBuffer();
    const after = gateway.rssMiB();
    const visits = await firstViews(browser, root, effort.quick ? VISITS.quick : VISITS.full);
    const lines: Line[] = [
      {
        id: 'console-first-view',
        what: 'Console: address to rows, files kept by the browser',
        figure: figure(visits.times),
        unit: 'ms',
        target: { most: FIRST_VIEW_MS },
      },
      {
        id: 'console-first-view-bytes',
        what: 'Console: files of the first view, gzip',
        figure: figure([visits.bytes]),
        unit: 'bytes',
        target: { most: FIRST_VIEW_BYTES },
      },
      {
        id: 'console-memory',
        what: `Gateway memory that ${PAGES_FOR_MEMORY} loads of the page add`,
        figure: figure([Math.max(0, after - before)]),
        unit: 'MiB',
      },
    ];
    const type = async (page: Page): Promise<void> => {
      const text = page.getByLabel('Content of the version');
      await text.press('Control+Home');
      await text.press('ArrowRight');
      await text.pressSequentially('"bench": 1,');
      await page.getByText('1 operation (RFC 6902)').waitFor();
    };
    const filter = async (page: Page): Promise<void> => {
      await page.getByLabel('Find', { exact: true }).pressSequentially(`Officer number ${OFFICERS - 1}`);
      await page.getByText(/^1 of /).waitFor();
    };
    for (const [id, what, address, act] of [
      ['timeline', `timeline of ${count} versions`, subject(long, '/timeline'), null],
      ['large', 'attributes of a 1 MB envelope', subject(large, ''), null],
      ['filter', 'filter over the attributes of a 1 MB envelope', subject(large, ''), filter],
      ['json', 'JSON editor with a 1 MB envelope', subject(large, '/proposals/new?as=json'), type],
      ['compare', `compare of version 1 and ${count}`, subject(long, `/compare?from=1&to=${versions}`), null],
    ] as const) {
      const { taskMs, shownMs } = await look(browser, address, act);
      lines.push(
        { id: `console-${id}`, what: `Console: longest task, ${what}`, figure: figure([taskMs]), unit: 'ms', target: { most: LONG_TASK_MS } },
        { id: `console-${id}-shown`, what: `Console: until shown, ${what}`, figure: figure([shownMs]), unit: 'ms', target: { most: SHOWN_MS } },
      );
    }
    return { lines };
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

function largeSubject(subjectId: string): unknown {
  const now = new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: now,
    subject: { subject_type: SUBJECT_TYPE, subject_id: subjectId },
    attributes: { register: largeEnvelope(OFFICERS, { changed: false }) },
    evidence: [],
    audit: { created_by: 'importer', created_at: now, source: 'bench' },
  };
}

/** Measures first views. The first visit fills the browser's cache and is not counted. */
async function firstViews(browser: Browser, address: string, count: number): Promise<{ times: number[]; bytes: number }> {
  const context = await browser.newContext();
  try {
    const times: number[] = [];
    let bytes = 0;
    for (let visit = 0; visit <= count; visit++) {
      const page = await context.newPage();
      await page.goto(address, { waitUntil: 'commit' });
      const tookMs = await shownAt(page, ':is(table, [role=table]) a[href]');
      if (visit > 0) times.push(tookMs);
      bytes = await bytesOf(page);
      await page.close();
    }
    return { times, bytes };
  } finally {
    await context.close();
  }
}

/** Returns the time at which the page showed this, in milliseconds. Playwright itself looks only every half second after a while. */
function shownAt(page: Page, selector: string): Promise<number> {
  return page.evaluate(
    `new Promise((resolve) => {
      const look = () => document.querySelector('${selector}')?.checkVisibility() ? resolve(performance.now()) : requestAnimationFrame(look);
      look();
    })`,
  );
}

async function bytesOf(page: Page): Promise<number> {
  const names: string[] = await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((name) => name.includes('/assets/'))`,
  );
  return names
    .map((name) => readFileSync(join(CONSOLE_DIST, `${name.replace(/^\/console\//, '')}.gz`)).length)
    .reduce((sum, size) => sum + size, 0);
}

interface Look {
  /** The longest task while the view is opened, used and scrolled through. */
  readonly taskMs: number;
  /** From the address to the first content of the view. */
  readonly shownMs: number;
}

/** Opens a view, uses it and scrolls through it. */
async function look(browser: Browser, address: string, act: ((page: Page) => Promise<void>) | null): Promise<Look> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    await context.addInitScript(
      `globalThis.longest = 0; new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration); }).observe({ type: 'longtask', buffered: true });`,
    );
    const page = await context.newPage();
    await page.goto(address);
    const shownMs = await shownAt(page, 'main :is(table, [role=table], textarea)');
    // The feed's stream stays open, so the network is never idle.
    let before = '';
    const isStill = async (): Promise<boolean> => {
      const now = await page.getByRole('main').innerText();
      const isSame = now === before && !now.includes('Loading …');
      before = now;
      return isSame;
    };
    await waitFor(isStill, { deadlineMs: READY_MS, what: `all of ${address}` });
    await act?.(page);
    await page.mouse.move(640, 600);
    for (let wheel = 0; wheel < WHEELS; wheel++) {
      await page.mouse.wheel(0, 600);
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    }
    const taskMs: number = await page.evaluate('globalThis.longest');
    return { taskMs, shownMs };
  } finally {
    await context.close();
  }
}
