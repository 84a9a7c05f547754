import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { addTenant, openWorld, snapshot, TRACE, type World } from '../../testing/world';
import type { SnapshotToWrite } from '../snapshots/snapshot-write.store';
import { SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { OutboxStore } from '../webhooks/outbox.store';
import { UpdateStore } from './update.store';

const UPDATE_TYPES = ['update.proposed', 'update.applied', 'update.withdrawn'];

let world: World;
let owner: Client;

beforeAll(async () => {
  world = await openWorld();
  for (const tenantId of ['acme', 'beta']) await addTenant(world, tenantId);
  owner = new Client({ connectionString: world.url });
  await owner.connect();
  await owner.query(
    `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
     VALUES ($1, 'acme', 'https://example.com', $2, '', '')`,
    [randomUUID(), UPDATE_TYPES],
  );
});

afterAll(async () => {
  await owner.end();
  await world.close();
});

interface Row {
  event_id: string;
  event_type: string;
  tenant_id: string;
  request_id: string;
  body: string | null;
}

const eventsOf = async (updateId: string): Promise<Row[]> => {
  const query = 'SELECT * FROM outbox_events WHERE update_id = $1 ORDER BY created_at';
  return (await owner.query<Row>(query, [updateId])).rows;
};

async function propose(tenantId = 'acme') {
  const first = snapshot({ tenantId });
  await new SnapshotWriteStore(world.database.sql).create(first);
  const updateId = randomUUID();
  const outcome = await new UpdateStore(world.database.sql).propose({
    updateId,
    tenantId,
    principalId: 'tenant_proposer',
    subjectType: first.subjectType,
    subjectId: first.subjectId,
    baseSnapshotId: first.snapshotId,
    baseSnapshotVersion: 1,
    patchOps: '[]',
    changeKind: 'change' as const,
    requestId: null,
    initiatedBy: 'somebody',
    evidencePolicy: 'open',
    trace: TRACE,
  });
  if (outcome.kind !== 'proposed') throw new Error(outcome.kind);
  return { first, updateId, eventId: outcome.eventId };
}

const apply = ({ tenantId, subjectId, envelopeHash }: SnapshotToWrite, updateId: string) =>
  new SnapshotWriteStore(world.database.sql).append(
    snapshot({ tenantId, subjectId, snapshotVersion: 2, prevHash: envelopeHash, updateId }),
  );

const withdraw = (tenantId: string, updateId: string) =>
  new UpdateStore(world.database.sql).withdraw(
    { tenantId, principalId: 'tenant_editor', updateId, subject: null },
    TRACE,
  );

it('announces each status in the statement of the change, with the data of that moment', async () => {
  const { first, updateId, eventId } = await propose();
  world.sent.length = 0;
  const applied = await apply(first, updateId);
  expect(world.sent).toEqual(['snapshot_append']);
  if (applied.kind !== 'written') throw new Error(applied.kind);
  const events = await eventsOf(updateId);
  expect(events.map((event) => [event.event_type, event.event_id, event.tenant_id, event.request_id])).toEqual([
    ['update.proposed', eventId, 'acme', 'request-1'],
    ['update.applied', applied.appliedEventId, 'acme', 'request-1'],
  ]);
  expect(events.map(({ body }) => body)).toEqual([null, null]);

  // Both bodies are built after the update was applied, but the first one describes the proposal.
  await new OutboxStore(world.database.sql).fanOut(
    events.map((event) => event.event_id),
    { first: 16, next: 50 },
  );
  const [proposed, becameApplied] = (await eventsOf(updateId)).map(({ body }) => JSON.parse(body ?? ''));
  const data = {
    update_id: updateId,
    subject: { subject_type: first.subjectType, subject_id: first.subjectId },
    base_snapshot_id: first.snapshotId,
    base_snapshot_version: 1,
    proposed_by: 'tenant_proposer',
  };
  expect(proposed).toMatchObject({ id: `evt_${eventId}`, type: 'update.proposed', tenant_id: 'acme' });
  expect(proposed.data).toEqual({
    ...data,
    status: 'proposed',
    applied_snapshot_id: null,
    applied_snapshot_version: null,
  });
  const { rows } = await owner.query<{ id: string }>(
    'SELECT applied_snapshot_id AS id FROM updates WHERE update_id = $1',
    [updateId],
  );
  expect(becameApplied.data).toEqual({
    ...data,
    status: 'applied',
    applied_snapshot_id: rows[0]?.id,
    applied_snapshot_version: 2,
  });
});

it('announces a withdrawal once', async () => {
  const { updateId } = await propose();
  const outcomes = await Promise.all([withdraw('acme', updateId), withdraw('acme', updateId)]);
  const told = outcomes.map(({ eventId }) => eventId).filter((eventId) => eventId !== null);
  expect(told).toHaveLength(1);
  const events = await eventsOf(updateId);
  expect(events.map(({ event_type }) => event_type)).toEqual(['update.proposed', 'update.withdrawn']);
  expect(events[1]?.event_id).toBe(told[0]);
});

it('stores no event without a subscription or for a refusal', async () => {
  const unheard = await propose('beta');
  expect(unheard.eventId).toBeNull();
  expect(await apply(unheard.first, unheard.updateId)).toMatchObject({ appliedEventId: null });
  expect(await eventsOf(unheard.updateId)).toEqual([]);

  const { first, updateId } = await propose();
  expect(await withdraw('acme', updateId)).toMatchObject({ isWithdrawn: true });
  expect(await apply(first, updateId)).toMatchObject({ kind: 'refused' });
  expect((await eventsOf(updateId)).map(({ event_type }) => event_type)).not.toContain('update.applied');
});

it('stores a separate event for each proposal of a shared statement', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, (_, index) => propose(index % 2 === 0 ? 'acme' : 'beta')));
  for (const [index, { updateId, eventId }] of made.entries()) {
    const events = await eventsOf(updateId);
    expect(events.map(({ event_id }) => event_id)).toEqual(index % 2 === 0 ? [eventId] : []);
  }
});
