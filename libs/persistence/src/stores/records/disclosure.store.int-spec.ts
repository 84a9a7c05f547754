import { Client } from 'pg';
import type { Page } from '../../sql/page';
import { statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { type DisclosureRecord, DisclosureStore, type NewDisclosure } from './disclosure.store';

const SUBJECTS = 10;
const GRANTEES = 20;
/** So many days that a page with a filter cannot examine all disclosures of a subject. */
const DAYS = 60;

/** Adds a subject of acme that was shown to many tenants on many days each, and other subjects that were shown to beta. */
const ADD = statement<{ subjects: number; grantees: number; days: number }>(
  'spec_add_disclosures',
  `WITH made AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
  SELECT 'organization', 's-' || number, 'acme' FROM generate_series(1, :subjects::int) number
  RETURNING subject_key
)
INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version,
                         request_id, first_at)
SELECT subject_key, current_date - day, CASE grantee WHEN 1 THEN 'beta' ELSE 'other-' || grantee END, 'bob', 'snapshot',
       1, 1, 'r', now() - day * interval '1 day'
  FROM made, generate_series(1, :grantees::int) grantee, generate_series(1, :days::int) day
 ORDER BY day DESC`,
);

let world: World;
let store: DisclosureStore;
let superuser: Client;

beforeAll(async () => {
  world = await openWorld();
  store = new DisclosureStore(world.database.sql);
  superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  for (const tenant of ['acme', 'beta']) await addTenant(world, tenant);
  await world.database.sql.run(ADD, { subjects: SUBJECTS, grantees: GRANTEES, days: DAYS });
});

afterAll(async () => {
  await superuser?.end();
  await world?.close();
});

const ADMIN = { tenantId: 'acme', principalId: 'tenant_admin' };
const SUBJECT = { subjectType: 'organization', subjectId: 's-1' };
const ANYBODY = { granteeTenantId: null, toPrincipalId: null, via: null };
const ANY = { from: null, to: null, subject: null, ...ANYBODY };
const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000 - 3_600_000);
const MEMBER_SUBJECT = 2;
const NO_SUBJECT = { subjectType: null, subjectId: null };

describe('a page of disclosures', () => {
  const first = { beforeTime: 'infinity', beforeId: 0, from: null, rows: 5 };
  const ofSubject = { ...ADMIN, ...SUBJECT, ...ANYBODY, ...first };

  it.each<[string, string, object, number]>([
    ['of a subject', 'disclosures_of_subject', ofSubject, MEMBER_SUBJECT + 5],
    // A short page searches for more after the last examined one.
    [
      'of a subject since a moment',
      'disclosures_of_subject',
      { ...ofSubject, rows: 1000, from: daysAgo(1).toISOString() },
      MEMBER_SUBJECT + 2 * GRANTEES,
    ],
    // Each with its subject.
    ['to a tenant', 'disclosures_to_tenant', { ...ofSubject, ...NO_SUBJECT, tenantId: 'beta' }, 1 + 2 * 5],
    ['to a tenant, of a subject', 'disclosures_to_tenant_of', { ...ofSubject, tenantId: 'beta' }, 1 + 1 + 2 * 5],
  ])('%s reads only the rows that it returns', async (_, name, parameters, rows) => {
    expect(await rowsRead(world, name, parameters)).toBe(rows);
  });

  it('contains only rows within the filter', async () => {
    const filter = { ...ANY, granteeTenantId: 'beta', from: daysAgo(6), to: daysAgo(2) };
    const { page } = await store.ofSubject(ADMIN, SUBJECT, filter, { limit: 100, after: null });
    expect(page.items.map(({ granteeTenantId }) => granteeTenantId)).toEqual(['beta', 'beta', 'beta', 'beta']);
    const [newest] = page.items;
    if (newest === undefined) throw new Error('there are four');
    const at = { ...filter, from: newest.firstAt, to: newest.firstAt };
    expect((await store.ofSubject(ADMIN, SUBJECT, at, { limit: 100, after: null })).page.items).toEqual([newest]);
  });

  it('examines a limited number of rows with a filter', async () => {
    const parameters = { ...ofSubject, granteeTenantId: 'nobody' };
    expect(await rowsRead(world, 'disclosures_of_subject', parameters)).toBe(MEMBER_SUBJECT + 2 * 1001);
  });

  it.each([
    ['all', ANY, 400, GRANTEES * DAYS],
    ['those to one tenant', { ...ANY, granteeTenantId: 'beta' }, 100, DAYS],
    ['those to one tenant in small pages', { ...ANY, granteeTenantId: 'beta' }, 7, DAYS],
  ])('leads to further pages with %s, newest first', async (_, filter, limit, count) => {
    const seen: number[] = [];
    let after: readonly (string | number)[] | null = null;
    do {
      const request = { limit, after };
      const { page }: { page: Page<DisclosureRecord> } = await store.ofSubject(ADMIN, SUBJECT, filter, request);
      seen.push(...page.items.map(({ firstAt }) => firstAt.getTime()));
      after = page.next;
    } while (after !== null);
    expect(seen).toHaveLength(count);
    expect(seen).toEqual([...seen].sort((one, other) => other - one));
  });

  it('is empty for tenants that do not own the subject and for strangers', async () => {
    const { page, facts } = await store.ofSubject({ ...ADMIN, tenantId: 'beta' }, SUBJECT, ANY, {
      limit: 5,
      after: null,
    });
    expect([page.items, facts.ownsSubject]).toEqual([[], false]);
    const stranger = { tenantId: 'beta', principalId: 'nobody' };
    expect((await store.toTenant(stranger, ANY, { limit: 5, after: null })).page.items).toEqual([]);
  });
});

describe('a disclosure record', () => {
  const disclosure: NewDisclosure = {
    subjectKey: 1,
    disclosedOn: '2026-01-15',
    granteeTenantId: 'gamma',
    grantId: null,
    principalId: 'o1',
    via: 'export',
    fromVersion: 1,
    toVersion: 10_000,
    requestId: 'r-1',
    paths: null,
  };
  const rowsOf = async (principalId: string): Promise<number> => {
    const { rows } = await superuser.query('SELECT FROM disclosures WHERE principal_id = $1', [principalId]);
    return rows.length;
  };

  it('is stored once for concurrent first reads in two stores', async () => {
    const other = new DisclosureStore(world.database.sql);
    await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? store : other).record(disclosure)));
    await store.record({ ...disclosure, requestId: 'r-2' });
    expect(await rowsOf('o1')).toBe(1);
  });

  it('shares a statement with other records, but has its own row', async () => {
    world.sent.length = 0;
    await Promise.all(['p1', 'p2', 'p3'].map((principalId) => store.record({ ...disclosure, principalId })));
    expect(world.sent).toEqual(['disclosure_record']);
    for (const principalId of ['p1', 'p2', 'p3']) expect(await rowsOf(principalId)).toBe(1);
  });

  it('cannot be changed by the application or by the table’s owner', async () => {
    for (const change of ['DELETE FROM disclosures', `UPDATE disclosures SET via = 'x'`, 'TRUNCATE disclosures']) {
      await expect(superuser.query(change)).rejects.toThrow(/records stay as they were written/);
      await superuser.query('SET ROLE iss_app');
      await expect(superuser.query(change)).rejects.toThrow(/permission denied/);
      await superuser.query('RESET ROLE');
    }
  });
});
