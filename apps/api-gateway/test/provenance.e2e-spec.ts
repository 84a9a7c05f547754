import { fillProvenance } from '@iss/persistence';
import { itInDatabase } from './gateway';
import { FORMS, newSubject, pathOf, ReadWorld, type Subject } from './read-world';

let world: ReadWorld;

beforeAll(async () => {
  world = await ReadWorld.open();
});
afterAll(() => world?.close());

const REF = { evidence_id: 'ev-1', evidence_type: 'extract' };
const ITEM = { ...REF, source: 'register', captured_at: '2026-01-15T09:00:00Z' };
const NAME = '/attributes/legal/legal_name';
const FIRST = {
  attributes: { legal: { legal_name: 'Acme AG', legal_form: 'AG' }, tags: ['x', 'y'] },
  evidence: [ITEM],
  attribute_paths: { [NAME]: [{ ...REF, role: 'primary' }] },
};
const NAMED = {
  evidence: [{ ...ITEM, role: 'primary' }],
  unresolved: [],
};

/** Proposes a patch on the latest version, and applies it. */
async function update(subject: Subject, base: number, ops: object[]): Promise<void> {
  const { body: head } = await world.read(`${pathOf('/v1/tenants/acme', subject)}/snapshots/${base}?view=header`);
  const proposal = { ...subject, base_snapshot_id: head.snapshot_id, base_snapshot_version: base, patch_ops: ops };
  const updates = '/v1/tenants/acme/entity-state-updates';
  const { body } = await world.gateway.as('alice', 'post', updates).send(proposal).expect(201);
  await world.gateway.as('alice', 'post', `${updates}/${body.update_id}/apply`).expect(201);
}

interface Leaf {
  path: string;
  since_version: number;
  evidence_status: string;
}

const leaves = async (subject: Subject, query = '', form = '/v1/tenants/acme') =>
  (await world.read(`${pathOf(form, subject)}/provenance${query}`)).body;

/** Returns `path since status` for each leaf. */
const lines = async (subject: Subject, query = ''): Promise<string[]> =>
  (await leaves(subject, query)).items.map(
    ({ path, since_version, evidence_status }: Leaf) =>
      `${path.slice('/attributes'.length)} ${since_version} ${evidence_status}`,
  );

describe.each(FORMS)('the provenance at %s', (form) => {
  test('returns the first version, the author and the evidence of each value', async () => {
    const subject = newSubject();
    const sent = await world.write(subject, 1, FIRST);
    await update(subject, 1, [{ op: 'replace', path: NAME, value: 'Acme Holding AG' }]);
    const [first, second] = await Promise.all(
      [1, 2].map(async (version) => (await world.read(`${pathOf(form, subject)}/snapshots/${version}?view=header`)).body),
    );
    const { items, ...rest } = await leaves(subject, '', form);
    expect(rest).toEqual({ ...second, next_cursor: null, has_more: false, page: { limit: 50, next_cursor: null } });
    const since = { recorded_at: first.created_at, effective_at: sent['generated_at'] };
    const by = ({ written_by, write_request_id }: Record<string, unknown>) => ({ written_by, write_request_id });
    expect(by(first)).toEqual({ written_by: 'oidc:test#alice', write_request_id: expect.any(String) });
    const unbacked = { since_version: 1, since, changed_by: 'importer', ...by(first), evidence: [], unresolved: [], evidence_status: 'none' };
    expect(items).toEqual([
      { ...unbacked, path: '/attributes/legal/legal_form', value: 'AG' },
      {
        path: NAME,
        value: 'Acme Holding AG',
        since_version: 2,
        since: { recorded_at: second.created_at, effective_at: second.generated_at },
        changed_by: 'oidc:test#alice',
        ...by(second),
        evidence_status: 'carried',
        ...NAMED,
      },
      { ...unbacked, path: '/attributes/tags/0', value: 'x' },
      { ...unbacked, path: '/attributes/tags/1', value: 'y' },
    ]);
    const { items: earlier } = await leaves(subject, '?version=1', form);
    expect(earlier[1]).toEqual({ ...unbacked, path: NAME, value: 'Acme AG', evidence_status: 'current', ...NAMED });
  }); // prettier-ignore

  test('refuses invalid parameters, and returns 404 for unknown paths and versions', async () => {
    const subject = newSubject();
    await world.write(subject, 1, FIRST);
    const path = `${pathOf(form, subject)}/provenance`;
    expect(await world.faultOf(`${path}?path=legal`)).toMatchObject({ path: '/query/path' });
    expect(await world.faultOf(`${path}?limit=1001`)).toMatchObject({ path: '/query/limit' });
    expect(await world.faultOf(`${path}?version=0`)).toMatchObject({ path: '/query/version' });
    expect(await world.faultOf(`${path}?version=2147483648`)).toMatchObject({ path: '/query/version' });
    const { body } = await world.read(`${path}?path=/legal/legal_name`, 400);
    expect(body.error.message).toContain(`Did you mean "${NAME}"?`);
    expect((await world.read(`${path}?path=/attributes/legal/x`, 404)).body.error.details[0].path).toBe('/query/path');
    await world.read(`${pathOf(form, newSubject())}/provenance`, form === '/v1' ? 404 : 403);
    await world.read(`${path}`, form === '/v1' ? 404 : 403, 'stranger');
    await world.read(`${path}?version=2`, 404);
  });
});

test('a 404 for an unknown version names the latest version to the owner', async () => {
  const subject = await world.written(2);
  const { body } = await world.read(`${pathOf('/v1/tenants/acme', subject)}/provenance?version=3`, 404);
  expect(body.error.message).toContain('the latest is 2');
});

describe('provenance along a chain of updates', () => {
  test('survives a move, reflects new evidence, and restarts after a removal', async () => {
    const subject = newSubject();
    await world.write(subject, 1, FIRST);
    await update(subject, 1, [{ op: 'replace', path: NAME, value: 'B' }, { op: 'add', path: '/attributes/tags/0', value: 'new' }]);
    expect(await lines(subject)).toEqual(['/legal/legal_form 1 none', '/legal/legal_name 2 carried', '/tags/0 2 none', '/tags/1 1 none', '/tags/2 1 none']);
    await update(subject, 2, [{ op: 'move', from: '/attributes/tags/2', path: '/attributes/tags/0' }, { op: 'remove', path: '/attributes/legal/legal_form' }]);
    expect(await lines(subject)).toEqual(['/legal/legal_name 2 carried', '/tags/0 1 none', '/tags/1 2 none', '/tags/2 1 none']);
    const again = { ...ITEM, evidence_id: 'ev-2' };
    await update(subject, 3, [
      { op: 'add', path: '/evidence/-', value: again },
      { op: 'replace', path: '/attribute_paths/~1attributes~1legal~1legal_name', value: [{ ...REF, evidence_id: 'ev-2' }] },
      { op: 'add', path: '/attributes/legal/legal_form', value: 'AG' },
    ]);
    expect(await lines(subject, '?path=/attributes/legal')).toEqual(['/legal/legal_form 4 none', '/legal/legal_name 2 current']);
    await update(subject, 4, [{ op: 'remove', path: '/evidence/1' }]);
    expect(await lines(subject, '?path=/attributes/legal/legal_name')).toEqual(['/legal/legal_name 2 missing']);
    const { items } = await leaves(subject, `?path=${NAME}`);
    expect(items[0]).toMatchObject({ evidence: [], unresolved: [{ ...REF, evidence_id: 'ev-2' }] });
    expect(await lines(subject, '?version=2')).toHaveLength(5);
    expect(await lines(subject, '?version=4&evidence_status=current')).toEqual(['/legal/legal_name 2 current']);
    expect(await lines(subject, '?version=4&evidence_id=ev-2')).toEqual(['/legal/legal_name 2 current']);
    expect(await lines(subject, '?version=4&evidence_id=ev-2&evidence_status=none')).toEqual([]);
    expect(await lines(subject, '?version=4&evidence_id=ev-1')).toEqual([]);
    const { items: [first], next_cursor: next } = await leaves(subject, '?version=4&evidence_status=none&limit=1');
    expect(first.path).toBe('/attributes/legal/legal_form');
    const rest = await leaves(subject, `?version=4&evidence_status=none&limit=9&cursor=${encodeURIComponent(next)}`);
    expect(rest.items.map((leaf: Leaf) => leaf.path)).toEqual(['/attributes/tags/0', '/attributes/tags/1', '/attributes/tags/2']);
  }); // prettier-ignore

  test('includes direct writes of later versions, with the author that they name', async () => {
    const subject = newSubject();
    await world.write(subject, 1, FIRST);
    const audit = { created_by: 'a\u0000 register', created_at: '2026-02-01T00:00:00Z', source: 'import' };
    const attributes = { ...FIRST.attributes, legal: { legal_name: 'Acme AG', legal_form: 'SE' } };
    await world.write(subject, 2, { ...FIRST, attributes, audit });
    await update(subject, 2, [{ op: 'add', path: '/attributes/x', value: 1 }]);
    const { items } = await leaves(subject);
    expect(items[0]).toMatchObject({ value: 'SE', since_version: 2, changed_by: 'a\u0000 register' });
    expect(items.at(-1)).toMatchObject({ path: '/attributes/x', since_version: 3, changed_by: 'oidc:test#alice' });
  });
});

test('all pages are of one version, even if a newer version is written', async () => {
  const subject = newSubject();
  await world.write(subject, 1, FIRST);
  const path = `${pathOf('/v1/tenants/acme', subject)}/provenance`;
  const { body: page, headers } = await world.read(`${path}?limit=3`);
  expect(page).toMatchObject({ has_more: true, page: { limit: 3 } });
  expect(headers['link']).toContain('rel="next"');
  await update(subject, 1, [{ op: 'remove', path: '/attributes/tags' }]);
  const { body: last } = await world.read(`${path}?limit=3&cursor=${encodeURIComponent(page.next_cursor)}`);
  expect(last).toMatchObject({ snapshot_version: 1, has_more: false });
  expect([...page.items, ...last.items].map((leaf: Leaf) => leaf.path)).toEqual([
    '/attributes/legal/legal_form', NAME, '/attributes/tags/0', '/attributes/tags/1',
  ]); // prettier-ignore
  await world.read(`${path}?version=1&cursor=${encodeURIComponent(page.next_cursor)}`, 400);
});

test('a large document is traced, and its pages end by bytes', async () => {
  const subject = newSubject();
  const note = 'n'.repeat(250_000);
  const list = Array.from({ length: 100 }, (_, at) => at);
  const large = { attributes: { list }, evidence: [{ ...ITEM, notes: note }], attribute_paths: { '/attributes/list': [REF] } };
  await world.write(subject, 1, large);
  await update(subject, 1, [{ op: 'replace', path: '/attributes/list/50', value: 'x' }]);
  const { items, next_cursor } = await leaves(subject);
  expect(items.length).toBeGreaterThan(20);
  expect(items.length).toBeLessThan(40);
  const { items: more } = await leaves(subject, `?cursor=${encodeURIComponent(next_cursor)}`);
  const found = [...items, ...more].find((leaf: Leaf) => leaf.path === '/attributes/list/50');
  expect(found).toMatchObject({ since_version: 2, evidence_status: 'carried' });
}); // prettier-ignore

describe('versions without stored provenance', () => {
  test('are traced on read if they are few, and stored with the next write', async () => {
    const subject = await world.lineage(120);
    const expected = [expect.objectContaining({ since_version: 1, changed_by: 'importer', evidence_status: 'none' })];
    expect((await leaves(subject)).items).toEqual(expected);
    await update(subject, 120, [{ op: 'add', path: '/attributes/x', value: 1 }]);
    expect(await lines(subject)).toEqual(['/padding 1 none', '/x 121 none']);
  });

  itInDatabase('return 503 if they are many, until fillProvenance has run', async () => {
    const subject = await world.lineage(400);
    const { body } = await world.read(`${pathOf('/v1/tenants/acme', subject)}/provenance`, 503);
    expect(body.error.message).toContain('db/fill-provenance');
    await update(subject, 400, [{ op: 'add', path: '/attributes/x', value: 1 }]);
    await world.read(`${pathOf('/v1/tenants/acme', subject)}/provenance`, 503);
    const { versions } = await fillProvenance(world.gateway.databaseUrl);
    expect(versions).toBeGreaterThanOrEqual(401);
    expect((await leaves(subject)).items).toMatchObject([
      { since_version: 1, changed_by: 'importer' },
      { since_version: 401, changed_by: 'oidc:test#alice' },
    ]);
    await expect(fillProvenance(world.gateway.databaseUrl)).resolves.toMatchObject({ versions: 0 });
  });

  itInDatabase('are skipped while a text is damaged, and filled once it is restored', async () => {
    const subject = await world.lineage(3);
    const history = await world.read(`${pathOf('/v1/tenants/acme', subject)}/history?view=header`);
    const second = history.body.items.find((item: { snapshot_version: number }) => item.snapshot_version === 2);
    await world.tamper(subject, 2, `envelope = replace(envelope, 'importer', 'imposter')`);
    // Version 3 is compared with version 2.
    const { versions, damaged } = await fillProvenance(world.gateway.databaseUrl);
    expect([versions, damaged]).toEqual([1, [second.snapshot_id, second.snapshot_id]]);
    await world.tamper(subject, 2, `envelope = replace(envelope, 'imposter', 'importer')`);
    expect(await fillProvenance(world.gateway.databaseUrl)).toMatchObject({ versions: 2, damaged: [] });
  });
});

test('as_of returns the provenance of the version that was the newest then', async () => {
  const subject = newSubject();
  await world.write(subject, 1, { ...FIRST, generated_at: '2026-01-01T00:00:00Z' });
  await world.write(subject, 2, { attributes: {}, generated_at: '2026-02-01T00:00:00Z' });
  const of = (moment: string) => leaves(subject, `?basis=effective&as_of=${moment}&limit=1`);
  const page = await of('2026-01-31T00:00:00Z');
  expect(page).toMatchObject({ snapshot_version: 1, has_more: true });
  expect(await of('2026-02-01T00:00:00Z')).toMatchObject({ snapshot_version: 2, items: [] });
  const path = `${pathOf('/v1/tenants/acme', subject)}/provenance`;
  await world.read(`${path}?basis=effective&as_of=2025-12-31T00:00:00Z`, 404);
  expect(await world.faultOf(`${path}?version=1&as_of=2026-01-31T00:00:00Z`)).toMatchObject({ path: '/query/as_of' });
});

describe('subjects filtered by missing or carried evidence', () => {
  const found = async (query: string, user: 'reader' | 'stranger' = 'reader', status = 200): Promise<string[]> => {
    const { body } = await world.read(`/v1/tenants/acme/subjects?${query}`, status, user);
    return status === 200 ? body.items.map((item: { subject_id: string }) => item.subject_id) : [];
  };

  test('match as soon as they are written, until their evidence is fixed', async () => {
    const subject = { subject_type: 'entity', subject_id: 'to-mend' };
    const listed = async () => [await found('evidence=missing&subject_type=entity'), await found('evidence=carried&subject_type=entity')];
    await world.write(subject, 1, { ...FIRST, evidence: [] });
    expect(await listed()).toEqual([['to-mend'], []]);
    await update(subject, 1, [{ op: 'add', path: '/evidence/0', value: ITEM }]);
    expect(await listed()).toEqual([[], []]);
    await update(subject, 2, [{ op: 'replace', path: NAME, value: 'B' }]);
    expect(await listed()).toEqual([[], ['to-mend']]);
    await world.write(subject, 4, { ...FIRST, attributes: { ...FIRST.attributes, legal: { legal_name: 'C' } }, evidence: [] });
    expect(await listed()).toEqual([['to-mend'], []]);
    await update(subject, 4, [{ op: 'remove', path: '/attribute_paths' }]);
    expect(await listed()).toEqual([[], []]);
    await found('evidence=stale', 'reader', 400);
    await found('evidence=missing', 'stranger', 403);
  }); // prettier-ignore

  test('are paged, can be filtered further, and exclude other tenants’ subjects', async () => {
    for (const id of ['p-1', 'p-2', 'q-1']) await world.write({ subject_type: 'entity', subject_id: id }, 1, { ...FIRST, evidence: [] });
    const first = (await world.read('/v1/tenants/acme/subjects?evidence=missing&subject_type=entity&limit=2')).body;
    expect(first.items.map((item: { subject_id: string }) => item.subject_id)).toEqual(['p-1', 'p-2']);
    expect(first.items[0]).toMatchObject({ subject_type: 'entity', latest_snapshot: { snapshot_version: 1 } });
    expect(await found(`evidence=missing&subject_type=entity&limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).toEqual(['q-1']);
    expect(await found('evidence=missing&subject_id_prefix=q')).toEqual(['q-1']);
    expect(await found('evidence=missing&subject_type=individual')).toEqual([]);
    expect((await world.gateway.as('bob', 'get', '/v1/tenants/beta/subjects?evidence=missing').expect(200)).body.items).toEqual([]);
  }); // prettier-ignore
});
