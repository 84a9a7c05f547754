import { Client } from 'pg';
import { statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { SubjectStore } from './subject.store';

const SUBJECTS = 600;

/** Adds subjects of a tenant with two snapshots each. Their ids are `{prefix}-00001` and so on. */
const ADD = statement<{ tenantId: string; type: string; prefix: string; count: number }>(
  'spec_add_subjects',
  `WITH added AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT :type, :prefix || '-' || lpad(number::text, 5, '0'), :tenantId FROM generate_series(1, :count::int) number
  RETURNING subject_key
)
INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
SELECT subject_key, version, gen_random_uuid(), :tenantId, '2026-01-15T09:30:00Z', sha256('{}'), '{}'
  FROM added, generate_series(1, 2) version`,
);

let world: World;
let store: SubjectStore;

beforeAll(async () => {
  world = await openWorld();
  store = new SubjectStore(world.database.sql);
  await addTenant(world, 'acme');
  await addTenant(world, 'beta');
  for (const [tenantId, type, prefix, count] of [
    ['acme', 'organization', 'm', SUBJECTS],
    ['acme', 'organization', 'z', SUBJECTS],
    ['acme', 'individual', 'm', 3],
    ['acme', 'entity', 'a', SUBJECTS],
    ['beta', 'organization', 'b', SUBJECTS],
  ] as const) {
    await world.database.sql.run(ADD, { tenantId, type, prefix, count });
  }
});

afterAll(() => world?.close());

const ALL = { subjectType: null, search: { by: 'id', prefix: '', evidence: null } } as const;
const owned = (filter: Parameters<SubjectStore['owned']>[1], request: Parameters<SubjectStore['owned']>[2]) =>
  store.owned({ tenantId: 'acme', principalId: 'tenant_reader' }, filter, request);

describe('SubjectStore.owned', () => {
  it('reads every subject of the tenant once and in order, with its newest snapshot', async () => {
    const seen: string[] = [];
    const pages: number[] = [];
    for (let after: Parameters<typeof owned>[1]['after'] = null; ;) {
      const { page } = await owned(ALL, { limit: 200, after });
      pages.push(page.items.length);
      seen.push(...page.items.map(({ subjectType, subjectId }) => `${subjectType}/${subjectId}`));
      expect(page.items.every(({ latest }) => latest.snapshotVersion === 2)).toBe(true);
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toHaveLength(3 * SUBJECTS + 3);
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(pages).toEqual([...Array.from({ length: 9 }, () => 200), 3]);
  });

  it('returns no further page after a full last page', async () => {
    const request = { limit: 3, after: null };
    expect(
      (await owned({ subjectType: 'individual', search: { by: 'id', prefix: '', evidence: null } }, request)).page.next,
    ).toBeNull();
    expect(
      (await owned({ subjectType: 'individual', search: { by: 'id', prefix: 'm-0000', evidence: null } }, request)).page
        .next,
    ).toBeNull();
    expect(
      (await owned({ subjectType: null, search: { by: 'id', prefix: 'm-0000', evidence: null } }, request)).page.next,
    ).toEqual(['individual', 'm-00003']);
  });

  it('returns nothing to non-members', async () => {
    for (const principalId of ['nobody', '']) {
      const { facts, page } = await store.owned({ tenantId: 'acme', principalId }, ALL, { limit: 10, after: null });
      expect([facts.membership, page.items]).toEqual([null, []]);
    }
  });

  const TYPES = ['individual', 'organization', 'entity'];
  const NOWHERE = ['', '', ''];

  it('reads only the rows of one page, before and after ANALYZE', async () => {
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await analyze();
      for (const [types, after, prefix] of [
        [TYPES, NOWHERE, ''],
        [['organization'], ['m-00400'], ''],
        [TYPES, NOWHERE, 'm-003'],
        [TYPES, NOWHERE, 'm-00007'],
        [TYPES, NOWHERE, 'm-1'],
        [TYPES, NOWHERE, '!'],
      ] as const) {
        const of = { tenantId: 'acme', principalId: 'tenant_reader', types, after, prefix, rows: 11 };
        const read = await rowsRead(world, 'subjects_owned', of);
        // The member, the subjects of each type after the last shown one, and a snapshot for each shown one.
        expect(read).toBeGreaterThan(0);
        expect(read).toBeLessThanOrEqual(1 + types.length * (1 + 11) + 11);
      }
    }
  });

  it('reads no subject for non-members', async () => {
    const of = { tenantId: 'acme', principalId: 'nobody', types: TYPES, after: NOWHERE, prefix: '', rows: 11 };
    expect(await rowsRead(world, 'subjects_owned', of)).toBe(0);
  });
});

async function analyze(): Promise<void> {
  const superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  await superuser.query('ANALYZE');
  await superuser.end();
}
