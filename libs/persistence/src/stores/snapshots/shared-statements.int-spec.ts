import { randomUUID } from 'node:crypto';
import { seal } from '@iss/domain';
import { Client } from 'pg';
import { LARGE_ANSWER, LARGE_INPUT } from '../../sql/coalescer';
import { addTenant, openWorld, snapshot, TRACE, type World } from '../../testing/world';
import { UpdateStore } from '../updates/update.store';
import { SnapshotReadStore } from './snapshot-read.store';
import { type SnapshotToAppend, SnapshotWriteStore } from './snapshot-write.store';

const TENANTS = ['acme', 'beta', 'gamma'];

let world: World;
let writes: SnapshotWriteStore;
let reads: SnapshotReadStore;

beforeAll(async () => {
  world = await openWorld();
  writes = new SnapshotWriteStore(world.database.sql);
  reads = new SnapshotReadStore(world.database.sql);
  for (const tenantId of TENANTS) await addTenant(world, tenantId);
});

afterAll(() => world?.close());
beforeEach(() => {
  world.sent.length = 0;
});

function withText(characters: number, change: Partial<SnapshotToAppend> = {}): SnapshotToAppend {
  const { text, hash } = seal({ text: 'x'.repeat(characters) });
  return snapshot({ envelope: text, envelopeHash: hash, ...change });
}

const readLatest = ({ tenantId, subjectType, subjectId }: SnapshotToAppend) =>
  reads.read(
    { tenantId, principalId: 'tenant_reader' },
    { kind: 'latest', subject: { subjectType, subjectId } },
    { envelope: true },
  );

it('reads a large snapshot in a statement of its own', async () => {
  const large = withText(LARGE_ANSWER);
  const small = withText(LARGE_ANSWER / 2, { tenantId: 'beta' });
  await Promise.all([large, small].map((one) => writes.create(one)));
  world.sent.length = 0;
  const found = await Promise.all([readLatest(large), readLatest(small)]);
  expect(found.map((one) => one.snapshot?.envelope === null)).toEqual([false, false]);
  expect(found.map((one) => one.snapshot?.envelope)).toEqual([large.envelope, small.envelope]);
  expect(world.sent).toEqual(['snapshot_latest_tenant', 'snapshot_latest_tenant']);
});

it('writes a large snapshot in a statement of its own', async () => {
  const outcomes = await Promise.all(
    [withText(LARGE_INPUT), withText(100), withText(100), withText(LARGE_INPUT)].map((one) => writes.create(one)),
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'written', 'written', 'written']);
  expect(world.sent).toEqual(['snapshot_create', 'snapshot_create', 'snapshot_create']);
});

it('reads a large base of an update in a statement of its own', async () => {
  const updates = new UpdateStore(world.database.sql);
  const actor = { tenantId: 'acme', principalId: 'tenant_editor' };
  const bases = [withText(LARGE_ANSWER), withText(100)];
  const proposed = await Promise.all(
    bases.map(async (base) => {
      await writes.create(base);
      const update = {
        ...actor,
        updateId: randomUUID(),
        subjectType: base.subjectType,
        subjectId: base.subjectId,
        baseSnapshotId: base.snapshotId,
        baseSnapshotVersion: 1,
        patchOps: '[]',
        changeKind: 'change' as const,
        requestId: null,
        initiatedBy: null,
        evidencePolicy: 'open' as const,
        trace: TRACE,
      };
      await updates.propose(update);
      return update.updateId;
    }),
  );
  world.sent.length = 0;
  const found = await Promise.all(proposed.map((updateId) => updates.forApply({ ...actor, updateId, subject: null })));
  expect(found.map(({ base, update }) => [base?.envelope, update?.patchOps])).toEqual(
    bases.map(({ envelope }) => [envelope, '[]']),
  );
  expect(world.sent).toEqual(['update_for_apply', 'update_for_apply']);
});

// Takes two seconds, the timeout of a shared statement.
it('writes rows of other tenants once while a row waits for a lock', async () => {
  const blocker = new Client({ connectionString: world.url });
  await blocker.connect();
  try {
    const held = snapshot();
    const strangers = ['beta', 'gamma'].map((tenantId) => snapshot({ tenantId }));
    await blocker.query('BEGIN');
    await blocker.query(
      `INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('organization', $1, 'acme')`,
      [held.subjectId],
    );
    let heldIsWritten = false;
    const waiting = writes.create(held).then((outcome) => {
      heldIsWritten = true;
      return outcome;
    });
    const outcomes = await Promise.all(strangers.map((stranger) => writes.create(stranger)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'written']);
    expect(heldIsWritten).toBe(false);
    expect(world.sent).toEqual(['snapshot_create', 'snapshot_create', 'snapshot_create', 'snapshot_create']);
    await blocker.query('ROLLBACK');
    expect(await waiting).toMatchObject({ kind: 'written' });
  } finally {
    await blocker.end();
  }
});
