import { accessibilityFindings, withConsole } from './testing/scene.ts';
import { makeTenant, OWNER } from './testing/subjects-of-tests.ts';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

withConsole('webhooks', (scene) => {
  /** Nobody listens there: each attempt fails at once. */
  const nowhere = 'http://localhost:9/hooks/nobody';
  let tenantId: string;

  beforeAll(async () => {
    tenantId = await makeTenant(scene);
  });
  afterEach(() => expect(scene.faults()).toEqual([]));

  const subscriptions = async (): Promise<Record<string, unknown>[]> =>
    (await scene.api(OWNER, 'GET', `/v1/webhook-subscriptions?tenant_id=${tenantId}`)).body.items;

  it('subscribes and shows the secret once, changes, disables, enables, rotates and ends', async () => {
    const page = await scene.open(OWNER, `/t/${tenantId}/webhooks`);
    await page.getByText('Nothing is sent anywhere yet').waitFor();
    await page.getByRole('button', { name: 'Subscribe' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('no address');
    await dialog.getByRole('button', { name: 'Subscribe' }).click();
    await dialog.getByText('Choose at least one type of event.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await dialog.getByLabel('Address').fill(nowhere);
    await dialog.getByRole('checkbox', { name: /grant\.created/ }).check();
    await dialog.getByRole('button', { name: 'Subscribe' }).click();
    const shown = page.getByRole('alertdialog');
    const secret = await shown.getByLabel('Secret').inputValue();
    expect(secret).toMatch(SECRET);
    expect(await accessibilityFindings(page)).toEqual([]);
    // What is shown this once is not lost by a key.
    await page.keyboard.press('Escape');
    expect(await shown.getByLabel('Secret').inputValue()).toBe(secret);
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('link', { name: nowhere }).click();
    await page.getByText('Nothing was sent yet').waitFor();
    const anywhere = `location.href + JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), history.state]) + document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((input) => input.value)`;
    expect(await page.evaluate(anywhere)).not.toContain(secret);
    await expect(subscriptions()).resolves.toMatchObject([{ target_url: nowhere, event_types: ['grant.created'] }]);

    await page.getByRole('button', { name: 'Change' }).click();
    await dialog.getByRole('button', { name: 'All', exact: true }).click();
    await dialog.getByRole('checkbox', { name: /grant\.expired/ }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [changed] = await subscriptions();
    expect(changed?.['event_types']).toHaveLength(14);
    await page.getByText('shared.snapshot.created').first().waitFor();

    const question = page.getByRole('alertdialog');
    await page.getByRole('button', { name: 'Disable' }).click();
    await question.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled by a member').waitFor();
    await expect(subscriptions()).resolves.toMatchObject([{ status: 'disabled' }]);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Active', { exact: true }).waitFor();
    await expect(subscriptions()).resolves.toMatchObject([{ status: 'active' }]);

    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await question.getByRole('button', { name: 'Rotate' }).click();
    await question.getByRole('button', { name: 'Copy the secret' }).waitFor();
    const rotated = await question.getByLabel('Secret').inputValue();
    expect(rotated).toMatch(SECRET);
    expect(rotated).not.toBe(secret);
    await question.getByRole('button', { name: 'I have kept it' }).click();

    await page.getByRole('button', { name: 'End', exact: true }).click();
    await question.getByRole('button', { name: 'End it' }).click();
    await page.getByText('Nothing is sent anywhere yet').waitFor();
    await expect(subscriptions()).resolves.toEqual([]);
  });

  it('sends a test, shows each attempt, what it answered and how long it took, and sends again', async () => {
    const { body } = await scene.api(OWNER, 'POST', '/v1/webhook-subscriptions', {
      tenant_id: tenantId,
      target_url: nowhere,
      event_types: ['grant.created'],
    });
    const id: string = body.webhook_subscription.subscription_id;
    const page = await scene.open(OWNER, `/t/${tenantId}/webhooks/${id}`);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('A test is on its way').waitFor();
    const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1);
    await row.getByText('webhook.test').waitFor();
    // It is asked for again until an attempt has ended.
    await row.getByText('no answer').waitFor();
    await page.getByText(/0 of \d+ attempts? succeeded \(0 %\)/).waitFor();
    await page.getByText(/the slowest one \d+ ms/).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await row.getByRole('button', { name: 'Open the delivery of webhook.test' }).click();
    await page.waitForURL('**?delivery=*');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('at connect').first().waitFor();
    const [delivery] = (await scene.api(OWNER, 'GET', `/v1/webhook-subscriptions/${id}/deliveries`)).body.items;
    expect(await dialog.getByRole('region', { name: 'Payload' }).innerText()).toContain(`"id": "${delivery.event_id}"`);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');

    await page.getByRole('button', { name: 'Replay a period' }).click();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText('Say from when on.').waitFor();
    await dialog.getByLabel('From').fill('2026-01-01T00:00');
    await dialog.getByLabel('Which').selectOption('succeeded');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText('0 deliveries are sent again.').waitFor();
    await page.keyboard.press('Escape');

    // While it is disabled nothing is sent.
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled by a member').waitFor();
    expect(await page.getByRole('button', { name: /^(Send a test|Replay a period)$/ }).count()).toBe(0);

    await page.route('**/deliveries?*', (route) => route.fulfill({ status: 500, body: '' }));
    await page.getByLabel('Status', { exact: true }).selectOption('dead');
    await page.waitForURL('**?status=dead');
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
    await page.unroute('**/deliveries?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No delivery fits these filters').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('shows how the subscriptions of the world do', async () => {
    const page = await scene.open('alice', '/t/acme/webhooks');
    await page
      .getByRole('row', { name: /fails-billing/ })
      .getByText(/failed|tried again|waiting/)
      .waitFor();
    await page
      .getByRole('row', { name: /former-crm/ })
      .getByText('Disabled by a member')
      .waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const { status } = await scene.api(OWNER, 'GET', '/v1/webhook-subscriptions?tenant_id=acme');
    expect(status).toBe(403);
  });
});
