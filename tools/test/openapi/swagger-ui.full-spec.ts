import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { list, type Operation, operationsOf } from '../../testing/conformance.ts';
import { idOf, successesOf } from '../../../apps/api-gateway/test/examples/documented.ts';
import { EXAMPLE_KEY_RING, ExampleWorld, type Stage } from '../../../apps/api-gateway/test/examples/world.ts';
import { repositoryRoot } from '../../root.ts';
import { BROWSERS, findBrowser } from '../../testing/browser.ts';
import { type StartedService, startService } from '../../testing/started-service.ts';
import { IS_EXHAUSTIVE } from '../../testing/runs.ts';
import { TEST_VRF_SECRET } from '../../testing/vrf-key.ts';
import { waitFor } from '../../testing/wait-for.ts';

type Caller = 'alice' | 'bob' | 'carol';

/** The world in which an operation is executed, and the caller. */
interface Setting {
  /** `seeded` is the state after `npm start`. The examples create the other worlds, for data that a seed cannot contain. */
  world: 'seeded' | Stage;
  /** Null means signed out. */
  caller: Caller | null;
}

const USUAL: Setting = { world: 'seeded', caller: 'alice' };
/** The operations that need another setting than the usual one. */
const SETTINGS: Readonly<Record<string, Partial<Setting>>> = {
  // The seed has already executed these.
  'POST /v1/tenants': { world: 'before all' },
  'POST /v1/tenants/{tenant_id}/entity-states': { world: 'tenants' },
  'POST /v1/tenants/{tenant_id}/entity-states/batch': { world: 'tenants' },
  'POST /v1/entity-states': { world: 'tenants', caller: null },
  'POST /v1/tenants/{tenant_id}/entity-state-updates': { world: 'first version' },
  'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates': { world: 'first version' },
  'POST /v1/tenants/{tenant_id}/grants': { world: 'first version' },
  // The service generates these ids, so the seed cannot use the ids of the examples.
  ...inUse([
    'GET /v1/tenants/{tenant_id}/entity-state-updates/{update_id}',
    'POST /v1/tenants/{tenant_id}/entity-state-updates/{update_id}/apply',
    'POST /v1/tenants/{tenant_id}/entity-state-updates/{update_id}/withdraw',
    'GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates/{update_id}',
    'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates/{update_id}/apply',
    'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates/{update_id}/withdraw',
    'GET /v1/tenants/{tenant_id}/transfer-offers/{offer_id}',
    'POST /v1/tenants/{tenant_id}/transfer-offers/{offer_id}/cancel',
    'GET /v1/tenants/{tenant_id}/grants/{grant_id}',
    'PATCH /v1/tenants/{tenant_id}/grants/{grant_id}',
    'POST /v1/tenants/{tenant_id}/grants/{grant_id}/revoke',
    'GET /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}',
    'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/fulfill',
    'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/decline',
    'GET /v1/tenants/{tenant_id}/trusted-issuers/{issuer}',
    'DELETE /v1/tenants/{tenant_id}/trusted-issuers/{issuer}',
    'POST /v1/tenants/{tenant_id}/attestations',
    'GET /v1/tenants/{tenant_id}/attestations/{attestation_id}',
    'POST /v1/tenants/{tenant_id}/presentation-requests',
    'GET /v1/tenants/{tenant_id}/presentation-requests/{presentation_request_id}',
    'POST /v1/tenants/{tenant_id}/issuing-keys/{kid}/retire',
    'POST /v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credentials',
    'POST /v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credential-offers',
    'GET /v1/tenants/{tenant_id}/credentials/{credential_id}',
    'POST /v1/tenants/{tenant_id}/credentials/{credential_id}/withdraw',
    'GET /v1/status-lists/{list_id}',
    'GET /.well-known/jwt-vc-issuer/tenants/{tenant_id}',
    'GET /tenants/{tenant_id}',
    'GET /.well-known/openid-credential-issuer/tenants/{tenant_id}',
    'GET /.well-known/oauth-authorization-server/tenants/{tenant_id}',
    'POST /tenants/{tenant_id}/token',
    'GET /v1/webhook-subscriptions/{subscription_id}',
    'PATCH /v1/webhook-subscriptions/{subscription_id}',
    'DELETE /v1/webhook-subscriptions/{subscription_id}',
    'POST /v1/webhook-subscriptions/{subscription_id}/rotate-secret',
    'GET /v1/webhook-subscriptions/{subscription_id}/deliveries',
    'GET /v1/webhook-subscriptions/{subscription_id}/deliveries/{delivery_id}',
    'POST /v1/webhook-subscriptions/{subscription_id}/deliveries/{delivery_id}/redeliver',
    'POST /v1/webhook-subscriptions/{subscription_id}/deliveries/replay',
    'POST /v1/webhook-subscriptions/{subscription_id}/test',
  ]),
  'GET /v1/tenants/{tenant_id}/grants/{grant_id}/log-proof': { world: 'logged' },
  'GET /v1/tenants/{tenant_id}/grants/{grant_id}/state-proof': { world: 'mapped' },
  'GET /v1/tenants/{tenant_id}/owner-history/{log_index}/log-proof': { world: 'logged' },
  'GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasures/{erasure_id}': { world: 'to be erased' },
  'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasures/{erasure_id}/confirm': {
    world: 'to be erased',
    caller: 'carol',
  },
  'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasures/{erasure_id}/cancel': {
    world: 'to be erased',
  },
  'GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasures/{erasure_id}/log-proof': {
    world: 'erased',
  },
  'POST /v1/tenants/{tenant_id}/pending-grants/{grant_id}/confirm': { world: 'to be erased', caller: 'carol' },
  'POST /v1/tenants/{tenant_id}/pending-grants/{grant_id}/cancel': { world: 'to be erased' },
  'POST /v1/tenants/{tenant_id}/transfer-offers/{offer_id}/accept': { world: 'in use', caller: 'carol' },
  'POST /v1/tenants/{tenant_id}/transfer-offers/{offer_id}/decline': { world: 'in use', caller: 'carol' },
  // The last owner cannot leave.
  'POST /v1/tenants/{tenant_id}/membership/leave': { world: 'in use', caller: 'carol' },
  'PUT /v1/tenants/{tenant_id}/membership/block': { world: 'in use', caller: 'carol' },
  'POST /v1/tenants/{tenant_id}/grants/{grant_id}/accept': { world: 'in use', caller: 'bob' },
  // These belong to the grantee.
  'GET /v1/tenants/{tenant_id}/accessible-subjects': { caller: 'bob' },
  'GET /v1/tenants/{tenant_id}/disclosures': { caller: 'bob' },
  'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests': { caller: 'bob' },
  'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/cancel': {
    world: 'in use',
    caller: 'bob',
  },
};

function inUse(operations: readonly string[]): Record<string, Partial<Setting>> {
  return Object.fromEntries(operations.map((operation) => [operation, { world: 'in use' }]));
}

const nameOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;
const settingOf = (operation: Operation): Setting => ({ ...USUAL, ...SETTINGS[nameOf(operation)] });

/** This operation needs a short-lived token and proof. */
const NOT_EXECUTED = 'POST /tenants/{tenant_id}/credential';

/** Sorts the seeded world first, since the others replace it, and then by caller, to save sign-ins. */
function inOrder(operations: readonly Operation[]): Operation[] {
  const rank = (operation: Operation): number => {
    const { world, caller } = settingOf(operation);
    return (world === 'seeded' ? 0 : 10) + ['alice', 'bob', 'carol', null].indexOf(caller);
  };
  return [...operations].sort((a, b) => rank(a) - rank(b));
}

/** Optional parameters that have an alternative. One of the two is required, so these are filled in. */
const ONE_OF_TWO = ['from_version', 'to_version'];

/** Returns the optional parameters without a default that were sent. Swagger UI must not fill them in from an example. */
function unasked(operation: Operation, sent: Request): string[] {
  const query = new URL(sent.url()).searchParams;
  const headers = sent.headers();
  return list(operation.description['parameters'])
    .filter(({ required, schema }) => required !== true && !('default' in Object(schema)))
    .map(({ name }) => String(name))
    .filter((name) => !ONE_OF_TWO.includes(name) && (query.has(name) || name.toLowerCase() in headers));
}

const takesHeaders = ({ description }: Operation): boolean =>
  list(description['parameters']).some((parameter) => parameter['in'] === 'header');

const document: unknown = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
const operations = operationsOf(document);

it('every entry of SETTINGS belongs to an operation', () => {
  const names = operations.map(nameOf);
  expect(Object.keys(SETTINGS).filter((name) => !names.includes(name))).toEqual([]);
});

const executablePath = findBrowser();
if (executablePath === undefined)
  process.stdout.write(`Skipped: no ${BROWSERS.join(', ')} on the PATH to open /docs with.\n`);
const withBrowser = executablePath === undefined ? describe.skip : describe;

withBrowser('Swagger UI at /docs', () => {
  let service: StartedService;
  let browser: Browser;
  let page: Page;
  let examples: ExampleWorld;
  let signedInAs: Caller | null = null;

  beforeAll(async () => {
    // The deliveries of the examples are older than the default retention.
    service = await startService({
      WEBHOOK_RETENTION_DAYS: '36500',
      LOG_VRF_KEY: TEST_VRF_SECRET,
      SECRETS_KEYS: EXAMPLE_KEY_RING,
    });
    examples = await ExampleWorld.open(service.databaseUrl);
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${service.baseUrl}/docs`);
  });
  afterAll(async () => {
    await browser?.close();
    await examples?.close();
    await service?.close();
  });

  /** Opens the dialog behind "Authorize". */
  async function openAuthorize(): Promise<Locator> {
    await page.locator('.scheme-container button.authorize').click();
    return page.locator('.dialog-ux');
  }

  /** Signs out, and signs in as another user, through the page. */
  async function signIn(caller: Caller | null): Promise<void> {
    if (signedInAs === caller) return;
    const dialog = await openAuthorize();
    const flow = dialog.locator('.auth-container', { hasText: 'Flow: authorization_code' });
    if (signedInAs !== null) await flow.getByRole('button', { name: 'Remove authorization' }).click();
    if (caller !== null) {
      const popup = page.waitForEvent('popup');
      await flow.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
      const identityProvider = await popup;
      await identityProvider.fill('#user', caller);
      await Promise.all([
        identityProvider.waitForEvent('close'),
        identityProvider.getByRole('button', { name: 'Sign in' }).click(),
      ]);
      await flow.getByRole('button', { name: 'Remove authorization' }).waitFor();
    }
    signedInAs = caller;
    await dialog.locator('.btn-done').first().click();
  }

  /** Resets the world to this stage. Retries, since an active worker may interfere. */
  async function enter(stage: Stage): Promise<void> {
    await waitFor(async () => examples.reset(stage).then(() => true), { what: `the world ${stage}` });
  }

  it('"Authorize" offers OAuth2 without a client secret, and a bearer token', async () => {
    const dialog = await openAuthorize();
    const offers = await dialog.locator('.auth-container h4').allInnerTexts();
    expect(await dialog.locator('label[for^="client_secret"]').isVisible()).toBe(false);
    await dialog.locator('.btn-done').first().click();
    expect(offers).toEqual([
      'oidc (OAuth2, authorization_code with PKCE)',
      expect.stringMatching(/^bearer\s+\(http, Bearer\)$/),
    ]);
  });

  it('signs in in a window of the issuer and stores no token in the browser', async () => {
    const refused: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) refused.push(message.text());
    });
    await page.reload();
    await signIn('alice');
    expect(await page.evaluate(() => [{ ...localStorage }, { ...sessionStorage }])).toEqual([{}, {}]);
    expect(refused).toEqual([]);
  });

  /** Shows the operations of one tag only, because Swagger UI renders all visible operations again after each click. */
  async function showOnly(tag: string): Promise<void> {
    await page.evaluate((shown) => Reflect.get(globalThis, 'ui').layoutActions.updateFilter(shown), tag);
  }

  /** Excludes the requests of Swagger UI to the identity provider. */
  const isCall = (request: Request): boolean =>
    request.resourceType() === 'fetch' && request.url().startsWith(service.baseUrl);

  interface Execution {
    sent: Request;
    status: number;
    text: string;
  }

  /** Presses "Execute". Throws if Swagger UI refuses a value that it has filled in itself. */
  async function execute(block: Locator): Promise<Execution> {
    const answered = page.waitForResponse((response) => isCall(response.request()));
    answered.catch(() => undefined);
    await block.locator('button.execute').dispatchEvent('click');
    const invalid = block.locator('input.invalid, select.invalid, textarea.invalid');
    const refused = invalid
      .first()
      .waitFor()
      .then(async () => {
        const fields = await invalid.evaluateAll((all) =>
          all.map((field) => field.closest('tr')?.dataset['paramName']),
        );
        throw new Error(`Swagger UI refuses its own ${fields.join(', ')}`);
      });
    refused.catch(() => undefined);
    const response = await Promise.race([answered, refused]);
    return { sent: response.request(), status: response.status(), text: await response.text() };
  }

  const kindsOf = (one: Operation): string[] => [
    `${one.description['tags']}`,
    `${one.method} as ${settingOf(one).caller}`,
  ];
  /**
   * The first operation of each tag, and of each method and caller, because Swagger UI takes seconds for each.
   * examples.e2e-spec.ts sends the examples of all operations.
   */
  const walked = inOrder(operations.filter((operation) => nameOf(operation) !== NOT_EXECUTED)).filter(
    (operation, index, all) =>
      IS_EXHAUSTIVE || kindsOf(operation).some((kind) => all.findIndex((one) => kindsOf(one).includes(kind)) === index),
  );

  describe.each(walked.map((operation) => [nameOf(operation), operation] as const))('%s', (_, operation) => {
    it('succeeds with its own example', async () => {
      const { world, caller } = settingOf(operation);
      await signIn(caller);
      if (world !== 'seeded') await enter(world);
      await showOnly(String(operation.description['tags']));
      const block = page.locator(`.opblock[id$="-${idOf(operation)}"]`);
      const summary = block.locator('.opblock-summary-control');
      await summary.dispatchEvent('click');
      try {
        await block.locator('.try-out__btn').dispatchEvent('click');
        const first = await execute(block);
        expect([first.text, successesOf(operation)]).toEqual([
          first.text,
          expect.arrayContaining([String(first.status)]),
        ]);
        expect(unasked(operation, first.sent)).toEqual([]);
        if (operation.method !== 'get' || !takesHeaders(operation)) return;
        const second = await execute(block);
        expect([second.status, second.text]).toEqual([first.status, second.text]);
      } finally {
        await summary.dispatchEvent('click');
      }
    });
  });
});
