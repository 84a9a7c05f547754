/** @jest-environment ./src/testing/environment.cjs */
import {
  actAs, address, api, buttons, copied, field, fill, fireEvent, go, letUseGrants, open, press, rows, screen, see, sends, session, shown, unsee, waitFor,
} from '../testing/page.tsx'; // prettier-ignore

const PAGE = '/t/acme/subjects';
const SUBJECTS = 'GET /v1/tenants/{tenant_id}/subjects';
const CHANGES = 'GET /v1/tenants/{tenant_id}/changes';
const ACCESSIBLE = 'GET /v1/tenants/{tenant_id}/accessible-subjects';

/** Returns the element with the focus, or the page if none has it. */
const focused = (): Element => document.activeElement ?? document.body;

describe('the frame', () => {
  it('asks to sign in, and keeps the requested address', async () => {
    session.turn('signed_out');
    await open(`${PAGE}?type=organization`);
    await see('Sign in to continue');
    expect(api.calls).toEqual([]);
    await press('Sign in');
    expect(session.asked).toEqual([`/console${PAGE}?type=organization`]);
  });

  it('shows the user, and no data after they signed out', async () => {
    await open(PAGE);
    await see('alice', 'acme-corp');
    await press('Sign out');
    await see('Sign in to continue');
    expect(shown()).not.toContain('acme-corp');
  });

  it('keeps the page if a sign-in expires, and repeats the request after the next one', async () => {
    await open(PAGE);
    await see('acme-corp');
    api.refuse(SUBJECTS, 401);
    await fill('Search', 'what I look for');
    fireEvent.submit(await field('Search'));
    await see('Your sign-in has expired');
    api.restore(SUBJECTS);
    jest.spyOn(session, 'signInAgain').mockRejectedValueOnce(new Error('closed'));
    await press('Sign in again');
    await see('The window was closed, or the browser blocked it.');
    await press('Sign in again');
    await unsee('Your sign-in has expired');
    expect((await field('Search')).value).toBe('what I look for');
    await see('By name', 'acme-corp');
  });

  it('shows a notice while there is no connection', async () => {
    await open(PAGE);
    const isOnline = jest.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    fireEvent(window, new Event('offline'));
    await see('No connection. This page may be out of date.');
    isOnline.mockReturnValue(true);
    fireEvent(window, new Event('online'));
    await unsee('No connection');
  });

  it('opens search and commands by keys', async () => {
    await open(PAGE);
    await see('acme-corp');
    fireEvent.keyDown(document.body, { key: '/' });
    expect(focused().getAttribute('aria-label')).toBe('Search');
    expect(fireEvent.keyDown(focused(), { key: '/' })).toBe(true);
    await fill('Search', ' acme ');
    fireEvent.submit(focused());
    await waitFor(() => expect(address()).toBe(`${PAGE}?find=acme`));
    fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
    const box = await screen.findByPlaceholderText('Open a page or run a command');
    fireEvent.change(box, { target: { value: 'webh' } });
    const option = await waitFor(() => {
      const options = screen.getAllByRole('option');
      expect(options).toHaveLength(1);
      return options[0];
    });
    expect(option?.textContent).toBe('Webhooksacme');
    fireEvent.click(option ?? box);
    await waitFor(() => expect(address()).toBe('/t/acme/webhooks'));
  });

  it('shows that the caller is not a member, and that a page does not exist', async () => {
    await open('/t/other/subjects');
    await see('You are not a member of other', 'Signed in as oidc:dev#alice');
    await press('Copy your principal id');
    await waitFor(() => expect(copied).toEqual(['oidc:dev#alice']));
    await go('/nowhere');
    await see('Page not found');
  });

  const withBeta = (): void =>
    api.answer<{ items: object[] }>('GET /v1/tenants', (page) => ({
      ...page,
      items: [...page.items.map((item) => ({ ...item, tenant_id: 'aaa', name: 'Stranger' })), ...page.items],
    }));

  it('opens the only tenant, or offers to create the first one', async () => {
    await open('/');
    await waitFor(() => expect(address()).toBe(PAGE));
    api.answer('GET /v1/tenants', { items: [] });
    const message = api.refuse('POST /v1/tenants', 409);
    await open('/');
    await see('You belong to no tenant yet');
    await fill('Id of the new tenant', 'acme');
    await fill('Its name', 'Acme');
    await press('Create the tenant');
    await see(message);
    expect((await field('Its name')).value).toBe('Acme');
    api.restore('POST /v1/tenants');
    await press('Create the tenant');
    const body = { tenant_id: 'acme', name: 'Acme' };
    await sends(['POST', '/v1/tenants', body], ['POST', '/v1/tenants', body]);
    await waitFor(() => expect(address()).toBe(PAGE));
  });

  it('opens the last used tenant, and not the first one by name', async () => {
    withBeta();
    await open('/');
    await see('Your tenants', 'Stranger');
    expect(address()).toBe('/');
    await open(PAGE);
    await see('acme-corp');
    await open('/');
    await waitFor(() => expect(address()).toBe(PAGE));
  });

  it('shows invitations, which the caller accepts, declines or blocks', async () => {
    await open(PAGE);
    await press(/1 invitation/);
    await see('Beta Bank', 'bob');
    await press('Accept the invitation of beta');
    await press('Decline the invitation of beta');
    await press('Block beta');
    await see('Block beta?');
    await press('Block');
    await unsee('Block beta?');
    await sends(
      ['POST', '/v1/tenants/beta/membership/accept'],
      ['POST', '/v1/tenants/beta/membership/leave'],
      ['PUT', '/v1/tenants/beta/membership/block'],
    );
    const message = api.refuse('POST /v1/tenants/{tenant_id}/membership/accept', 404);
    await press('Accept the invitation of beta');
    await see(message);
  });

  it('shows the invitation if an invited caller opens the tenant', async () => {
    await open('/t/beta/subjects');
    await see('You are not a member of beta', 'Beta Bank');
  });

  it('lets the caller leave a tenant, and unblock one', async () => {
    await open('/tenants');
    await see('Give your principal id to an administrator who invites you: oidc:dev#alice');
    await press('Leave Acme Corporation');
    await see('Leave Acme Corporation?');
    await press('Leave');
    await unsee('Leave Acme Corporation?');
    await press('Unblock legacy');
    await sends(['POST', '/v1/tenants/acme/membership/leave'], ['DELETE', '/v1/tenants/legacy/membership/block']);
  });

  it('switches to another tenant', async () => {
    api.answer<{ items: object[] }>('GET /v1/tenants', (page) => ({
      ...page,
      items: [...page.items, ...page.items.map((item) => ({ ...item, tenant_id: 'beta', name: 'Beta' }))],
    }));
    await open(PAGE);
    await see('Beta');
    await fill('Tenant', 'beta');
    await waitFor(() => expect(address()).toBe('/t/beta/subjects'));
  });
});

describe('the feed of changes', () => {
  it('is found behind many changes of other tenants', async () => {
    api.reply('GET /log/checkpoint', () => new Response('log.example/iss\n1000000\n'));
    api.answer<object>(CHANGES, (page, { query }) =>
      Number(query['after'] ?? -1) < 500_000 ? page : { ...page, items: [] },
    );
    await open(PAGE);
    await see('Recent changes Live', 'Version 1');
  });

  it('is live only while the service answers, and reloads the data after a reconnection', async () => {
    await open(PAGE);
    await see('Recent changes Live');
    api.hangUp();
    await see('Recent changes Reconnecting', 'The service does not answer. This page may be out of date.');
    const before = api.asked(SUBJECTS).length;
    api.hangUp(false);
    await see('Recent changes Live');
    await unsee('The service does not answer');
    await waitFor(() => expect(api.asked(SUBJECTS).length).toBeGreaterThan(before));
  });

  it('ends if the caller may not follow it', async () => {
    api.refuse(CHANGES, 403);
    await open(PAGE);
    await see('Recent changes Not live');
  });

  it('removes an error once its cause is gone', async () => {
    const repeat = jest.spyOn(globalThis, 'setInterval');
    const message = api.refuse(SUBJECTS, 500);
    await open(PAGE);
    await see(message);
    api.restore(SUBJECTS);
    for (const [again] of repeat.mock.calls) again();
    await unsee(message);
  });
});

describe('new subjects', () => {
  it('are created in a form that opens the subject', async () => {
    api.answer(SUBJECTS, { items: [] });
    await open(PAGE);
    await press('New subject');
    await see('Begin with a namespace');
    await fill('Type', 'individual');
    await fill('Id', 'acme:ann');
    await fill('Legal name, or full name', 'Ann');
    await press('Create');
    await sends([
      'POST',
      '/v1/tenants/acme/entity-states',
      expect.objectContaining({
        subject: { subject_type: 'individual', subject_id: 'acme:ann' },
        attributes: { biographic: { name: { formatted_name: 'Ann' } } },
      }),
    ]);
    await waitFor(() => expect(address()).toBe('/t/acme/subjects/individual/acme%3Aann'));
  });

  it('are imported from a file, with the reason of each refused line', async () => {
    const refused = { line: 1, status: 409, error: { code: 'conflict', message: 'It is there.', request_id: 'r' } };
    api.reply('POST /v1/tenants/{tenant_id}/entity-states/batch', () => {
      return new Response(`${JSON.stringify(refused)}\n`, {
        headers: { 'Content-Type': 'application/x-ndjson' },
      });
    });
    await open(PAGE);
    await press('Import');
    const input = await field('File of versions');
    Object.defineProperty(input, 'files', { value: [new File(['{}\n'], 'a.ndjson')] });
    fireEvent.change(input);
    await see('0 stored, 0 already known, 1 refused.', 'It is there.');
  });

  it('cannot be created by a reader', async () => {
    actAs('tenant_reader');
    await open(PAGE);
    await see('acme-corp');
    expect(shown()).not.toContain('New subject');
  });
});

describe('grants on all subjects', () => {
  const offerAll = (): void =>
    api.answer<{ items: object[] }>('GET /v1/tenants/{tenant_id}/grants', (page, { query }) => ({
      ...page,
      items: page.items.map((item) =>
        query['direction'] === 'offered' ? { ...item, subject_type: '*', subject_id: '*' } : item,
      ),
    }));

  it('are accepted in the list of shared subjects', async () => {
    offerAll();
    await open(`${PAGE}?of=granted`);
    await press('Accept the grant of acme');
    await sends(['POST', expect.stringMatching(/^\/v1\/tenants\/acme\/grants\/[\w-]+\/accept$/)]);
    const message = api.refuse('POST /v1/tenants/{tenant_id}/grants/{grant_id}/accept', 409);
    await press('Accept the grant of acme');
    await see(message);
  });

  it('are accepted only by admins', async () => {
    offerAll();
    actAs('tenant_editor');
    await open(`${PAGE}?of=granted`);
    await see('once you accept');
    expect(buttons()).not.toContain('Accept the grant of acme');
  });
});

describe('the subjects', () => {
  it.each([
    ['?type=individual', SUBJECTS, { subject_type: 'individual', limit: '50' }],
    ['?evidence=missing', SUBJECTS, { evidence: 'missing', limit: '50' }],
    ['?find=acme', SUBJECTS, { q: 'acme', limit: '50' }],
    ['?find=acme', SUBJECTS, { subject_id_prefix: 'acme', limit: '50' }],
    ['?find=lei:5299', SUBJECTS, { identifier: 'lei:5299', limit: '50' }],
    ['?find=lei:5299', ACCESSIBLE, { identifier: 'lei:5299' }],
    ['?find=acme&type=entity', SUBJECTS, { q: 'acme', subject_type: 'entity', limit: '50' }],
    ['?of=granted', ACCESSIBLE, {}],
  ])('are requested by the address: %s (%s with %j)', async (search, route, query) => {
    await open(PAGE + search);
    await see('acme-corp');
    await waitFor(() => expect(api.asked(route)).toContainEqual(query));
  });

  it('are filtered by a form that updates the address', async () => {
    await open(PAGE);
    await fill('Type', 'individual');
    await waitFor(() => expect(address()).toBe(`${PAGE}?type=individual`));
    await fill('Evidence', 'carried');
    await waitFor(() => expect(address()).toBe(`${PAGE}?type=individual&evidence=carried`));
    await press('Clear');
    await waitFor(() => expect(address()).toBe(PAGE));
    // The list is filtered while the user types.
    await fill('Find', 'acme');
    await waitFor(() => expect(address()).toBe(`${PAGE}?find=acme`));
    await see('By name');
  });

  it('that are found twice are shown once', async () => {
    await open(`${PAGE}?find=acme`);
    await see('By name', 'Shared with you');
    expect(shown()).not.toContain('By id');
    expect(rows('Subjects: By name')).toHaveLength(1);
  });

  it('owned by other tenants are not requested if the caller may not use grants', async () => {
    letUseGrants(false);
    await open(`${PAGE}?find=acme`);
    await see('By name', 'acme-corp');
    await go(`${PAGE}?of=granted`);
    await see('You may not read shared subjects');
    await go('/t/acme/sharing?show=held');
    await see('You may not read shared subjects');
    expect(api.asked(ACCESSIBLE)).toEqual([]);
  });

  it('show a hint if none is found, or none exists', async () => {
    api.answer(SUBJECTS, { items: [] });
    api.answer(ACCESSIBLE, { items: [] });
    await open(`${PAGE}?find=nothing+of+that`);
    await see('Nothing found for “nothing of that”');
    await go(PAGE);
    await see('No subject here yet');
    const copies = [...document.querySelectorAll<HTMLElement>('button')].filter(
      (one) => one.textContent === 'Copy as curl',
    );
    copies.at(-1)?.click();
    await waitFor(() => expect(copied[0]).toContain('-X POST'));
  });

  it('that change appear without a reload, once per subject', async () => {
    api.answer(CHANGES, { items: [] });
    await open(PAGE);
    await see('There are no recent changes that this tenant may see.', 'acme-corp');
    const before = api.asked(SUBJECTS).length;
    const change = {
      type: 'snapshot.created',
      tenant_id: 'acme',
      subject: { subject_type: 'organization', subject_id: 'new-corp' },
      subject_type: 'organization',
      subject_id: 'new-corp',
      snapshot_id: '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e',
      envelope_hash: 'a'.repeat(64),
      prev_hash: null,
      created_at: '2026-01-16T09:00:00.000Z',
    };
    api.tell({ ...change, log_index: 4, ...{ snapshot_version: 1 } });
    await see('Version 1');
    api.tell({
      ...change,
      log_index: 5,
      ...{ snapshot_version: 2, prev_hash: 'a'.repeat(64), envelope_hash: 'b'.repeat(64) },
    });
    await see('Version 2');
    expect(shown().match(/new-corp/g)).toHaveLength(1);
    expect(api.asked(SUBJECTS).length).toBeGreaterThan(before);
  });
});
