import { randomUUID } from 'node:crypto';
import { ALL_SUBJECTS, type EventBody, isJsonObject, type SubjectRef } from '@iss/domain';
import type { Client } from 'pg';
import { addTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { GrantEndStore } from '../grants/grant-end.store';
import { GrantStore, type GrantToCreate } from '../grants/grant.store';
import { type SnapshotToAppend, type SnapshotToWrite, SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { DeliveryStore } from './delivery.store';
import { OutboxProjectionStore } from './outbox-projection.store';
import { OutboxStore } from './outbox.store';

let world: SharedWorld;
let admin: Client;
let grants: GrantStore;
let ends: GrantEndStore;

const owner = (tenantId: string) => ({ tenantId, principalId: 'tenant_owner', requestId: 'r' });

beforeAll(async () => {
  world = await openSharedWorld();
  ({ admin } = world);
});

afterAll(() => world?.close());

beforeEach(async () => {
  await world.empty();
  grants = new GrantStore(world.database.sql);
  ends = new GrantEndStore(world.database.sql);
  for (const tenant of ['acme', 'bank', 'corp']) await addTenant(world, tenant);
});

async function subscribe(tenantId: string, types: readonly string[], paths?: readonly string[]): Promise<void> {
  await admin.query(
    `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, paths, secret_sealed, secret_fingerprint)
     VALUES (gen_random_uuid(), $1, 'https://example.com/hook', $2, $3, 'sealed', 'f')`,
    [tenantId, types, paths],
  );
}

async function write(
  tenantId = 'acme',
  before?: SnapshotToWrite,
  change: Partial<SnapshotToAppend> = {},
): Promise<SnapshotToWrite> {
  const writes = new SnapshotWriteStore(world.database.sql);
  if (before === undefined) {
    const first = snapshot({ tenantId });
    await writes.create(first);
    return first;
  }
  const { subjectId, envelopeHash: prevHash, snapshotVersion } = before;
  const next = snapshot({ ...change, tenantId, subjectId, prevHash, snapshotVersion: snapshotVersion + 1 });
  await writes.append(next);
  return next;
}

async function grant(
  { subjectType, subjectId }: SubjectRef,
  granteeTenantId: string,
  terms: Partial<Pick<GrantToCreate, 'scopes' | 'paths' | 'startsAt' | 'expiresAt'>> = {},
): Promise<string> {
  const given: GrantToCreate = {
    ...{ grantId: randomUUID(), granteeTenantId, subjectType, subjectId, purpose: null },
    ...{ scopes: ['read_latest'], paths: null, startsAt: null, expiresAt: null },
    ...terms,
  };
  expect(await grants.create(owner('acme'), [given])).toMatchObject([{ kind: 'granted' }]);
  return given.grantId;
}

/** Records the marked facts. Returns the ids of the resulting events. */
async function project(limit = 2): Promise<string[]> {
  const projection = new OutboxProjectionStore(world.database.sql);
  const ids: string[] = [];
  for (let isMore = true; isMore;) {
    const step = await projection.project(limit);
    ids.push(...step.eventIds);
    ({ isMore } = step);
  }
  return ids;
}

/** Returns the bodies of all events, except those of an owner about its own snapshots. */
async function bodies(): Promise<EventBody[]> {
  const { rows } = await admin.query<{ body: string }>(
    `SELECT body FROM outbox_events WHERE event_type <> 'identity.snapshot.created' ORDER BY created_at, event_id`,
  );
  return rows.map(({ body }) => JSON.parse(body) as EventBody);
}
const briefs = async () => (await bodies()).map(({ tenant_id, type }) => `${tenant_id} ${type}`).sort();

const ALL = ['shared.snapshot.created', 'grant.created', 'grant.revoked', 'grant.expiring', 'grant.expired'];

it('notifies subscribed grantees once, and both tenants of a grant', async () => {
  await subscribe('acme', ALL);
  await subscribe('bank', ALL);
  const first = await write();
  const grantId = await grant(first, 'bank');
  await grant(first, 'corp');
  const second = await write('acme', first);
  const ids = await project();
  expect(await briefs()).toEqual([
    'acme grant.created',
    'acme grant.created',
    'bank grant.created',
    // For the version that was written after the grant. The event of the grant announces the earlier ones.
    'bank shared.snapshot.created',
  ]);
  expect(ids).toHaveLength(4);
  expect(await project()).toEqual([]);
  const told = (await bodies()).find(({ type }) => type === 'shared.snapshot.created');
  expect(told).toMatchObject({
    tenant_id: 'bank',
    data: {
      owner_tenant_id: 'acme',
      snapshot_version: 2,
      subject: { subject_type: second.subjectType, subject_id: second.subjectId },
      snapshot_id: second.snapshotId,
      envelope_hash: second.envelopeHash,
      prev_hash: first.envelopeHash,
    },
  });
  await grants.revoke(owner('acme'), grantId);
  await write('acme', second);
  await project();
  expect((await briefs()).filter((brief) => /revoked|shared/.test(brief))).toEqual([
    'acme grant.revoked',
    'bank grant.revoked',
    'bank shared.snapshot.created',
  ]);
  const [revoked] = (await bodies()).filter(({ type }) => type === 'grant.revoked');
  expect(revoked?.data).toEqual({
    grant_id: grantId,
    owner_tenant_id: 'acme',
    grantee_tenant_id: 'bank',
    subject: { subject_type: first.subjectType, subject_id: first.subjectId },
    scopes: ['read_latest'],
    paths: null,
    starts_at: null,
    expires_at: null,
  });
});

it('does not notify tenants without the scope, or about facts before their subscription', async () => {
  await subscribe('bank', ALL);
  await grant(await write(), 'bank', { scopes: ['read_diff'] });
  const shared = await write();
  await grant(shared, 'corp');
  await project();
  expect(await briefs()).toEqual(['bank grant.created']);
  await write('acme', shared);
  await subscribe('corp', ALL);
  await project();
  expect(await briefs()).toEqual(['bank grant.created']);
});

it('sends each reader its visible changes, and delivers to a subscription with paths only those', async () => {
  const TYPE = 'shared.snapshot.created';
  const [a, b, c] = ['/attributes/a', '/attributes/b', '/attributes/c'] as const;
  await subscribe('bank', [TYPE]);
  for (const path of [a, b, c]) await subscribe('bank', [TYPE], [path]);
  await subscribe('corp', [TYPE], [c]);
  const first = await write();
  await grant(first, 'bank', { paths: [`${a}/x`, b] });
  await grant(first, 'corp');
  const known = { changedBy: '""', origins: Buffer.from([1, 2]), changeKind: 'correction' } as const;
  await write('acme', first, { ...known, changedPaths: JSON.stringify([`${a}/x/y`, `${a}/z`, c]) });
  const eventIds = await project();
  await new OutboxStore(world.database.sql).fanOut(eventIds, { first: 16, next: 16 });
  expect((await bodies()).map(({ tenant_id, data }) => [tenant_id, data]).sort()).toMatchObject([
    ['bank', { change_kind: 'correction', changed_paths: [`${a}/x/y`] }],
    ['corp', { change_kind: 'correction', changed_paths: [`${a}/x/y`, `${a}/z`, c] }],
  ]);
  const { rows } = await admin.query<{ tenant_id: string; paths: string[] | null }>(
    'SELECT d.tenant_id, s.paths FROM deliveries d JOIN webhook_subscriptions s USING (subscription_id) ORDER BY 1, 2',
  );
  expect(rows).toEqual([
    { tenant_id: 'bank', paths: [a] },
    { tenant_id: 'bank', paths: null },
    { tenant_id: 'corp', paths: [c] },
  ]);
});

it('stores no event in a failed batch, and each event once in later ones', async () => {
  await subscribe('bank', ALL);
  const first = await write();
  await grant(first, 'bank');
  await write('acme', first);
  await admin.query('REVOKE INSERT ON outbox_events FROM iss_app');
  await expect(project()).rejects.toThrow('permission denied');
  await admin.query('GRANT INSERT ON outbox_events TO iss_app');
  await Promise.all([project(), project()].map((one) => one.catch(() => undefined)));
  await project();
  expect(await briefs()).toEqual(['bank grant.created', 'bank shared.snapshot.created']);
});

it.each(['shared.snapshot.created', 'evidence.revoked'])(
  'checks the grant for a %s before each attempt',
  async (type) => {
    await subscribe('bank', ['shared.snapshot.created']);
    const first = await write();
    const grantId = await grant(first, 'bank');
    await write('acme', first);
    const [eventId = ''] = await project();
    const { pending } = await new OutboxStore(world.database.sql).fanOut([eventId], { first: 16, next: 16 });
    const deliveryId = pending[0]?.deliveryId ?? '';
    await admin.query('UPDATE deliveries SET event_type = $1', [type]);
    const deliveries = new DeliveryStore(world.database.sql, { leaseMs: 60_000, disableAfterMs: 60_000 });
    const row = async () =>
      (await admin.query('SELECT status, skipped_reason, attempt FROM deliveries WHERE delivery_id = $1', [deliveryId]))
        .rows[0];
    const again = () =>
      admin.query(
        `UPDATE deliveries SET status = 'pending', lease_until = NULL, skipped_reason = NULL, finished_at = NULL, next_at = now()`,
      );
    expect(await deliveries.claim(deliveryId)).toMatchObject({ attempt: 1, eventType: type });
    await grants.revoke(owner('acme'), grantId);
    await again();
    expect(await deliveries.claim(deliveryId)).toBeNull();
    expect(await row()).toEqual({ status: 'skipped', skipped_reason: 'no_grant', attempt: 1 });
    const onOne = await grant(first, 'bank', { scopes: ['read_diff'] });
    await again();
    expect(await deliveries.claim(deliveryId)).toBeNull();
    await admin.query(`UPDATE grants SET scopes = '{read_lineage}' WHERE revoked_at IS NULL`);
    await again();
    expect(await deliveries.claim(deliveryId)).toMatchObject({ attempt: 2 });
    await grants.revoke(owner('acme'), onOne);
    const onAll = await grant(ALL_SUBJECTS, 'bank');
    await again();
    expect(await deliveries.claim(deliveryId)).toBeNull();
    await grants.accept(owner('bank'), onAll);
    await again();
    expect(await deliveries.claim(deliveryId)).toMatchObject({ attempt: 3 });
    await admin.query(`UPDATE webhook_subscriptions SET status = 'disabled'`);
    await again();
    expect(await deliveries.claim(deliveryId)).toBeNull();
    expect(await row()).toMatchObject({ status: 'skipped', skipped_reason: 'subscription_inactive' });
  },
);

it('announces each expiry of a grant once to both tenants, but not after a revocation', async () => {
  await subscribe('acme', ['grant.expiring', 'grant.expired']);
  await subscribe('bank', ['grant.expiring', 'grant.expired']);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  const soon = await grant(await write(), 'bank', { expiresAt: inDays(6) });
  const late = await grant(await write(), 'bank', { expiresAt: inDays(8) });
  const gone = await grant(await write(), 'bank', { expiresAt: inDays(1) });
  await grants.revoke(owner('acme'), gone);
  // Expired before the worker looked, and before the subscription.
  await grant(await write(), 'bank', { expiresAt: inDays(1) });
  await admin.query(`UPDATE grants SET expires_at = now() - interval '1 day' WHERE grant_id NOT IN ($1, $2, $3)`, [
    soon,
    late,
    gone,
  ]);
  const told = async (): Promise<string[]> => {
    for (const tell of [() => ends.announceExpiring(2), () => ends.announceExpired(2)]) while ((await tell()).isMore);
    return (await bodies()).map(
      ({ tenant_id, type, data }) => `${tenant_id} ${type} ${isJsonObject(data) ? String(data['grant_id']) : ''}`,
    );
  };
  const both = (type: string, grantId: string) => [`acme ${type} ${grantId}`, `bank ${type} ${grantId}`];
  const first = both('grant.expiring', soon);
  expect((await told()).sort()).toEqual(first);
  expect((await told()).sort()).toEqual(first);
  // With another expiry, both are notified again when it is near.
  await admin.query('UPDATE grants SET expires_at = $2 WHERE grant_id = $1', [soon, inDays(30)]);
  expect(await told()).toHaveLength(2);
  await admin.query('UPDATE grants SET expires_at = $2 WHERE grant_id = $1', [soon, inDays(5)]);
  await admin.query('UPDATE grants SET expires_at = now() WHERE grant_id = $1', [late]);
  const last = [...first, ...first, ...both('grant.expired', late)].sort();
  expect((await told()).sort()).toEqual(last);
  const steps = await Promise.all([ends.announceExpired(10), ends.announceExpired(10), told()]);
  expect(steps.at(-1)).toHaveLength(last.length);
});

it('announces each start of a grant once to both tenants, but not after a revocation', async () => {
  for (const tenantId of ['acme', 'bank']) await subscribe(tenantId, ['grant.started']);
  const future = new Date(Date.now() + 86_400_000);
  const starting = await grant(await write(), 'bank', { startsAt: future });
  const gone = await grant(await write(), 'bank', { startsAt: future });
  await grant(await write(), 'bank');
  await grants.revoke(owner('acme'), gone);
  const begin = () => admin.query(`UPDATE grants SET starts_at = now() WHERE starts_at > now() AND revoked_at IS NULL`);
  const told = async (): Promise<string[]> => {
    while ((await ends.announceStarted(1)).isMore);
    return (await bodies()).map(
      ({ tenant_id, type, data }) => `${tenant_id} ${type} ${isJsonObject(data) ? String(data['grant_id']) : ''}`,
    );
  };
  expect(await told()).toEqual([]);
  await begin();
  const both = ['acme', 'bank'].map((tenantId) => `${tenantId} grant.started ${starting}`);
  expect((await told()).sort()).toEqual(both);
  expect((await told()).sort()).toEqual(both);
  await admin.query('UPDATE grants SET starts_at = $2 WHERE grant_id = $1', [starting, future]);
  await begin();
  expect((await told()).sort()).toEqual([...both, ...both].sort());
});

it('projects one fact per step if together they have too many readers', async () => {
  const READERS = ['bank', 'corp'];
  for (const tenantId of READERS) await subscribe(tenantId, ['shared.snapshot.created']);
  const first = await write();
  for (const tenantId of READERS) await grant(first, tenantId);
  await project();
  await write('acme', await write('acme', first));
  const projection = new OutboxProjectionStore(world.database.sql);
  expect(await projection.project(10, 2)).toEqual({ eventIds: [expect.any(String), expect.any(String)], isMore: true });
  expect((await projection.project(10, 2)).eventIds).toHaveLength(2);
  expect(await briefs()).toEqual(READERS.flatMap((tenantId) => Array(2).fill(`${tenantId} shared.snapshot.created`)));
  expect(await project()).toEqual([]);
});
