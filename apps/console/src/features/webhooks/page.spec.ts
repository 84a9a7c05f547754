/** @jest-environment ./src/testing/environment.cjs */
import {
  address, answerItem, api, buttons, check, drawn, field, fill, open, press, rows, see, sends, unsee,
} from '../../testing/page.tsx'; // prettier-ignore

const HOOKS = '/v1/webhook-subscriptions';
const ID = 'wsub_7d0b1c9e-40bb-4d5b-8f2c-6a3f0f3a9d11';
const ONE = `${HOOKS}/${ID}`;
const PAGE = '/t/acme/webhooks';
const HOOK_PAGE = `${PAGE}/${ID}`;
const DELIVERIES = `GET ${HOOKS}/{subscription_id}/deliveries`;

/** This is another subscription. The example contains it as a single object and not in a list. */
const answerHook = (changes: object): void =>
  api.answer<{ webhook_subscription: object }>(`GET ${HOOKS}/{subscription_id}`, (answer) => ({
    ...answer,
    webhook_subscription: { ...answer.webhook_subscription, ...changes },
    ...changes,
  }));

it('a subscription is created, and its secret is shown once', async () => {
  api.answer(`GET ${HOOKS}`, { items: [] });
  await open(PAGE);
  await press('Subscribe');
  await fill('Address', 'no address');
  await press('Subscribe');
  await see('Choose at least one type of event.');
  expect(api.sent()).toEqual([]);
  await fill('Address', ' http://localhost:9/hook ');
  await check(/^grant\.created/);
  await fill('Only changes below', '/attributes/legal\n\n/attributes/contact');
  await press('Subscribe');
  const secret = (await field('Secret')).value;
  expect(secret).toMatch(/^whsec_/);
  const body = {
    tenant_id: 'acme',
    target_url: 'http://localhost:9/hook',
    event_types: ['grant.created'],
    paths: ['/attributes/legal', '/attributes/contact'],
  };
  await sends(['POST', HOOKS, body]);
  await press('I’ve saved it');
  await unsee('I’ve saved it');
  expect(document.body.innerHTML + JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain(secret);
});

it('a subscription is changed to all events but one', async () => {
  await open(HOOK_PAGE);
  await press('Change');
  await press('All');
  await check(/^grant\.expired/);
  await press('Save');
  await see('Active');
  const [[, path, body] = []] = api.sent();
  expect([path, body]).toEqual([
    ONE,
    {
      target_url: 'https://hooks.example.com/iss',
      event_types: expect.not.arrayContaining(['grant.expired']),
      paths: null,
    },
  ]);
  expect(body).toMatchObject({ event_types: { length: 21 } });
});

it.each([
  ['Send a test', [], ['POST', `${ONE}/test`]],
  ['Disable', ['Disable'], ['PATCH', ONE, { status: 'disabled' }]],
  ['Rotate the secret', ['Rotate'], ['POST', `${ONE}/rotate-secret`, { grace_seconds: 86_400 }]],
  ['Delete', ['Delete it'], ['DELETE', ONE]],
] as const)('%s sends one request', async (button, confirm, expected) => {
  await open(HOOK_PAGE);
  await press(button);
  for (const name of confirm) await press(name);
  await sends([...expected]);
});

it('an active subscription is green after a successful delivery', async () => {
  answerHook({ status: 'active', disabled_reason: null, disabled_at: null });
  const tone = (text: string): string | undefined =>
    [...document.querySelectorAll<HTMLElement>('[data-tone]')].find(({ textContent }) => textContent === text)?.dataset[
      'tone'
    ];
  api.answer(DELIVERIES, { items: [] });
  await open(HOOK_PAGE);
  await see('Active, nothing delivered yet');
  expect(tone('Active, nothing delivered yet')).toBe('plain');
  api.answer<{ items: object[] }>(DELIVERIES, (answer) => ({
    ...answer,
    items: answer.items.map((item) => ({ ...item, status: 'succeeded', finished_at: '2026-01-16T00:00:00.000Z' })),
  }));
  await open(HOOK_PAGE);
  await unsee('nothing delivered yet');
  expect(tone('Active')).toBe('good');
});

it('a disabled subscription can be enabled, and offers no sending', async () => {
  answerHook({ status: 'disabled', disabled_reason: 'requested', disabled_at: '2026-01-16T00:00:00.000Z' });
  await open(HOOK_PAGE);
  await see('Disabled by a member');
  expect(buttons().filter((name) => /^(Send a test|Replay a period|Disable)$/.test(name))).toEqual([]);
  await press('Enable');
  await sends(['PATCH', ONE, { status: 'active' }]);
});

it('a period is replayed in parts', async () => {
  api.answer(`POST ${HOOKS}/{subscription_id}/deliveries/replay`, {
    count: 3,
    next_from: '2026-01-10T00:00:00.000Z',
  });
  await open(HOOK_PAGE);
  await press('Replay a period');
  await press('Send again');
  await see('Enter a start time.');
  expect(api.sent()).toEqual([]);
  await fill('From', '2026-01-01T00:00');
  await fill('To', '2026-02-01T00:00');
  await fill('Status', 'dead');
  await press('Send again');
  await see('3 deliveries are sent again.');
  await press(/^Go on|^Send the rest/);
  await see('6 deliveries are sent again.');
  const body = {
    from: new Date('2026-01-01T00:00').toISOString(),
    to: new Date('2026-02-01T00:00').toISOString(),
    status: 'dead',
  };
  const path = `${ONE}/deliveries/replay`;
  await sends(['POST', path, body], ['POST', path, { ...body, from: '2026-01-10T00:00:00.000Z' }]);
});

it('a delivery can be opened and sent again', async () => {
  await open(HOOK_PAGE);
  await press('Open the delivery of identity.snapshot.created');
  expect(address()).toContain('?delivery=0d9a3f52');
  await see('Payload');
  expect(rows('Attempts')).toHaveLength(1);
  await press('Send again');
  await sends(['POST', `${ONE}/deliveries/0d9a3f52-7f0c-4b62-9f0e-2a1f6f1f9c77/redeliver`]);
});

it.each([
  ['?status=dead', { status: 'dead' }],
  ['?type=grant.created', { event_type: 'grant.created' }],
  ['?from=2026-01-01', { from: '2026-01-01T00:00:00Z' }],
  ['?to=2026-01-01', { to: '2026-01-01T23:59:59.999Z' }],
])('deliveries are filtered by the address: %s', async (search, query) => {
  api.answer(DELIVERIES, { items: [] });
  await open(HOOK_PAGE + search);
  await see('No delivery matches these filters');
  expect(api.asked(DELIVERIES)).toContainEqual({ ...query, limit: '200' });
});

it.each([
  [{ status: 'succeeded', attempts: [{ status_code: 204 }] }, '1 of 1 attempt succeeded (100 %)', 0],
  [{ status: 'dead', attempts: [{ status_code: 300 }] }, '0 of 1 attempt succeeded (0 %)', 1],
  [{ status: 'pending', attempts: [{ status_code: null }] }, 'no response', 1],
] as const)('attempts are counted and plotted: %j', async ({ status, attempts }, words, failed) => {
  answerItem(DELIVERIES, {
    status,
    attempts: attempts.map((attempt) => ({
      attempt: 1,
      started_at: '2026-01-15T10:00:00.050Z',
      latency_ms: 96,
      error_phase: null,
      error: null,
      ...attempt,
    })),
  });
  drawn.length = 0;
  await open(HOOK_PAGE);
  await see(words);
  const [, all, failures] = drawn.find(({ data }) => data.length === 3)?.data ?? [];
  const sum = (values: readonly (number | null)[] = []): number => values.reduce<number>((a, b) => a + (b ?? 0), 0);
  expect([sum(all), sum(failures)]).toEqual([1, failed]);
});

it.each([
  [{ status: 'succeeded' }, '1 delivered'],
  [{ status: 'dead' }, '0 delivered, 1 failed'],
  [{ status: 'skipped' }, 'not sent'],
  [{ status: 'pending' }, /1 retried(?!,)/],
  [{ status: 'pending', attempts: [] }, /pending/],
])('the newest deliveries are summarized in words: %j', async (changes, words) => {
  answerItem(DELIVERIES, changes);
  await open(PAGE);
  await see(words);
});
