/** @jest-environment ./src/testing/environment.cjs */
import {
  actAs, address, answerItem, api, buttons, copied, downloads, fill, fireEvent, go, open, press, rows, see, shown, unsee, waitFor,
} from '../../testing/page.tsx'; // prettier-ignore
import { canonicalize, discloseView } from '@iss/domain';
import { WorkerRoom } from '../../app/worker.ts';
import { FIRST_HASH, headerOf, snapshotOf } from '../../testing/snapshot.ts';

const TENANT = '/v1/tenants/{tenant_id}';
const OF_SUBJECT = `${TENANT}/subjects/{subject_type}/{subject_id}`;
const VERSION = `GET ${OF_SUBJECT}/snapshots/{snapshot_version}`;
const LATEST = `GET ${OF_SUBJECT}/snapshots/latest`;
const PAGE = '/t/acme/subjects/organization/acme-corp';

const CONTENT = { attributes: { legal: { legal_name: 'Acme 2 AG', seat: 'Zug' }, people: ['Ann'] } };
const SECOND = snapshotOf(2, CONTENT, FIRST_HASH);

/** The subject has two versions. The first one is that of the example. */
function haveTwoVersions(): void {
  api.answer<{ items: object[] }>(`GET ${OF_SUBJECT}/history`, (page) => ({
    ...page,
    items: [headerOf(SECOND), ...page.items],
  }));
  api.answer<object>(VERSION, (first, { path }) => (path.endsWith('/2') ? SECOND : first));
  api.answer(LATEST, () => SECOND);
}

const ERASURE = {
  log_index: 4,
  type: 'subject.erased',
  erased_indexes: [0],
  tenant_id: 'acme',
  subject: { subject_type: 'organization', subject_id: 'acme-corp' },
  subject_type: 'organization',
  subject_id: 'acme-corp',
  erased_at: '2026-02-01T00:00:00.000Z',
};

/** A read of a version answers that it was erased. */
function eraseVersions(): void {
  const erased = {
    erasure_id: 'e-1',
    snapshot_id: SECOND.snapshot_id,
    snapshot_version: 1,
    envelope_hash: FIRST_HASH,
    prev_hash: null,
    erased_at: '2026-02-01T00:00:00.000Z',
  };
  const error = { code: 'erased', message: 'Erased.', request_id: 'r-1', erased };
  for (const route of [VERSION, LATEST]) api.reply(route, () => Response.json({ error }, { status: 410 }));
}

/** The subject belongs to another tenant, which shares it. */
function share(...scopes: readonly string[]): void {
  answerItem(`GET ${OF_SUBJECT}/owners`, { owner_tenant_id: 'beta' });
  const latest = scopes.includes('read_latest') ? {} : { latest_snapshot: undefined };
  answerItem(`GET ${TENANT}/accessible-subjects`, { granted_by_tenant_id: 'beta', scopes, ...latest });
}

/** The latest version as a grant with one path shows it. */
function partOf(path: string, before: ReturnType<typeof snapshotOf> = SECOND) {
  const text = canonicalize(before.envelope);
  const { envelope_hash: envelopeHash, prev_hash: prevHash } = before;
  const view = discloseView({ text, envelopeHash, prevHash, secret: Buffer.alloc(32, 1), visible: [path] });
  return {
    ...{ ...headerOf(before), partial: true, disclosed_paths: [path] },
    envelope: JSON.parse(view.envelope),
    view: { payload: JSON.parse(view.payload), disclosures: [...view.disclosures] },
  };
}

describe('a partial version', () => {
  it('shows a notice with its paths', async () => {
    share('read_latest');
    answerItem(`GET ${TENANT}/accessible-subjects`, { latest_snapshot: headerOf(SECOND) });
    api.answer(LATEST, () => partOf('/attributes/legal/seat'));
    await open(PAGE);
    await see('You see a part of this version: /attributes/legal/seat', 'hidden, not absent', 'Zug', 'Verified here');
    await unsee('Acme 2 AG', 'Ann');
  });

  it('names a visible path that has no value', async () => {
    share('read_latest');
    answerItem(`GET ${TENANT}/accessible-subjects`, { latest_snapshot: headerOf(SECOND) });
    api.answer(LATEST, () => partOf('/attributes/legal/form'));
    await open(PAGE);
    await see('You see a part of this version', 'This version has no value at: /attributes/legal/form');
  });

  it('is not shown if it differs from its view', async () => {
    share('read_latest');
    answerItem(`GET ${TENANT}/accessible-subjects`, { latest_snapshot: headerOf(SECOND) });
    const part = partOf('/attributes/legal/seat');
    api.answer(LATEST, () => ({ ...part, envelope: { ...part.envelope, attributes: { legal: { seat: 'Bern' } } } }));
    await open(PAGE);
    await see('Not verified');
    await unsee('Bern');
  });

  it('is compared without a claim about hidden values', async () => {
    share('read_lineage', 'read_snapshot_by_id');
    const versions = [snapshotOf(1, { attributes: { legal: { legal_name: 'Acme 1 AG', seat: 'Zug' } } }), SECOND];
    api.answer(`GET ${OF_SUBJECT}/history`, (page: object) => ({ ...page, items: versions.map(headerOf).reverse() }));
    api.answer<object>(VERSION, (_, { path }) =>
      partOf('/attributes/legal/seat', path.endsWith('/2') ? SECOND : versions[0]),
    );
    await open(`${PAGE}/compare`);
    await see('You see a part of these versions: /attributes/legal/seat', 'Nothing that you can see differs');
    await unsee('The two versions have the same content.');
  });
});

it.each([
  ['', 'Corrects an error'],
  ['/timeline', 'corrects an error'],
  ['/compare', 'Corrects an error'],
])('a correction is marked in the view "%s"', async (view, words) => {
  haveTwoVersions();
  const second = snapshotOf(2, { ...CONTENT, change_kind: 'correction' }, FIRST_HASH);
  api.answer<{ items: object[] }>(`GET ${OF_SUBJECT}/history`, (page) => ({
    ...page,
    items: [headerOf(second), ...page.items],
  }));
  api.answer<object>(VERSION, (first, { path }) => (path.endsWith('/2') ? second : first));
  await open(PAGE + view);
  await see(words);
});

describe('the attributes', () => {
  it('show each value with its version and its evidence', async () => {
    await open(PAGE);
    await see('✓ Current 1', '– None 1', 'registry_extract');
    expect(rows('Values of the attributes').map((cells) => cells.slice(0, 3))).toEqual([
      ['identifiers / lei', '529900T8BM49AURSDO55', expect.any(String)],
      ['jurisdiction / country', 'CH', expect.any(String)],
      ['legal / legal_form', 'AG', expect.stringContaining('Version 1')],
      ['legal / legal_name', 'Acme Corporation AG', expect.stringContaining('Version 1')],
    ]);
  });

  it.each([
    ['?find=LEI', '1 of 4 values', 'identifiers / lei'],
    ['?find=acme+corp', '1 of 4 values', 'legal / legal_name'],
    ['?status=current', '1 of 4 values', 'legal / legal_name'],
    ['?status=none', '1 of 4 values', 'legal / legal_form'],
  ])('are filtered by the address: %s', async (search, count, name) => {
    await open(PAGE + search);
    await see(count, name);
    expect(rows('Values of the attributes')).toHaveLength(1);
  });

  it('show a notice if no value matches', async () => {
    await open(`${PAGE}?find=nothing+of+that`);
    await see('No value matches');
    await press('Clear');
    await see('4 values');
    expect(address()).toBe(PAGE);
  });

  it('can be opened at any version and time', async () => {
    haveTwoVersions();
    await open(PAGE);
    await see('Version 2, the latest', 'Acme 2 AG');
    await press('‹ Previous');
    await see('not the latest, which is 2', 'Acme Corporation AG');
    expect(address()).toBe(`${PAGE}?version=1`);
    await press('Next ›');
    await see('Version 2, the latest');
    expect(address()).toBe(`${PAGE}?version=2`);
    await fill('By', 'effective');
    await fill('As of', '2026-03-01T12:00:00');
    const moment = new Date('2026-03-01T12:00:00').toISOString();
    fireEvent.submit(document.querySelectorAll('form')[2] ?? document.body);
    await waitFor(() =>
      expect(address()).toBe(`${PAGE}?${new URLSearchParams({ as_of: moment, basis: 'effective' })}`),
    );
    await see('The newest version at');
    expect(api.asked(LATEST).at(-1)).toMatchObject({ as_of: moment, basis: 'effective' });
  });

  it.each([
    ['The content does not match its hash', { envelope_hash: 'a'.repeat(64) }],
    ['not the requested version', { snapshot_version: 3 }],
    ['The response is about another subject.', { subject: { subject_type: 'organization', subject_id: 'other' } }],
  ])('are not shown if the verification fails: %s', async (words, changes) => {
    api.answer<object>(VERSION, (snapshot) => ({ ...snapshot, ...changes }));
    await open(PAGE);
    await see('Not verified.', words);
    expect(document.querySelectorAll('main [role=table], main table')).toHaveLength(0);
  });

  it('show that a version without a hash cannot be verified', async () => {
    api.answer(VERSION, { envelope_hash: null });
    await open(PAGE);
    await see('Nothing to verify', '4 values');
  });

  it('offer the envelope as a download', async () => {
    await open(`${PAGE}?show=envelope`);
    await press('Download');
    const [file] = downloads;
    expect(file?.name).toBe('acme-corp-v1.json');
    expect(JSON.parse((await file?.blob.text()) ?? '')).toMatchObject({ snapshot_version: 1, evidence: [{}] });
  });

  it('are replaced by a notice when the feed reports an erasure', async () => {
    await open(PAGE);
    await see('Verified here');
    eraseVersions();
    api.tell(ERASURE);
    await see(/The content of version \d+ was erased/);
    await unsee('Verified here');
  });

  it('can be copied as a curl command', async () => {
    await open(PAGE);
    await press('Copy as curl');
    await waitFor(() => expect(copied).toHaveLength(1));
    expect(copied[0]).toContain(
      "curl -sS 'https://console.example/v1/tenants/acme/subjects/organization/acme-corp/snapshots/1'",
    );
  });
});

describe('a subject whose versions were erased', () => {
  const OF_VIEWS = ['', '?version=1', '/compare', '/compare?show=sides', '/proof', '/proposals/new'];
  const CONTENT = [VERSION, LATEST, `GET ${OF_SUBJECT}/provenance`, `GET ${OF_SUBJECT}/diff`];

  it.each(OF_VIEWS)('shows its receipt without a request for its content: "%s"', async (view) => {
    const erased = { erasure_id: '18f73959-f051-4ed5-b89f-99e7be90b50a', erased_at: '2026-02-01T00:00:00.000Z' };
    api.answer<{ items: object[] }>(`GET ${OF_SUBJECT}/history`, (page) => ({
      ...page,
      items: [{ ...headerOf(SECOND), erased }, ...page.items.map((header) => ({ ...header, erased }))],
    }));
    await open(PAGE + view);
    await see(/The content of version \d was erased/);
    expect(CONTENT.flatMap((route) => api.asked(route))).toEqual([]);
  });
});

describe('a shared subject', () => {
  it.each([
    ['read_snapshot_by_id', 'compare', [`GET ${OF_SUBJECT}/history`, `GET ${OF_SUBJECT}/diff`]],
    ['read_snapshot_by_id', 'compare?show=sides', [`GET ${OF_SUBJECT}/history`, `GET ${OF_SUBJECT}/provenance`]],
    ['read_snapshot_by_id', 'proof', [`GET ${OF_SUBJECT}/history`]],
    ['read_lineage', 'proof', [`GET ${TENANT}/snapshots/{snapshot_id}/log-proof`]],
  ])('with %s requests nothing that is refused in the view %s', async (scope, view, refused) => {
    share(scope);
    await open(`${PAGE}/${view}`);
    await see(view === 'proof' ? 'The recomputed steps hold' : 'The content is the same');
    expect(refused.flatMap((route) => api.asked(route))).toEqual([]);
  });

  it.each([
    ['read_latest', ['Attributes', 'Timeline', 'Requests'], 'are shown only to tenants that may read all versions'],
    ['read_lineage', ['Attributes', 'Timeline', 'Compare', 'Proof', 'Requests'], '✓ Current 1'],
    ['read_snapshot_by_id', ['Attributes', 'Compare', 'Proof', 'Requests'], 'Which version?'],
    ['read_diff', ['Compare', 'Requests'], 'let you compare versions, but not read them'],
  ])('with %s has the permitted tabs', async (scope, tabs, words) => {
    share(scope);
    await open(PAGE);
    await see('Owned by beta', words);
    const links = [...document.querySelectorAll('nav[aria-label="Views of acme-corp"] a')];
    expect(links.map((link) => link.textContent)).toEqual(tabs);
    expect(shown()).not.toContain('Propose a change');
    // A time may lead to a version that is not the latest one.
    const ofMoments = scope === 'read_lineage' || scope === 'read_snapshot_by_id';
    expect(shown().includes('As of')).toBe(ofMoments);
  });

  it.each([
    [['2999-01-01T00:00:00.000Z', '2998-01-01T00:00:00.000Z'], /until 2999-01-01T00:00:00.000Z/],
    [['2998-01-01T00:00:00.000Z', null], /You can read: the latest version(?! until)/],
  ])('shows the latest end of its grants, which end at %j', async (ends, words) => {
    share('read_latest');
    api.answer<{ items: { granted_by_tenant_id: string }[] }>(`GET ${TENANT}/accessible-subjects`, (page) => ({
      ...page,
      items: ends.map((expires_at) => ({ ...page.items[0], granted_by_tenant_id: 'beta', expires_at })),
    }));
    await open(PAGE);
    await see(words);
  });

  it('names the lost access when a grant ends', async () => {
    share('read_lineage');
    await open(PAGE);
    await see('You can read: all versions', '4 values');
    api.answer(`GET ${TENANT}/accessible-subjects`, { items: [] });
    const subject = { subject_type: 'organization', subject_id: 'acme-corp' };
    api.tell({
      ...{ log_index: 4, type: 'grant.revoked', tenant_id: 'beta', subject, ...subject, grantee_tenant_id: 'acme' },
      ...{ grant_id: '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52', revoked_at: '2026-02-01T00:00:00.000Z' },
    });
    await see('A grant has ended. You can no longer read all versions and where values come from.');
    await unsee('4 values');
  });

  it.each([
    ['tenant_reader', false],
    ['tenant_proposer', true],
  ] as const)('offers a %s of the owner to propose a change: %s', async (role, offered) => {
    actAs(role);
    await open(PAGE);
    await see('Verified here');
    expect(shown().includes('Propose a change')).toBe(offered);
  });
});

describe('the timeline', () => {
  const REQUESTS = 'GET /v1/subjects/{subject_type}/{subject_id}/refresh-requests';
  const ADMIN_ONLY = ['access-history', 'disclosures'].map((list) => `GET ${OF_SUBJECT}/${list}`);

  it('lists items newest first, and opens one', async () => {
    await open(`${PAGE}/timeline`);
    await see('5 visible');
    expect(rows('Visible items').map(([, what, state]) => [what, state])).toEqual([
      ['beta was shown version 1', expect.stringContaining('Disclosure')],
      ['Proposal on version 1', expect.stringContaining('proposed')],
      ['beta asks for a refresh', expect.stringContaining('pending')],
      ['beta may read', expect.stringContaining('revoked')],
      ['Version 1', expect.stringContaining('Version')],
    ]);
    await press('Proposal on version 1');
    await waitFor(() => expect(address()).toBe(`${PAGE}/proposals/0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2`));
  });

  it('shows the start and the end of items', async () => {
    answerItem(`GET ${OF_SUBJECT}/updates`, { status: 'withdrawn', withdrawn_at: '2026-01-17T08:00:00.000Z' });
    answerItem(REQUESTS, { status: 'declined', closed_at: '2026-01-18T08:00:00.000Z' });
    await open(`${PAGE}/timeline?basis=recorded`);
    await see('5 visible');
    expect(rows('Visible items').map(([when]) => when)).toEqual([
      '2026-01-20T08:15:00.000Z',
      '2026-01-16T08:00:00.000Z until 2026-01-17T08:00:00.000Z',
      '2026-01-15T10:00:00.000Z until 2026-01-18T08:00:00.000Z',
      '2026-01-15T10:00:00.000Z until 2026-02-01T00:00:00.000Z',
      '2026-01-15T09:30:00.412Z',
    ]);
    expect(api.asked(REQUESTS)[0]).not.toHaveProperty('requesting_tenant_id');
    await fill('Versions by', 'effective');
    await waitFor(() => expect(rows('Visible items').at(-1)?.[0]).toBe('2026-01-15T09:30:00.000Z'));
  });

  it('reads 1,000 items of a kind, and shows a notice that others are left out', async () => {
    api.answer<{ items: object[] }>(`GET ${OF_SUBJECT}/updates`, (page, { query }) => ({
      ...page,
      items: Array.from({ length: 200 }, (_, index) => {
        const number = Number(query['cursor'] ?? 0) + index;
        return { ...page.items[0], update_id: `0e4d2f4c-6e0b-4c59-9a53-${String(number).padStart(12, '0')}` };
      }),
      next_cursor: String(Number(query['cursor'] ?? 0) + 200),
    }));
    await open(`${PAGE}/timeline`);
    await see('1,004 visible', 'Only the newest 1,000 of each other kind are shown.');
  });

  it('adds a version that is written while the page is open', async () => {
    await open(`${PAGE}/timeline`);
    await see('5 visible');
    haveTwoVersions();
    const written = { ...headerOf(SECOND), subject_type: 'organization', subject_id: 'acme-corp' };
    api.tell({ ...{ log_index: 4, type: 'snapshot.created', tenant_id: 'acme' }, ...written });
    await see('6 visible', 'Version 2');
  });

  it('marks a version that is erased while the page is open', async () => {
    await open(`${PAGE}/timeline`);
    await see('5 visible');
    const erased = { erasure_id: '18f73959-f051-4ed5-b89f-99e7be90b50a', erased_at: '2026-02-01T00:00:00.000Z' };
    answerItem(`GET ${OF_SUBJECT}/history`, { erased });
    api.tell(ERASURE);
    await see('content erased');
  });

  it('retries a failed request', async () => {
    const message = api.refuse(`GET ${OF_SUBJECT}/updates`, 403);
    await open(`${PAGE}/timeline`);
    await see(message);
    api.restore(`GET ${OF_SUBJECT}/updates`);
    await press('Try again');
    await unsee(message);
    await see('Proposal on version 1');
  });

  it('shows the range in the address, and opens a mark of the plot', async () => {
    await open(`${PAGE}/timeline?from=2026-01-15T00:00:00.000Z&to=2026-01-15T09:45:00.000Z`);
    await see('1 visible');
    expect(rows('Visible items')).toHaveLength(1);
    const mark = document.querySelector('[data-kind=version] rect');
    if (mark === null) throw new Error('No mark');
    fireEvent.click(mark);
    await waitFor(() => expect(address()).toBe(`${PAGE}?version=1`));
  });

  it('stores the range in the address after keys, wheel and buttons', async () => {
    await open(`${PAGE}/timeline`);
    await see('5 visible');
    const plot = document.querySelector('[role=group][aria-label^="Timeline"]');
    if (plot === null) throw new Error('No plot');
    fireEvent.keyDown(plot, { key: '+' });
    await waitFor(() => expect(address()).toMatch(/\?from=.*&to=/));
    fireEvent.keyDown(plot, { key: '0' });
    await waitFor(() => expect(address()).toBe(`${PAGE}/timeline`));
    fireEvent.wheel(plot, { deltaY: -2_000, clientX: 0 });
    await waitFor(() => expect(address()).toMatch(/\?from=/));
    await press('Show all');
    await waitFor(() => expect(address()).toBe(`${PAGE}/timeline`));
    expect(buttons()).toEqual(expect.arrayContaining(['Earlier', 'Later']));
  });

  it.each([
    ['a grantee of the latest version', () => share('read_latest'), 'Only the latest version is shared.', 'acme'],
    ['a reader', () => actAs('tenant_reader'), /tenant_admin/, undefined],
  ])('shows %s a notice about hidden items', async (_who, prepare, words, requestsOf) => {
    prepare();
    await open(`${PAGE}/timeline`);
    await see(words);
    expect(ADMIN_ONLY.flatMap((route) => api.asked(route))).toEqual([]);
    expect(api.asked(REQUESTS)[0]?.['requesting_tenant_id']).toBe(requestsOf);
  });
});

describe('the comparison', () => {
  it('shows both versions side by side, with the evidence of changes', async () => {
    haveTwoVersions();
    await open(`${PAGE}/compare?show=sides`);
    await see(
      'Versions 1 and 2',
      '"legal_name": "Acme Corporation AG"',
      '"legal_name": "Acme 2 AG"',
      'ev-1 · registry_extract',
      'added',
      'removed',
    );
    expect(api.asked(`GET ${OF_SUBJECT}/diff`).at(-1)).toMatchObject({ from_version: '1', to_version: '2' });
  });

  it('shows the change of each value with its evidence', async () => {
    haveTwoVersions();
    await open(`${PAGE}/compare`);
    await see('Versions 1 and 2');
    await see('Legal name');
    const values = rows('Values').map((cells) => cells.join(' | '));
    expect(values).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Legal name Legal changed \| Acme Corporation AG \| Acme 2 AG \| no evidence$/),
      ]),
    );
    expect(api.asked(`GET ${OF_SUBJECT}/diff`)).toEqual([]);
  });

  it('shows the operations, and exports them as JSON Patch', async () => {
    haveTwoVersions();
    await open(`${PAGE}/compare?from=1&to=2&show=ops`);
    await see('Copy as JSON Patch', 'replace');
    await press('Copy as JSON Patch');
    await waitFor(() => expect(copied).toHaveLength(1));
    expect(JSON.parse(copied[0] ?? '')).toContainEqual({
      op: 'replace',
      path: '/attributes/legal/legal_name',
      value: 'Acme 2 AG',
    });
    await press('Download');
    expect(downloads[0]?.name).toBe('acme-corp.v1-v2.patch.json');
  });

  it('sorts the operations, and exports them as CSV', async () => {
    haveTwoVersions();
    await open(`${PAGE}/compare?from=1&to=2&show=ops`);
    await see('Copy as JSON Patch', 'replace');
    const paths = (): (string | undefined)[] => rows('Operations that turn').map(([, path]) => path);
    const inOrder = paths();
    await press('Path');
    expect(paths()).toEqual(inOrder.toSorted());
    await press(/^CSV: Operations that turn/);
    await waitFor(() => expect(downloads).toHaveLength(1));
    expect((await downloads[0]?.blob.text())?.split('\r\n')[0]).toBe('Operation,Path,Value');
  });

  it('reports that two versions are equal', async () => {
    haveTwoVersions();
    await open(`${PAGE}/compare?from=2&to=2`);
    await see('The content is the same');
  });

  it('refuses a version that does not match its hash', async () => {
    haveTwoVersions();
    api.answer<object>(VERSION, (first, { path }) =>
      path.endsWith('/2') ? { ...SECOND, envelope_hash: FIRST_HASH } : first,
    );
    await open(`${PAGE}/compare?from=1&to=2`);
    await see('The hash computed here is not the hash that the service states');
  });

  it('shows the values even if the evidence is refused', async () => {
    haveTwoVersions();
    api.refuse(`GET ${OF_SUBJECT}/diff`, 403, 'No read_diff.');
    await open(`${PAGE}/compare?from=1&to=2&show=sides`);
    await see('No read_diff.', '"legal_name": "Acme 2 AG"');
  });

  it('shows a grantee with read_diff the differences and a notice', async () => {
    share('read_diff');
    for (const route of [VERSION, LATEST, `GET ${OF_SUBJECT}/history`]) api.refuse(route, 403);
    await open(`${PAGE}/compare`);
    await see('Versions 1 and 2', 'Your grants let you read differences, but not whole versions.', 'Acme Holding AG');
    expect(document.querySelectorAll('[role=alert]')).toHaveLength(0);
    expect(api.asked(VERSION)).toEqual([]);
  });

  it('starts again in a view that is opened while an earlier one is still busy', async () => {
    share('read_snapshot_by_id');
    const run = jest.spyOn(WorkerRoom.prototype, 'run').mockImplementation(async () => new Promise(() => undefined));
    const end = jest.spyOn(WorkerRoom.prototype, 'end');
    await open(`${PAGE}/compare`);
    await waitFor(() => expect(run).toHaveBeenCalled());
    run.mockRestore();
    await go(PAGE);
    await waitFor(() => expect(end).toHaveBeenCalled());
    await go(`${PAGE}/compare`);
    await see('The content is the same');
  });

  it.each(['compare', 'compare?show=sides'])('reports in an open page that a version was erased: %s', async (view) => {
    share('read_snapshot_by_id');
    await open(`${PAGE}/${view}`);
    await see('The content is the same');
    eraseVersions();
    api.tell(ERASURE);
    await see('The content of version 1 was erased');
    await unsee('The content is the same');
    expect(document.querySelectorAll('[role=alert]')).toHaveLength(0);
  });
});

it('an open form reports that its version was erased', async () => {
  await open(`${PAGE}/proposals/new`);
  await see('Legal name');
  eraseVersions();
  api.tell(ERASURE);
  await see('The content of version 1 was erased');
  expect(document.querySelectorAll('[role=alert]')).toHaveLength(0);
});

it.each([
  ['acme-archive', 'oidc:acme#acme-archive', 'by acme-archive'],
  ['oidc:a#alice', 'oidc:b#alice', 'by oidc:a#alice (written by oidc:b#alice)'],
  ['oidc:a#alice', 'oidc:a#bob', 'by alice (written by bob)'],
])('the author %s with the writer %s is shown as "%s"', async (claimed, writer, words) => {
  const written = snapshotOf(1, { audit: { created_by: claimed, created_at: '2026-01-15T09:30:00Z', source: 'test' } });
  api.answer(VERSION, () => ({ ...written, written_by: writer }));
  await open(PAGE);
  await see(`${words} Offer to a wallet`);
});
