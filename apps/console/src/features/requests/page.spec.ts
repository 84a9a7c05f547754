/** @jest-environment ./src/testing/environment.cjs */
import {
  address,
  answerItem,
  api,
  buttons,
  check,
  field,
  fill,
  go,
  goBack,
  letUseGrants,
  open,
  press,
  see,
  sends,
  shown,
  unsee,
  waitFor,
} from '../../testing/page.tsx';
import { headerOf, snapshotOf } from '../../testing/snapshot.ts';

const TENANT = '/v1/tenants/{tenant_id}';
const OF_SUBJECT = '/v1/subjects/{subject_type}/{subject_id}/refresh-requests';
const LATEST = `GET ${TENANT}/subjects/{subject_type}/{subject_id}/snapshots/latest`;
const LIST = `GET ${TENANT}/refresh-requests`;
const PAGE = '/t/acme/requests';
const SUBJECT_PAGE = '/t/acme/subjects/organization/acme-corp/requests';
const REQUESTS = '/v1/subjects/organization/acme-corp/refresh-requests';
const REQUEST = `${REQUESTS}/9a4e1f0c-2b7d-4c3e-8f51-6d0a7b9c2e14`;
const SNAPSHOT = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';

it('a request is fulfilled with the latest version', async () => {
  await open(PAGE);
  await press('Fulfil');
  await see('Version 1, the latest: confirm it');
  await press('Fulfil');
  await sends(['POST', `${REQUEST}/fulfill`, { resolved_snapshot_id: SNAPSHOT }]);
});

it('a request is fulfilled with the suggested version', async () => {
  const suggested = { snapshot_id: '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e', snapshot_version: 2 };
  answerItem(LIST, { suggested_fulfilment: suggested });
  await open(PAGE);
  await press('Fulfil');
  await see('Version 2 contains the requested values, with new evidence.', 'Version 1');
  await press('Fulfil');
  await sends(['POST', `${REQUEST}/fulfill`, { resolved_snapshot_id: suggested.snapshot_id }]);
});

it('a decline keeps its reason if the service fails', async () => {
  const message = api.refuse(`POST ${OF_SUBJECT}/{refresh_request_id}/decline`, 500);
  await open(PAGE);
  await press('Decline');
  await fill('Reason', 'It is right.');
  await press('Decline');
  await see(message);
  expect((await field('Reason')).value).toBe('It is right.');
  await sends(['POST', `${REQUEST}/decline`, { reason: 'It is right.' }]);
});

it('an outgoing request can be cancelled, but not fulfilled or declined', async () => {
  answerItem(LIST, { requesting_tenant_id: 'acme' });
  await open(`${PAGE}?direction=outgoing`);
  await see('acme-corp');
  expect(buttons().filter((name) => /^(Fulfil|Decline)$/.test(name))).toEqual([]);
  await press('Cancel it');
  await press('Cancel it');
  await sends(['POST', `${REQUEST}/cancel`]);
});

it('a recurring request can be stopped between two repetitions', async () => {
  answerItem(LIST, {
    requesting_tenant_id: 'acme',
    status: 'fulfilled',
    every: 'P1Y',
    next_at: '2999-01-15T10:00:00.000Z',
  });
  await open(`${PAGE}?direction=outgoing&status=`);
  await see('repeats every year', 'next');
  await press('Stop repeating');
  await see('It will not repeat.');
  await press('Stop repeating');
  await sends(['POST', `${REQUEST}/cancel`]);
});

it.each([
  ['', { status: 'pending' }],
  ['?direction=outgoing', { status: 'pending', direction: 'outgoing' }],
  ['?status=fulfilled', { status: 'fulfilled' }],
  ['?status=expired', { status: 'expired' }],
  ['?type=individual', { status: 'pending', subject_type: 'individual' }],
])('requests are filtered by the address: "%s"', async (search, query) => {
  await open(PAGE + search);
  await see('stale_data');
  expect(api.asked(LIST).at(-1)).toMatchObject(query);
});

it.each([
  [{ status: 'fulfilled', resolved_snapshot_version: 1, fulfilled_at: '2026-01-16T10:00:00.000Z' }, 'with version 1'],
  [{ status: 'declined', decline_reason: 'It is right.' }, 'reason: It is right.'],
  [{ status: 'cancelled' }, 'Cancelled'],
  [{ status: 'expired', closed_at: '2026-01-16T10:00:00.000Z' }, 'Expired'],
  [{ due_at: '2026-01-16T10:00:00.000Z', overdue_at: '2026-01-16T10:00:00.000Z' }, 'overdue'],
  [{ expires_at: '2026-01-16T10:00:00.000Z' }, 'Expires'],
  [{ every: 'P1Y' }, 'repeats every year'],
  [{ every: 'P10D' }, 'repeats every P10D'],
  [{ status: 'expired', every: 'P1Y', series_end_reason: 'access_lost' }, 'no longer repeats: access lost'],
])('a request shows its state: %j', async (changes, words) => {
  answerItem(LIST, changes);
  await open(`${PAGE}?status=`);
  await see(words);
  expect(buttons().includes('Fulfil')).toBe(!('status' in changes));
});

it('a new request contains the chosen values, and a refusal is shown at its field', async () => {
  api.answer<{ items: object[] }>(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/owners`, (page) => ({
    ...page,
    items: page.items.map((item) => ({ ...item, owner_tenant_id: 'beta' })),
  }));
  answerItem(`GET ${TENANT}/accessible-subjects`, { scopes: ['read_latest', 'read_lineage'] });
  api.reply(`POST ${OF_SUBJECT}`, () =>
    Response.json(
      {
        error: {
          code: 'validation_error',
          message: 'Wrong.',
          request_id: 'r-1',
          details: [{ path: '/expires_at', code: 'invalid_value', message: 'It has passed.' }],
        },
      },
      { status: 400 },
    ),
  );
  await open(`${SUBJECT_PAGE}?ask=yes`);
  await fill('Reason', 'annual_review');
  await fill('Message to the owner', 'Please.');
  await check('Legal name Legal');
  await see('1 value chosen.');
  await fill('Expires', '2020-01-01T00:00');
  await press('Ask');
  await see('It has passed.');
  expect((await field('Expires')).getAttribute('aria-invalid')).toBe('true');
  api.restore(`POST ${OF_SUBJECT}`);
  await fill('Expires', '');
  await fill('Due', '2999-01-01T00:00');
  await fill('Repeat', 'P1Y');
  await press('Ask');
  const body = {
    requesting_tenant_id: 'acme',
    reason_code: 'annual_review',
    message: 'Please.',
    requested_paths: ['/attributes/legal/legal_name'],
    due_at: null,
    expires_at: new Date('2020-01-01T00:00').toISOString(),
    every: null,
  };
  await sends(
    ['POST', REQUESTS, body],
    ['POST', REQUESTS, { ...body, due_at: new Date('2999-01-01T00:00').toISOString(), expires_at: null, every: 'P1Y' }],
  );
});

/** Another tenant shares the subject with these scopes. */
function share(scopes: readonly string[], latest: object = {}): void {
  answerItem(`GET ${TENANT}/subjects/{subject_type}/{subject_id}/owners`, { owner_tenant_id: 'beta' });
  answerItem(`GET ${TENANT}/accessible-subjects`, { scopes, ...latest });
}

const ASKED = {
  requesting_tenant_id: 'acme',
  reason_code: null,
  message: null,
  due_at: null,
  expires_at: null,
  every: null,
};

it('a value in the address is requested even if the latest version lacks it', async () => {
  share(['read_latest']);
  await open(`${SUBJECT_PAGE}?ask=yes&path=/attributes/legal/gone`);
  expect((await field('Gone Legal')).checked).toBe(true);
  await check('Legal name Legal');
  await see('2 values chosen.');
  await check('Legal name Legal');
  await see('1 value chosen.');
  await press('Ask');
  await sends(['POST', REQUESTS, { ...ASKED, requested_paths: ['/attributes/legal/gone'] }]);
});

it('the search among many values ignores case', async () => {
  const attributes = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`Name${index}`, index]));
  const version = snapshotOf(1, { attributes });
  share(['read_latest'], { latest_snapshot: headerOf(version) });
  api.answer(LATEST, () => version);
  await open(`${SUBJECT_PAGE}?ask=yes`);
  const choices = () => document.querySelectorAll('fieldset input[type=checkbox]').length;
  await see('10 more');
  expect(choices()).toBe(60);
  await fill('Find a value', ' NAME69 ');
  await waitFor(() => expect(choices()).toBe(1));
});

it.each<[string, { scopes: string[]; erased?: object }]>([
  ['is not shared', { scopes: ['read_lineage'] }],
  ['was erased', { scopes: ['read_latest'], erased: { erasure_id: SNAPSHOT, erased_at: '2026-02-01T00:00:00.000Z' } }],
])('values are entered as pointers if the latest version %s', async (_what, { scopes, erased }) => {
  share(scopes, erased === undefined ? {} : { latest_snapshot: { ...headerOf(snapshotOf(1, {})), erased } });
  await open(`${SUBJECT_PAGE}?ask=yes`);
  await fill(/^Values/, '/attributes/a\n/attributes/b');
  await press('Ask');
  await press('Ask for a refresh');
  for (const text of ['/', '']) await fill(/^Values/, text);
  await press('Ask');
  await sends(
    ['POST', REQUESTS, { ...ASKED, requested_paths: ['/attributes/a', '/attributes/b'] }],
    ['POST', REQUESTS, { ...ASKED, requested_paths: [] }],
  );
  expect(api.asked(LATEST)).toEqual([]);
});

it('a new request starts with a choice of the shared subjects', async () => {
  await open(PAGE);
  await press('Ask for a refresh');
  await press('acme-corp');
  await see('Ask for a newer version of acme-corp');
  expect(address()).toContain('/t/acme/subjects/organization/acme-corp/requests?ask=');
});

it('a request without paths is shown as one for the whole subject', async () => {
  answerItem(LIST, { requested_paths: [], message: null, reason_code: null });
  await open(PAGE);
  await see('the whole subject');
  expect(shown()).not.toContain('null');
});

it('the list is refreshed repeatedly', async () => {
  const repeat = jest.spyOn(globalThis, 'setInterval');
  await open(PAGE);
  await see('stale_data');
  api.answer(LIST, { items: [] });
  for (const [again] of repeat.mock.calls) again();
  await unsee('stale_data');
});

it('a caller that may not use grants cannot request a refresh', async () => {
  letUseGrants(false);
  await open(PAGE);
  await see('stale_data');
  expect(buttons()).not.toContain('Ask for a refresh');
});

it('an unknown filter in the address is ignored with a notice', async () => {
  await open(`${PAGE}?status=bogus`);
  await see('The address has an unknown value, “bogus”. The list ignores it.');
  expect((await field('Status')).value).toBe('bogus');
  await fill('Status', 'expired');
  await unsee('The list ignores it.');
  expect(api.asked(LIST).at(-1)).toMatchObject({ status: 'expired' });
});

it('a filter follows the address, which does not contain default values', async () => {
  await open(`${PAGE}?status=expired&direction=outgoing`);
  await fill('Status', 'pending');
  await waitFor(() => expect(address()).toBe(`${PAGE}?direction=outgoing`));
  await open('/t/acme/sharing?find=one');
  expect((await field('Subject')).value).toBe('one');
  await go('/t/acme/sharing?find=other');
  await waitFor(async () => expect((await field('Subject')).value).toBe('other'));
  await fill('Subject', 'third');
  await waitFor(() => expect(address()).toBe('/t/acme/sharing?find=third'));
  await goBack();
  await waitFor(() => expect(address()).toBe('/t/acme/sharing?find=one'));
});
