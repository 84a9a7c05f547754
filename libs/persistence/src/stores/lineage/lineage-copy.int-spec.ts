import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { addLineage } from '../../../../../tools/testing/lineage';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import './snapshot-list.store';

let world: World;
const subject = { subjectType: 'organization', subjectId: `subject-${randomUUID()}` };
const reader = { tenantId: 'acme', principalId: 'tenant_reader' };

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  const superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  await addLineage(superuser, { tenantId: 'acme', ...subject }, 1_000);
  await superuser.end();
});

afterAll(() => world.close());

// Subject, membership, head, and the newest version of the range.
const OF_THE_PRIMARY = 4;

it.each([
  ['a batch of an export', 'snapshot_lineage_asc_tenant', { after: null, limit: 256 }, { upTo: 256, limit: 256 }],
  ['a page of a history', 'snapshot_lineage_desc_tenant', { after: null, limit: 201 }, { upTo: 2 ** 31, limit: 201 }],
])('%s reads four rows of the primary if there is a replica', async (_, whole, range, bounds) => {
  const all = await rowsRead(world, whole, { ...reader, ...subject, ...range, withEnvelopes: true });
  expect(all).toBeGreaterThan(range.limit);
  const known = { ...reader, ...subject, ...bounds, maxErasures: 50 };
  expect(await rowsRead(world, 'snapshot_lineage_known_tenant', known)).toBe(OF_THE_PRIMARY);
  const copied = { ...subject, after: range.after ?? (bounds.upTo === 256 ? 0 : 2 ** 31), limit: range.limit };
  const order = bounds.upTo === 256 ? 'asc' : 'desc';
  const ofReplica = await rowsRead(world, `snapshot_lineage_copied_${order}`, { ...copied, withEnvelopes: true });
  expect(ofReplica).toBe(1 + range.limit);
});
