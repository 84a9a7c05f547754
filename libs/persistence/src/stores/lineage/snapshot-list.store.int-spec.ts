import type { SubjectRef } from '@iss/domain';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { addLineage } from '../../../../../tools/testing/lineage';
import { addTenant, openWorld, type World } from '../../testing/world';
import { ENVELOPE_BYTES, LINEAGE_ORDERS, type LineageRange, SnapshotListStore } from './snapshot-list.store';

let world: World;
let superuser: Client;
let store: SnapshotListStore;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  await addTenant(world, 'beta');
  superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  store = new SnapshotListStore(world.database.sql);
});

afterAll(async () => {
  await superuser?.end();
  await world?.close();
});

async function lineage(count: number, padding = 0): Promise<SubjectRef> {
  const subject = { subjectType: 'organization', subjectId: `subject-${randomUUID()}` };
  await addLineage(superuser, { tenantId: 'acme', ...subject }, count, padding);
  return subject;
}

const owner = { tenantId: 'acme', principalId: 'tenant_reader' };
const global = { tenantId: null, principalId: 'tenant_reader' };
const range = (change: Partial<LineageRange> = {}): LineageRange => ({
  order: 'desc',
  after: null,
  limit: 10,
  withEnvelopes: true,
  ...change,
});
const versions = (snapshots: readonly { snapshotVersion: number }[]): number[] =>
  snapshots.map(({ snapshotVersion }) => snapshotVersion);

describe('SnapshotListStore.read', () => {
  it.each([
    ['desc', null, 3, [7, 6, 5]],
    ['desc', 5, 3, [4, 3, 2]],
    ['desc', 2, 3, [1]],
    ['desc', 1, 3, []],
    ['asc', null, 3, [1, 2, 3]],
    ['asc', 5, 3, [6, 7]],
    ['asc', 7, 3, []],
  ] as const)('reads the versions in order %s after %s', async (order, after, limit, expected) => {
    const subject = await lineage(7);
    for (const reader of [owner, global]) {
      world.sent.length = 0;
      const read = await store.read(reader, subject, range({ order, after, limit }));
      expect(world.sent).toEqual([`snapshot_lineage_${order}_${reader.tenantId === null ? 'global' : 'tenant'}`]);
      expect(versions(read.snapshots)).toEqual(expected);
      expect(read).toMatchObject({ headVersion: 7, facts: { ownsSubject: true } });
      expect(read.snapshots.every(({ envelope }) => envelope !== null)).toBe(true);
    }
  });

  it('returns the facts if there are no versions', async () => {
    const subject = { subjectType: 'organization', subjectId: 'none' };
    for (const order of LINEAGE_ORDERS) {
      const read = await store.read(owner, subject, range({ order }));
      expect(read).toMatchObject({ headVersion: null, snapshots: [], facts: { ownsSubject: false } });
      expect(read.facts.membership).toMatchObject({ role: 'tenant_reader' });
    }
    const stranger = await store.read({ tenantId: 'acme', principalId: 'stranger' }, await lineage(1), range());
    expect(stranger.facts.membership).toBeNull();
  });

  it('returns the scopes of a grant with and without a tenant', async () => {
    const subject = await lineage(1);
    await superuser.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       SELECT gen_random_uuid(), 'acme', 'beta', subject_key, '{read_lineage}' FROM subjects WHERE subject_id = $1`,
      [subject.subjectId],
    );
    await superuser.query(
      `INSERT INTO memberships (tenant_id, principal_id, api_functional_role, allow_counterparty_access)
       VALUES ('beta', 'bob', 'tenant_reader', true)`,
    );
    for (const tenantId of ['beta', null]) {
      const { facts } = await store.read({ tenantId, principalId: 'bob' }, subject, range());
      expect(facts).toMatchObject({ ownsSubject: false, grantScopes: ['read_lineage'] });
    }
  });

  it('returns all headers and the envelopes that fit, at least one', async () => {
    for (const [padding, fitting] of [
      [ENVELOPE_BYTES / 4, 4],
      [ENVELOPE_BYTES / 2, 2],
    ] as const) {
      const subject = await lineage(6, padding);
      for (const order of LINEAGE_ORDERS) {
        const { snapshots } = await store.read(owner, subject, range({ order }));
        expect(snapshots.map(({ envelope }) => envelope !== null)).toEqual(
          snapshots.map((_, index) => index < fitting),
        );
        expect(snapshots).toHaveLength(6);
      }
      const headers = await store.read(owner, subject, range({ withEnvelopes: false }));
      expect(headers.snapshots.map(({ envelope }) => envelope)).toEqual(Array(6).fill(null));
    }
  });
});

it('ends a page with envelopes at 8 MiB and a page without them at its limit', async () => {
  const subject = await lineage(9, 1024 * 1024);
  for (const order of LINEAGE_ORDERS) {
    const { snapshots, found } = await store.read(owner, subject, range({ order }));
    expect(snapshots).toHaveLength(7);
    expect(found).toBe(9);
    const headers = await store.read(owner, subject, range({ order, withEnvelopes: false }));
    expect(headers).toMatchObject({ found: 9, snapshots: { length: 9 } });
  }
  const single = await lineage(2, 9 * 1024 * 1024);
  expect(await store.read(owner, single, range())).toMatchObject({ found: 2, snapshots: { length: 1 } });
});

describe('SnapshotListStore.below', () => {
  it('reads earlier versions newest first, limited by number and bytes', async () => {
    const small = await lineage(5);
    expect(versions(await store.below(small, 5, 3))).toEqual([4, 3, 2]);
    expect(versions(await store.below(small, 2_147_483_648, 2))).toEqual([5, 4]);
    expect(versions(await store.below(small, 1, 3))).toEqual([]);
    const large = await lineage(4, ENVELOPE_BYTES);
    const [parent, ...others] = await store.below(large, 4, 3);
    expect(parent).toMatchObject({ snapshotVersion: 3, envelope: expect.stringContaining('"snapshot_version":3') });
    expect(others).toEqual([]);
  });
});

it('the schema has no parallel-safe function with an exception block, which fails in parallel workers', async () => {
  // pg_restore, REINDEX and VACUUM FULL build the index of times in parallel if the table is large.
  const { rows } = await superuser.query(
    `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc ~ 'EXCEPTION\\s+WHEN' AND proparallel = 's'`,
  );
  expect(rows).toEqual([]);
});
