import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { freePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';

jest.setTimeout(180_000);

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of an installed Chromium, if there is one. */
function findBrowser(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .flatMap((folder) => BROWSERS.map((name) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const executablePath = findBrowser();
if (executablePath === undefined) {
  process.stdout.write(`Skipped: no ${BROWSERS.join(', ')} on the PATH to sign in with at /docs.\n`);
}
const withBrowser = executablePath === undefined ? it.skip : it;

let service: ChildProcess | undefined;
let dataFolder = '';

afterEach(async () => {
  if (service !== undefined && service.exitCode === null) {
    const ended = new Promise((resolve) => service?.once('close', resolve));
    service.kill('SIGTERM');
    await ended;
  }
  if (dataFolder !== '') rmSync(dataFolder, { recursive: true, force: true });
});

withBrowser('a person signs in at /docs and gets a 200 from "Try it out"', async () => {
  dataFolder = mkdtempSync(join(tmpdir(), 'iss-docs-'));
  chmodSync(dataFolder, 0o755);
  const [port, workerPort, idpPort, inboxPort, metricsPort, workerMetricsPort] = await Promise.all(
    Array.from({ length: 6 }, () => freePort()),
  );
  service = spawn('npm', ['start'], {
    cwd: repositoryRoot,
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATA_DIR: dataFolder,
      PORT: String(port),
      WORKER_PORT: String(workerPort),
      IDP_PORT: String(idpPort),
      INBOX_PORT: String(inboxPort),
      METRICS_PORT: String(metricsPort),
      WORKER_METRICS_PORT: String(workerMetricsPort),
    },
  });
  const isSeeded = async (): Promise<boolean> => {
    const status = spawn('npm', ['run', '-s', 'status'], {
      cwd: repositoryRoot,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: dataFolder },
    });
    return new Promise((resolve) => status.once('close', (code) => resolve(code === 0)));
  };
  await waitFor(isSeeded, { deadlineMs: 120_000, what: 'the start of the service' });

  const browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(`http://localhost:${port}/docs`);

    await page.click('button.authorize');
    const signIn = page.locator('.auth-container', { hasText: 'authorization_code' });
    const popup = page.waitForEvent('popup');
    await signIn
      .getByRole('button', { name: 'Apply given OAuth2 credentials' })
      .or(signIn.locator('button.authorize'))
      .first()
      .click();
    const identityProvider = await popup;
    await identityProvider.fill('#user', 'alice');
    await identityProvider.getByRole('button').first().click();
    await page.locator('.auth-container button', { hasText: 'Logout' }).first().waitFor();
    await page.locator('.auth-btn-wrapper .btn-done').first().click();

    const operation = page.locator('.opblock', {
      has: page.locator('[data-path="/v1/tenants/{tenant_id}/principals"]'),
    });
    await operation.locator('.opblock-summary').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.locator('input[placeholder="tenant_id"]').fill('acme');
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table .response');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').innerText()).toContain('200');
    expect(await answer.innerText()).toContain('oidc:dev#alice');
  } finally {
    await browser.close();
  }
});
