import { randomUUID } from 'node:crypto';
import { DEFAULT_CAPS } from '@iss/platform';
import { Client } from 'pg';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, snapshot, TRACE, type World } from '../../testing/world';
import { SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { UpdateStore, type UpdateToPropose } from './update.store';

let world: World;
let owner: Client;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  owner = new Client({ connectionString: world.url });
  await owner.connect();
});

afterAll(async () => {
  await owner.end();
  await world.close();
});

beforeEach(() => owner.query('TRUNCATE updates, limit_overrides'));

async function proposals(count: number, subjects = count): Promise<UpdateToPropose[]> {
  const first = Array.from({ length: subjects }, () => snapshot());
  for (const one of first) await new SnapshotWriteStore(world.database.sql).create(one);
  return Array.from({ length: count }, (_, index) => {
    const { subjectType = '', subjectId = '', snapshotId: baseSnapshotId = '' } = first[index % subjects] ?? {};
    const base = { baseSnapshotId, baseSnapshotVersion: 1 };
    const ids = { updateId: randomUUID(), tenantId: 'acme', principalId: 'tenant_editor' };
    const made = { ...ids, patchOps: '[]', changeKind: 'change' } as const;
    return {
      subjectType,
      subjectId,
      ...base,
      ...made,
      requestId: null,
      initiatedBy: null,
      evidencePolicy: 'open',
      trace: TRACE,
    };
  });
}

/** Returns how many of concurrent updates a store accepts, and the caps that the others reached. */
async function propose(store: UpdateStore, updates: readonly UpdateToPropose[]) {
  const outcomes = await Promise.all(updates.map((update) => store.propose(update)));
  const reached = outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.reached : null));
  return {
    taken: outcomes.filter(({ kind }) => kind === 'proposed').length,
    reached: reached.filter((one) => one !== null),
  };
}

const storeWith = (caps: Partial<typeof DEFAULT_CAPS>) =>
  new UpdateStore(world.database.sql, { ...DEFAULT_CAPS, ...caps });

it('applies the cap of a tenant within one shared statement', async () => {
  const store = storeWith({ pending_updates_per_tenant: 5 });
  const updates = await proposals(12);
  world.sent.length = 0;
  const { taken, reached } = await propose(store, updates);
  expect(world.sent).toEqual(['update_propose']);
  expect(taken).toBe(5);
  expect(reached).toEqual(Array.from({ length: 7 }, () => ({ name: 'pending_updates_per_tenant', value: 5 })));
});

it('applies the cap of a subject to concurrent proposals', async () => {
  const { taken, reached } = await propose(storeWith({ pending_updates_per_subject: 2 }), await proposals(9, 3));
  expect(taken).toBe(6);
  expect(reached).toEqual(Array.from({ length: 3 }, () => ({ name: 'pending_updates_per_subject', value: 2 })));
});

it('accepts no proposal under a cap of 0', async () => {
  const { taken, reached } = await propose(storeWith({ pending_updates_per_tenant: 0 }), await proposals(1));
  expect([taken, reached]).toEqual([0, [{ name: 'pending_updates_per_tenant', value: 0 }]]);
});

it('counts the proposals of a tenant once for many rows, and again when its cap changes', async () => {
  const store = storeWith({});
  await propose(store, await proposals(40));
  const given = async (countedCap: number | null) => ({
    inputs: await proposals(1),
    eventIds: [randomUUID()],
    traces: [TRACE],
    countedCaps: [countedCap],
    aheadOfSubject: [0],
    aheadOfTenant: [0],
    pending_updates_per_subject: 100,
    pending_updates_per_tenant: 10_000,
  });
  const counting = await rowsRead(world, 'update_propose', await given(null));
  await owner.query('DELETE FROM updates WHERE ctid IN (SELECT ctid FROM updates ORDER BY created_at DESC LIMIT 1)');
  const knowing = await rowsRead(world, 'update_propose', await given(10_000));
  expect(counting - knowing).toBe(40);
  await owner.query(`INSERT INTO limit_overrides VALUES ('tenant', 'acme', 'pending_updates_per_tenant', 40)`);
  expect((await propose(store, await proposals(1))).reached).toEqual([
    { name: 'pending_updates_per_tenant', value: 40 },
  ]);
});
