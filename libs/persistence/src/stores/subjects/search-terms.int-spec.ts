import { randomUUID } from 'node:crypto';
import { parseIdentifier, seal, type SearchTerms, SUBJECT_TYPES } from '@iss/domain';
import { Client } from 'pg';
import { migrate } from '../../migrate';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, snapshot, type World } from '../../testing/world';
import { SnapshotWriteStore, type SnapshotToWrite } from '../snapshots/snapshot-write.store';
import { SubjectStore, type SubjectSearch } from './subject.store';

let world: World;
let superuser: Client;
let writes: SnapshotWriteStore;
let subjects: SubjectStore;

beforeAll(async () => {
  world = await openWorld();
  for (const tenant of ['acme', 'beta', 'large']) await addTenant(world, tenant);
  superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  writes = new SnapshotWriteStore(world.database.sql);
  subjects = new SubjectStore(world.database.sql);
});

afterAll(async () => {
  await superuser?.end();
  await world?.close();
});

const terms = (name: string | null, identifiers: Record<string, string> = {}): SearchTerms => ({
  name,
  displayName: name,
  namePath: name && '/attributes/legal/legal_name',
  identifiers: Object.entries(identifiers).map(([scheme, value]) => ({
    scheme,
    value,
    path: `/attributes/identifiers/${scheme}`,
  })),
});
const identifier = (text: string): SubjectSearch => {
  const parsed = parseIdentifier(text);
  if (parsed === null) throw new Error(text);
  return { by: 'identifier', identifier: parsed };
};
const name = (prefix: string): SubjectSearch => ({ by: 'name', prefix });

/** Returns the ids of the subjects that a tenant finds, over all pages. */
async function found(search: SubjectSearch, tenantId = 'acme', limit = 2): Promise<string[]> {
  const ids: string[] = [];
  for (let after: readonly (string | number)[] | null = null; ;) {
    const actor = { tenantId, principalId: 'tenant_reader' };
    const { page } = await subjects.owned(actor, { subjectType: null, search }, { limit, after });
    ids.push(...page.items.map(({ subjectId }) => subjectId));
    if (page.next === null) return ids;
    after = page.next;
  }
}

async function write(subjectId: string, given: SearchTerms, change: Partial<SnapshotToWrite> = {}): Promise<void> {
  const written = snapshot({ subjectId, terms: given, ...change });
  const outcome = await (written.snapshotVersion === 1 ? writes.create(written) : writes.append(written));
  expect(outcome.kind).toBe('written');
}

it('finds a subject by the terms of its latest version immediately', async () => {
  const search = `lei:${randomUUID()}`;
  const value = search.slice(4).replaceAll('-', '').toUpperCase();
  await write('s-1', terms('first name', { lei: value, vat: 'V1' }));
  expect(await found(identifier(search))).toEqual(['s-1']);
  expect(await found(identifier('vat:v1'))).toEqual(['s-1']);
  expect(await found(name('first'))).toEqual(['s-1']);
  await write('s-1', terms('second name', { lei: value, duns: '7' }), { snapshotVersion: 2 });
  expect(await found(identifier(search))).toEqual(['s-1']);
  expect(await found(identifier('vat:v1'))).toEqual([]);
  expect(await found(identifier('duns:7'))).toEqual(['s-1']);
  expect(await found(name('first'))).toEqual([]);
  expect(await found(name('second'))).toEqual(['s-1']);
  await write('s-1', terms('second name', { lei: 'OTHER', duns: '7' }), { snapshotVersion: 3 });
  expect(await found(identifier(search))).toEqual([]);
  expect(await found(identifier('lei:other'))).toEqual(['s-1']);
  await write('s-1', terms(null), { snapshotVersion: 4 });
  for (const gone of [identifier('lei:other'), identifier('duns:7'), name('second'), name('')]) {
    expect(await found(gone)).toEqual([]);
  }
  expect(await found(identifier('lei:other'), 'beta')).toEqual([]);
});

it('finds an identifier without its scheme under each scheme, and each subject once', async () => {
  await write('bare-1', terms(null, { kvk: 'B1', sapnr: 'B1', vat: 'OTHER' }));
  await write('bare-2', terms(null, { rare: 'B1' }));
  await write('bare-3', terms(null, { kvk: 'B12' }));
  await write('bare-4', terms(null, { alpha: 'B1' }), { subjectType: 'individual' });
  await write('bare-5', terms(null, { kvk: 'B1' }), { tenantId: 'beta' });
  for (const limit of [1, 2, 20]) {
    expect(await found(identifier('b-1'), 'acme', limit)).toEqual(['bare-4', 'bare-2', 'bare-1']);
  }
  expect(await found(identifier('b-1'), 'beta')).toEqual(['bare-5']);
  expect(await found(identifier('other'))).toEqual(['bare-1']);
  expect(await found(identifier('kvk'))).toEqual([]);
});

it('does not find a subject after the erasure of its latest version', async () => {
  await write('erased', terms('erased name', { gone: '1' }));
  await write('erased', terms('erased name', { gone: '1' }), { snapshotVersion: 2 });
  await superuser.query('ALTER TABLE snapshots DISABLE TRIGGER snapshots_immutable');
  for (const [version, expected] of [
    [1, ['erased']],
    [2, []],
  ] as const) {
    await superuser.query(
      `UPDATE snapshots SET envelope = NULL, erasure_id = 1 WHERE snapshot_version = $1
          AND subject_key = (SELECT subject_key FROM subjects WHERE subject_id = 'erased')`,
      [version],
    );
    expect(await found(identifier('gone:1'))).toEqual(expected);
    expect(await found(name('erased'))).toEqual(expected);
  }
  await superuser.query('ALTER TABLE snapshots ENABLE TRIGGER snapshots_immutable');
});

it('keeps the terms of concurrent writes in a shared statement separate', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `shared-${index}`);
  await Promise.all(ids.map((id, index) => write(id, terms(id, index % 2 === 0 ? { nr: `N${index}` } : {}))));
  for (const [index, id] of ids.entries()) {
    expect(await found(identifier(`nr:n${index}`))).toEqual(index % 2 === 0 ? [id] : []);
  }
  expect((await found(name('shared-'), 'acme', 7)).toSorted()).toEqual(ids.toSorted());
});

it('does not change the terms in a refused write', async () => {
  await write('refused', terms('kept', { nr: 'KEPT' }));
  const late = snapshot({ subjectId: 'refused', snapshotVersion: 3, terms: terms('lost', { nr: 'LOST' }) });
  expect((await writes.append(late)).kind).toBe('refused');
  const again = snapshot({ subjectId: 'refused', terms: terms('lost', { nr: 'LOST' }) });
  expect((await writes.create(again)).kind).toBe('refused');
  expect(await found(identifier('nr:kept'))).toEqual(['refused']);
  expect(await found(identifier('nr:lost'))).toEqual([]);
  expect(await found(name('kept'))).toEqual(['refused']);
});

it('lists many subjects with one identifier or name by type, each once', async () => {
  const ids: string[] = [];
  for (const subjectType of SUBJECT_TYPES.toSorted()) {
    for (const at of [3, 1, 2]) {
      const id = `${subjectType}-${at}`;
      ids.push(id);
      await write(id, terms(`many ${at}`, { lot: '1' }), { subjectType, tenantId: 'beta' });
    }
  }
  const newestFirst = [0, 3, 6].flatMap((from) => ids.slice(from, from + 3).toReversed());
  for (const limit of [1, 2, 20]) {
    expect(await found(identifier('lot:1'), 'beta', limit)).toEqual(newestFirst);
    expect(await found(name('many'), 'beta', limit)).toEqual(ids.toSorted());
    expect(await found(name('many 2'), 'beta', limit)).toEqual(SUBJECT_TYPES.toSorted().map((type) => `${type}-2`));
  }
});

it('reads the same number of rows for any number of other subjects', async () => {
  const fill = (from: number, to: number) =>
    superuser.query(
      `WITH s AS (
         INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name)
         SELECT 'organization', 'large-' || n, CASE n % 2 WHEN 0 THEN 'large' ELSE 'acme' END, 'name ' || n
           FROM generate_series($1::int, $2::int) n RETURNING *
       ), i AS (
         INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
         SELECT subject_key, scheme, CASE scheme WHEN 'country' THEN 'CH' ELSE subject_id END, owner_tenant_id, subject_type
           FROM s CROSS JOIN unnest('{country,nr}'::text[]) scheme
       )
       INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope)
       SELECT subject_key, 1, gen_random_uuid(), owner_tenant_id, '2026-01-15T09:30:00Z', '{}' FROM s`,
      [from, to],
    );
  const common = {
    tenantId: 'large',
    principalId: 'tenant_reader',
    types: SUBJECT_TYPES,
    afterType: '',
    afterId: '',
    rows: 11,
  };
  const counts = async (): Promise<number[]> => {
    const counted = [];
    for (const [statement, given] of [
      ['subjects_by_identifier', { scheme: 'nr', value: 'large-2' }],
      ['subjects_by_identifier', { scheme: 'country', value: 'CH' }],
      ['subjects_by_bare_identifier', { value: 'large-2' }],
      ['subjects_by_bare_identifier', { value: 'CH' }],
      ['subjects_by_name', { prefix: 'name 2', afterName: '' }],
      ['subjects_by_name', { prefix: 'name', afterName: '' }],
    ] as const) {
      counted.push(await rowsRead(world, statement, { ...common, ...given }));
    }
    return counted;
  };
  await fill(1, 500);
  const few = await counts();
  await fill(501, 5_000);
  expect(await counts()).toEqual(few);
});

it('finds older subjects by their current content after an interrupted migration', async () => {
  const envelope = (legal_name: string) =>
    seal({ attributes: { legal: { legal_name }, identifiers: { old: legal_name } } });
  for (const at of [1, 2, 3])
    await write(`old-${at}`, terms(null), {
      envelope: envelope(`Old ${at}`).text,
      envelopeHash: envelope(`Old ${at}`).hash,
    });
  expect(await found(name('old'))).toEqual([]);
  const { rows } = await superuser.query(`SELECT subject_key FROM subjects WHERE subject_id = 'old-1'`);
  // As if it had been interrupted after the first one.
  await superuser.query('INSERT INTO search_backfill (after_key) VALUES ($1)', [rows[0].subject_key]);
  await write('old-3', terms('new', { new: '1' }), { snapshotVersion: 2 });
  await migrate(world.url);
  expect(await found(name('old'))).toEqual(['old-2']);
  expect(await found(identifier('old:old2'))).toEqual(['old-2']);
  expect((await superuser.query('SELECT FROM search_backfill')).rowCount).toBe(0);
});
