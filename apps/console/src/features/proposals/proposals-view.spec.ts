/** @jest-environment ./src/testing/environment.cjs */
import {
  actAs, address, answerItem, api, buttons, check, field, fill, go, open, press, rows, see, sends, session, shown, unsee,
} from '../../testing/page.tsx'; // prettier-ignore
import { FIRST_HASH, headerOf, snapshotOf } from '../../testing/snapshot.ts';
import { FakeWorker } from '../../testing/worker.ts';
import { drafts } from './draft/draft.ts';

const OF_SUBJECT = '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}';
const SUBJECT = '/t/acme/subjects/organization/acme-corp';
const LATEST = `GET ${OF_SUBJECT}/snapshots/latest`;
const UPDATES = '/v1/tenants/acme/subjects/organization/acme-corp/updates';
const ID = '0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2';
const NEW = `${SUBJECT}/proposals/new`;
const PROPOSAL = `${SUBJECT}/proposals/${ID}`;
const NAME = '/attributes/legal/legal_name';

afterEach(() => {
  for (const { subject } of drafts.list()) drafts.drop(subject);
});

const body = (...operations: object[]): object => ({
  subject_id: 'acme-corp',
  base_snapshot_version: 1,
  patch_ops: operations,
  request_id: expect.any(String),
});
const rename = { op: 'replace', path: NAME, value: 'New AG' };

describe('a new proposal', () => {
  it('is sent as a correction if that was ticked before the content changed', async () => {
    await open(`${SUBJECT}/proposals/new`);
    await check(/^This corrects an error/);
    await fill('legal_name', 'New AG');
    await press('Propose');
    await sends(['POST', UPDATES, { ...body(rename), change_kind: 'correction' }]);
  });

  it.each([
    ['another value', async () => fill('legal_name', 'New AG'), [rename]],
    [
      'another type of a value',
      async () => fill('Type of legal_form', 'null'),
      [{ op: 'replace', path: '/attributes/legal/legal_form', value: null }],
    ],
    [
      'a removed member',
      async () => press('Remove legal_form'),
      [{ op: 'remove', path: '/attributes/legal/legal_form' }],
    ],
    [
      'a removed object',
      async () => press('Remove jurisdiction'),
      [{ op: 'remove', path: '/attributes/jurisdiction' }],
    ],
    [
      'an added member',
      async () => {
        await press('Add a member: legal');
        await press('Add');
        await see('Enter a name.');
        await fill('Name', 'legal_form');
        await press('Add');
        await see('This name is already in use.');
        await fill('Name', 'a/b');
        await press('Add');
        await fill('a/b', 'x');
      },
      [{ op: 'add', path: '/attributes/legal/a~1b', value: 'x' }],
    ],
  ] as const)('sends %s as a patch', async (_what, change, operations) => {
    await open(NEW);
    await press('Propose');
    await see('Change something first.');
    await change();
    await press('Propose');
    await sends(['POST', UPDATES, body(...operations)]);
    await see('Proposal on acme-corp');
    expect(address()).toBe(PROPOSAL);
  });

  it('is not sent while a number is invalid', async () => {
    await open(NEW);
    await fill('Type of legal_form', 'number');
    await see('This is not a number', 'Correct the marked fields before you send the proposal.');
    await press('Propose');
    expect(api.sent()).toEqual([]);
    await fill('legal_form', '-3e2');
    await unsee('This is not a number');
    await press('Propose');
    await sends(['POST', UPDATES, body({ op: 'replace', path: '/attributes/legal/legal_form', value: -300 })]);
  });

  it('restores a changed or removed value', async () => {
    await open(NEW);
    await fill('legal_name', 'New AG');
    await press('Remove legal_form');
    await see('2 operations (RFC 6902) on version 1.');
    await press('Put back: legal_name');
    await press('Put back: legal_form');
    await see('Nothing is changed yet.');
  });

  it('requires complete evidence for the value in the address', async () => {
    await open(`${NEW}?path=${encodeURIComponent(NAME)}`);
    await fill('legal_name', 'New AG');
    // The message is beside the value, and nowhere else.
    expect((await field('Kind of evidence')).closest('[data-path]')?.getAttribute('data-path')).toBe(NAME);
    expect(shown().match(/Kind of evidence/g)).toHaveLength(1);
    await fill('Kind of evidence', 'registry_extract');
    await press('Propose');
    await see('This field is required.');
    expect(api.sent()).toEqual([]);
    await fill('Source', 'register');
    await press('Propose');
    await see('Proposal on acme-corp');
    const [[, , sent] = []] = api.sent();
    const item: unknown = expect.objectContaining({ evidence_type: 'registry_extract', source: 'register' });
    expect(sent).toMatchObject({
      patch_ops: expect.arrayContaining([rename, { op: 'add', path: '/evidence/1', value: item }]),
    });
  });

  it('adds evidence with a role to all values that have the same outdated item', async () => {
    const paths = [NAME, '/attributes/legal/legal_form', '/attributes/identifiers/lei'];
    api.answer<{ items: { evidence: object[] }[] }>(`GET ${OF_SUBJECT}/provenance`, (page) => ({
      ...page,
      items: paths.map((path, index) => {
        const evidence_status = index < 2 ? 'carried' : 'current';
        return { ...page.items[0], path, evidence: page.items[1]?.evidence ?? [], evidence_status };
      }),
    }));
    await open(`${NEW}?path=${encodeURIComponent(NAME)}`);
    await fill('Kind of evidence', 'registry_extract');
    await fill('Source', 'register');
    await fill('Role', 'corroborating');
    await press('Propose');
    await see('Proposal on acme-corp');
    const sent = JSON.stringify(api.sent());
    expect(sent.match(/"corroborating"/g)).toHaveLength(2);
    expect(sent).toContain('~1attributes~1legal~1legal_form');
  });

  it('is applied immediately on request', async () => {
    await open(NEW);
    await fill('legal_name', 'New AG');
    await press('Propose and apply');
    await sends(['POST', UPDATES, body(rename)], ['POST', `${UPDATES}/${ID}/apply`]);
  });

  it('reports that it was sent even if it could not be applied', async () => {
    const message = api.refuse(`POST ${OF_SUBJECT}/updates/{update_id}/apply`, 409);
    await open(NEW);
    await fill('legal_name', 'New AG');
    await press('Propose and apply');
    await see('The proposal was sent, but the next step failed:', message);
    expect(drafts.list()).toEqual([]);
  });

  it.each([
    ['withdraws', [['POST', `${UPDATES}/${ID}/withdraw`]]],
    ['keeps', []],
  ] as const)('%s the proposal that it replaces, as the user chooses', async (what, calls) => {
    await open(NEW);
    await fill('legal_name', 'New AG');
    const [draft] = drafts.list();
    if (draft !== undefined) drafts.keep({ ...draft, replaces: ID });
    await see('Withdraw the proposal that this one replaces');
    if (what === 'keeps') await check('Withdraw the proposal that this one replaces');
    await press('Propose');
    await see('Proposal on acme-corp');
    expect(api.sent().slice(1)).toEqual(calls);
  });

  it('keeps the typed text if the service fails, and is sent again unchanged', async () => {
    const message = api.refuse(`POST ${OF_SUBJECT}/updates`, 500);
    await open(NEW);
    await fill('legal_name', 'New AG');
    await press('Propose');
    await see(message);
    api.restore(`POST ${OF_SUBJECT}/updates`);
    await press('Propose');
    await see('Proposal on acme-corp');
    const [first, second] = api.sent();
    expect(first).toEqual(second);
  });

  it('shows a refusal at its value', async () => {
    api.reply(`POST ${OF_SUBJECT}/updates`, () => {
      const details = [
        { path: '/patch_ops/0/value', code: 'invalid_value', message: `in the result, ${NAME} is empty` },
      ];
      return Response.json(
        { error: { code: 'validation_error', message: 'Wrong.', request_id: 'r', details } },
        { status: 400 },
      );
    });
    await open(NEW);
    await fill('legal_name', '');
    await press('Propose');
    await see('is empty');
    expect((await field('legal_name')).getAttribute('aria-invalid')).toBe('true');
  });

  it('shows bidirectional control characters as escapes, and does not change them', async () => {
    const legal = { legal_name: 'Acme \u202eGA', legal_form: 'GmbH' };
    api.answer(LATEST, () => snapshotOf(1, { attributes: { legal } }));
    await open(`${NEW}?as=json`);
    const { value } = await field('Content of the version');
    expect(value).toContain('"Acme \\u202eGA"');
    await fill('Content of the version', value.replace('GmbH', 'AG'));
    await see('1 operation (RFC 6902) on version 1.');
    await press('Propose');
    await sends(['POST', UPDATES, body({ op: 'replace', path: '/attributes/legal/legal_form', value: 'AG' })]);
  });

  it('edits a large version in parts, and reads it in a worker', async () => {
    const people = Array.from({ length: 3_000 }, (_, index) => ({ name: `Officer ${index}`, role: 'director' }));
    const large = snapshotOf(1, { attributes: { people } });
    api.answer(LATEST, () => large);
    const asked = jest.spyOn(FakeWorker.prototype, 'postMessage');
    await open(`${NEW}?as=json`);
    expect((await field('Content of the version')).value.split('\n').length).toBeLessThan(1_000);
    await fill('Find in the whole text', 'Officer 2999"');
    await press('Find next');
    const json = await field('Content of the version');
    const text = json.value;
    expect(text.slice(json.selectionStart ?? 0, json.selectionEnd ?? 0)).toBe('Officer 2999"');
    await fill('Content of the version', text.replace('Officer 2999"', 'Officer 2999",,'));
    await see('Correct the marked fields before you send the proposal.');
    await fill('Content of the version', text.replace('Officer 2999"', 'Ann"'));
    await see('1 operation (RFC 6902) on version 1.');
    await press('Propose');
    const operation = { op: 'replace', path: '/attributes/people/2999/name', value: 'Ann' };
    await sends(['POST', UPDATES, body(operation)]);
    const typed = asked.mock.calls.filter(([{ request }]) => JSON.stringify(request).includes('"typed":'));
    expect(typed).toHaveLength(2);
  });

  it('is kept across tabs and ways to edit, and asks before another view opens', async () => {
    await open(NEW);
    await fill('legal_name', 'New AG');
    await go(`${SUBJECT}/proposals`);
    await see('This page has unsent changes to acme-corp.');
    await press('Continue with them');
    expect((await field('legal_name')).value).toBe('New AG');
    await press('JSON');
    const json = await field('Content of the version');
    expect(json.value).toContain('"legal_name": "New AG"');
    const broken = json.value.replace('"New AG"', '"New AG",,');
    await fill('Content of the version', broken);
    await press('Form');
    await see('The form cannot show the JSON');
    await press('Correct it as JSON');
    expect((await field('Content of the version')).value).toBe(broken);
    await fill('Content of the version', broken.replace('New AG",,', 'Newest AG"'));
    await press('Form');
    expect((await field('legal_name')).value).toBe('Newest AG');
    await press('Webhooks');
    await see('Leave with unsent changes?');
    await press('Stay');
    expect((await field('legal_name')).value).toBe('Newest AG');
    await press('Webhooks');
    await press('Leave, and discard them');
    await see('The addresses that receive signed events');
    expect(drafts.list()).toEqual([]);
  });

  it('is kept while an expired sign-in is renewed', async () => {
    api.refuse(`POST ${OF_SUBJECT}/updates`, 401);
    await open(NEW);
    await fill('legal_name', 'New AG');
    await press('Propose');
    await press('Sign in again');
    await unsee('Your sign-in has expired');
    expect(session.asked).toEqual(['again']);
    expect((await field('legal_name')).value).toBe('New AG');
  });

  it.each([
    ['tenant_reader', ['Your role does not let you propose changes'], []],
    ['tenant_proposer', [], ['Propose']],
    ['tenant_editor', [], ['Propose', 'Propose and apply']],
  ] as const)('is offered to a %s according to its role', async (role, words, offered) => {
    actAs(role);
    await open(NEW);
    await see('legal_form', ...words);
    expect(buttons().filter((name) => name.startsWith('Propose'))).toEqual(offered);
  });

  it('is possible only for the owner', async () => {
    answerItem(`GET ${OF_SUBJECT}/owners`, { owner_tenant_id: 'beta' });
    await open(NEW);
    await see('Only its owner can change it');
  });
});

describe('a proposal', () => {
  it('is shown as values with their evidence', async () => {
    const reference = { evidence_id: 'ev-2', evidence_type: 'registry_extract', role: 'primary' };
    const item = { evidence_id: 'ev-2', evidence_type: 'registry_extract', source: 'register', locator: 'folio 7' };
    api.answer(`GET ${OF_SUBJECT}/updates/{update_id}`, {
      patch_ops: [
        { op: 'replace', path: NAME, value: 'Acme Holding AG' },
        { op: 'add', path: '/evidence/-', value: { ...item, captured_at: '2026-01-16T00:00:00Z' } },
        { op: 'replace', path: '/attribute_paths/~1attributes~1legal~1legal_name', value: [reference] },
        { op: 'add', path: '/attribute_paths/~1attributes~1identifiers', value: [reference] },
      ],
    });
    await open(PROPOSAL);
    await see('Show the operations as they were sent');
    const changes = rows('Changes').map((cells) => cells.join(' | '));
    expect(changes).toEqual([
      expect.stringMatching(
        /^Legal name Legal changed \| Acme Corporation AG \| Acme Holding AG \| new evidence ev-2 .* folio 7 \(primary\)$/,
      ),
      expect.stringMatching(
        /^Evidence 2 added \| nothing \| ev-2 · registry_extract ?from register, folio 7, captured/,
      ),
      expect.stringMatching(/^Evidence for Identifiers added \|  ?\| ev-2 · registry_extract from register, folio 7/),
    ]);
    expect(shown()).not.toContain('/attribute_paths');
  });

  it.each([
    ['Apply', 'It becomes version 2.', `${UPDATES}/${ID}/apply`],
    ['Withdraw', 'It can no longer be applied.', `${UPDATES}/${ID}/withdraw`],
  ])('asks for confirmation of: %s', async (button, words, path) => {
    await open(PROPOSAL);
    await press(button);
    await see(words);
    await press('Cancel');
    expect(api.sent()).toEqual([]);
    await press(button);
    await press(button);
    await sends(['POST', path]);
  });

  it.each([
    ['tenant_reader', 'oidc:dev#alice', []],
    ['tenant_proposer', 'oidc:dev#alice', ['Withdraw']],
    ['tenant_proposer', 'oidc:dev#bob', []],
    ['tenant_editor', 'oidc:dev#bob', ['Apply', 'Withdraw']],
  ] as const)('offers a %s the permitted actions if %s proposed it', async (role, by, offered) => {
    actAs(role);
    api.answer(`GET ${OF_SUBJECT}/updates/{update_id}`, { proposed_by: by });
    await open(PROPOSAL);
    await see('Acme Holding AG');
    expect(buttons().filter((name) => /^(Apply|Withdraw)$/.test(name))).toEqual(offered);
  });

  it.each([
    [{ status: 'withdrawn', withdrawn_at: '2026-01-17T00:00:00.000Z' }, 'It was withdrawn and changed nothing.'],
    [{ patch_ops: null, status: 'applied', applied_at: '2026-01-17T00:00:00.000Z' }, 'Erased with its base version'],
  ])('shows its outcome: %j', async (changes, words) => {
    api.answer(`GET ${OF_SUBJECT}/updates/{update_id}`, changes);
    await open(PROPOSAL);
    await see(words);
    expect(buttons()).not.toContain('Apply');
  });

  it('on an older version shows later changes, and can be rebased onto the latest', async () => {
    const head = snapshotOf(2, { attributes: { legal: { legal_name: 'Other AG', legal_form: 'AG' } } }, FIRST_HASH);
    api.answer(`GET ${OF_SUBJECT}/snapshots/latest`, () => head);
    api.answer<{ items: object[] }>(`GET ${OF_SUBJECT}/history`, (page) => ({ ...page, items: [headerOf(head)] }));
    await open(PROPOSAL);
    await see('The subject has a newer version', 'Changes from version 1 to 2', 'the proposal changes this too');
    expect(buttons()).not.toContain('Apply');
    await press('Rebase onto version 2');
    await see('Changed in both', 'Based on version 2');
    expect((await field('legal_name')).value).toBe('Acme Holding AG');
    await press('Propose');
    const operation = { op: 'replace', path: NAME, value: 'Acme Holding AG' };
    await sends(
      ['POST', UPDATES, { ...body(operation), base_snapshot_version: 2 }],
      ['POST', `${UPDATES}/${ID}/withdraw`],
    );
  });
});

it.each([
  ['/t/acme/proposals', 'GET /v1/tenants/{tenant_id}/entity-state-updates'],
  [`${SUBJECT}/proposals`, `GET ${OF_SUBJECT}/updates`],
])('proposals are filtered by the status in the address: %s', async (view, route) => {
  await open(view);
  await fill('Status', 'applied');
  await see('Proposed');
  expect(address()).toBe(`${view}?status=applied`);
  expect(api.asked(route).at(-1)).toEqual({ status: 'applied' });
  expect(shown()).toContain('Legal / Legal name');
});
