import { randomUUID } from 'node:crypto';
import { buildEventBody, DomainError } from '@iss/domain';
import { Client } from 'pg';
import { addTenant, openWorld, snapshot, TRACE, type World } from '../../testing/world';
import { SnapshotReadStore } from './snapshot-read.store';
import { SnapshotWriteStore, type SnapshotToAppend, type WriteOutcome } from './snapshot-write.store';
import { UpdateStore } from '../updates/update.store';
import { OutboxStore } from '../webhooks/outbox.store';

let world: World;
let owner: Client;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  await addTenant(world, 'beta');
  owner = new Client({ connectionString: world.url });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  await world?.close();
});

const count = async (query: string, values: unknown[] = []): Promise<number> => {
  const { rows } = await owner.query<{ count: string }>(query, values);
  return Number(rows[0]?.count);
};

/** Returns the event's body, which is built with its first deliveries. */
async function bodyOf(eventId: string): Promise<string | undefined> {
  await new OutboxStore(world.database.sql).fanOut([eventId], { first: 16, next: 50 });
  const { rows } = await owner.query<{ body: string }>('SELECT body FROM outbox_events WHERE event_id = $1', [eventId]);
  return rows[0]?.body;
}

/** Returns the kind of each outcome, or the code of the error. */
async function kinds(outcomes: Promise<WriteOutcome>[]): Promise<string[]> {
  const settled = await Promise.allSettled(outcomes);
  return settled.map((result) => {
    if (result.status === 'fulfilled') return result.value.kind;
    return result.reason instanceof DomainError ? result.reason.code : String(result.reason);
  });
}

describe('SnapshotWriteStore.create', () => {
  it('writes the subject and its snapshot in one statement', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    world.sent.length = 0;
    const first = snapshot();
    await expect(store.create(first)).resolves.toMatchObject({ kind: 'written', eventId: null });
    expect(world.sent).toEqual(['snapshot_create']);
    const read = await new SnapshotReadStore(world.database.sql).read(
      { tenantId: 'acme', principalId: 'tenant_reader' },
      { kind: 'latest', subject: first },
      { envelope: true },
    );
    expect(read.facts).toEqual({
      membership: { role: 'tenant_reader', status: 'active', allowCounterpartyAccess: false },
      ownsSubject: true,
      grantScopes: null,
      grantPaths: [],
    });
    expect(read.snapshot).toMatchObject({ envelope: first.envelope, envelopeHash: first.envelopeHash, prevHash: null });
  });

  it('refuses a wrong role, a stranger, a taken snapshot_id and a subject of another owner', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const taken = snapshot();
    await store.create(taken);
    const refused: [SnapshotToAppend, Record<string, unknown>][] = [
      [snapshot({ principalId: 'tenant_proposer' }), { facts: { membership: { role: 'tenant_proposer' } } }],
      [snapshot({ principalId: 'stranger' }), { facts: { membership: null } }],
      [snapshot({ snapshotId: taken.snapshotId }), { snapshotIdTaken: true }],
      [snapshot({ subjectId: taken.subjectId, tenantId: 'beta' }), { headVersion: 1 }],
    ];
    for (const [row, reason] of refused) {
      await expect(store.create(row)).resolves.toMatchObject({ kind: 'refused', ...reason });
    }
    const orphans = `SELECT count(*) FROM subjects s WHERE NOT EXISTS
      (SELECT FROM snapshots n WHERE n.subject_key = s.subject_key)`;
    expect(await count(orphans)).toBe(0);
  });

  it('returns a separate outcome for each row of a shared statement', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const taken = snapshot();
    await store.create(taken);
    world.sent.length = 0;
    const rows = [
      snapshot(),
      snapshot({ principalId: 'stranger' }),
      snapshot({ snapshotId: taken.snapshotId }),
      snapshot(),
      // Its hash is wrong, so the database refuses the whole statement. The other rows must not notice.
      snapshot({ envelope: '{}' }),
      snapshot(),
    ];
    const results = await kinds(rows.map((row) => store.create(row)));
    expect(results.filter((_, index) => index !== 4)).toEqual(['written', 'refused', 'refused', 'written', 'written']);
    expect(results[4]).toMatch(/row-level security/);
    expect(world.sent[0]).toBe('snapshot_create');
  });

  it('returns the reason for a refused row among written ones', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const owned = snapshot();
    await store.create(owned);
    await store.append(snapshot({ subjectId: owned.subjectId, snapshotVersion: 2, prevHash: owned.envelopeHash }));
    await owner.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       SELECT $1, 'acme', 'beta', subject_key, '{read_latest}' FROM subjects WHERE subject_id = $2`,
      [randomUUID(), owned.subjectId],
    );
    const membership = { role: 'tenant_editor', status: 'active', allowCounterpartyAccess: false };
    const asBeta = (snapshotVersion: number): SnapshotToAppend =>
      snapshot({ subjectId: owned.subjectId, tenantId: 'beta', snapshotVersion });
    const refused = {
      kind: 'refused',
      facts: { membership, ownsSubject: false, grantScopes: ['read_latest'], grantPaths: [] },
      snapshotIdTaken: false,
      evidencePolicy: 'open',
      headVersion: 2,
    };
    const creates = [store.create(snapshot()), store.create(asBeta(1)), store.create(snapshot())];
    expect(await kinds(creates)).toEqual(['written', 'refused', 'written']);
    await expect(creates[1]).resolves.toEqual(refused);
    await expect(store.append(asBeta(3))).resolves.toEqual(refused);
  });

  it('writes the same subjects from two processes in opposite orders without a deadlock', async () => {
    const subjectIds = Array.from({ length: 24 }, () => `crossed-${randomUUID()}`);
    const writes = [subjectIds, [...subjectIds].reverse()].map((ids) => {
      const store = new SnapshotWriteStore(world.database.sql);
      return ids.map((subjectId) => store.create(snapshot({ subjectId })));
    });
    const results = await kinds(writes.flat());
    expect(results.filter((kind) => kind === 'written')).toHaveLength(subjectIds.length);
    expect(results.filter((kind) => kind === 'refused')).toHaveLength(subjectIds.length);
  });

  it('lets one of two concurrent tenants own a subject', async () => {
    const subjectId = `raced-${randomUUID()}`;
    const stores = [new SnapshotWriteStore(world.database.sql), new SnapshotWriteStore(world.database.sql)];
    const outcomes = Array.from({ length: 50 }, (_, index) =>
      stores[index % 2]?.create(snapshot({ subjectId, tenantId: index % 2 === 0 ? 'acme' : 'beta' })),
    ).filter((outcome) => outcome !== undefined);
    const results = await kinds(outcomes);
    expect(results.filter((kind) => kind === 'written')).toHaveLength(1);
    expect(await count('SELECT count(*) FROM subjects WHERE subject_id = $1', [subjectId])).toBe(1);
    expect(results.filter((kind) => kind !== 'written' && kind !== 'refused' && kind !== 'conflict')).toEqual([]);
  });

  it('writes an event for a tenant that has a subscription to it', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    await owner.query(
      `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
       VALUES ($1, 'beta', 'https://example.com', '{identity.snapshot.created}', '', '')`,
      [randomUUID()],
    );
    const heard = snapshot({ tenantId: 'beta', subjectId: 'Zürich "Öl" \\ 🏔 \u2028 \u001f </>' });
    const asked = Date.now();
    const outcome = await store.create(heard);
    if (outcome.kind !== 'written' || outcome.eventId === null) throw new Error('not written, or not announced');
    const { eventId, createdAt } = outcome;
    expect(eventId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = parseInt(eventId.replace('-', '').slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(asked);
    expect(time).toBeLessThanOrEqual(Date.now());
    const body = buildEventBody({
      eventId,
      type: 'identity.snapshot.created',
      createdAt,
      tenantId: 'beta',
      data: {
        subject: { subject_type: heard.subjectType, subject_id: heard.subjectId },
        snapshot_id: heard.snapshotId,
        snapshot_version: 1,
        envelope_hash: heard.envelopeHash,
        prev_hash: null,
        change_kind: 'change',
        changed_paths: null,
      },
    });
    expect(await bodyOf(eventId)).toBe(body);
  });

  it('writes a separate event for each row of a shared statement', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const rows = [
      snapshot(),
      snapshot({ tenantId: 'beta', principalId: 'stranger' }),
      ...Array.from({ length: 6 }, (_, index) => snapshot({ tenantId: index % 2 === 0 ? 'beta' : 'acme' })),
    ];
    const before = await count('SELECT count(*) FROM outbox_events');
    const outcomes = await Promise.all(rows.map((row) => store.create(row)));
    let events = 0;
    for (const [index, outcome] of outcomes.entries()) {
      const isHeard = rows[index]?.tenantId === 'beta' && outcome.kind === 'written';
      expect(outcome.kind).toBe(index === 1 ? 'refused' : 'written');
      expect(outcome.kind === 'written' && outcome.eventId !== null).toBe(isHeard);
      if (outcome.kind !== 'written' || outcome.eventId === null) continue;
      events += 1;
      const { data } = JSON.parse((await bodyOf(outcome.eventId)) ?? '');
      expect(data).toMatchObject({
        snapshot_id: rows[index]?.snapshotId,
        envelope_hash: rows[index]?.envelopeHash,
      });
    }
    expect(events).toBe(3);
    expect(await count('SELECT count(*) FROM outbox_events')).toBe(before + events);
  });
});

describe('SnapshotWriteStore.append', () => {
  it('announces a later version with the hash of the previous one', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const first = snapshot({ tenantId: 'beta' });
    await store.create(first);
    const later = { ...next(first, null), tenantId: 'beta' };
    const outcome = await store.append(later);
    if (outcome.kind !== 'written' || outcome.eventId === null) throw new Error('not written, or not announced');
    const { data } = JSON.parse((await bodyOf(outcome.eventId)) ?? '');
    expect(data).toMatchObject({ prev_hash: first.envelopeHash, snapshot_version: 2 });
  });

  const propose = async (first: SnapshotToAppend): Promise<string> => {
    const updateId = randomUUID();
    const outcome = await new UpdateStore(world.database.sql).propose({
      updateId,
      tenantId: 'acme',
      principalId: 'tenant_proposer',
      subjectType: first.subjectType,
      subjectId: first.subjectId,
      baseSnapshotId: first.snapshotId,
      baseSnapshotVersion: 1,
      patchOps: '[]',
      changeKind: 'change' as const,
      requestId: null,
      initiatedBy: null,
      evidencePolicy: 'open',
      trace: TRACE,
    });
    expect(outcome.kind).toBe('proposed');
    return updateId;
  };
  const next = (first: SnapshotToAppend, updateId: string | null): SnapshotToAppend =>
    snapshot({ subjectId: first.subjectId, snapshotVersion: 2, prevHash: first.envelopeHash, updateId });

  it('gives no version an earlier time than its predecessor, even if the clock went back', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const first = snapshot();
    await store.create(first);
    await owner.query('SET session_replication_role = replica');
    await owner.query(`UPDATE snapshots SET created_at = '2999-01-01T00:00:00Z' WHERE snapshot_id = $1`, [
      first.snapshotId,
    ]);
    await owner.query('RESET session_replication_role');
    const outcome = await store.append(next(first, null));
    expect(outcome).toMatchObject({ kind: 'written', createdAt: new Date('2999-01-01T00:00:00Z') });
  });

  it('applies a proposal once under concurrency', async () => {
    const stores = [new SnapshotWriteStore(world.database.sql), new SnapshotWriteStore(world.database.sql)];
    const first = snapshot();
    await stores[0]?.create(first);
    const updateId = await propose(first);
    const results = await kinds(
      Array.from({ length: 50 }, (_, index) => stores[index % 2]?.append(next(first, updateId))).filter(
        (outcome) => outcome !== undefined,
      ),
    );
    expect(results.filter((kind) => kind === 'written')).toHaveLength(1);
    expect(results.filter((kind) => !['written', 'refused', 'conflict'].includes(kind))).toEqual([]);
    expect(
      await count('SELECT count(*) FROM updates WHERE update_id = $1 AND status = $2', [updateId, 'applied']),
    ).toBe(1);
  });

  it('applies one of many concurrent proposals on a base and leaves the others proposed', async () => {
    const stores = [new SnapshotWriteStore(world.database.sql), new SnapshotWriteStore(world.database.sql)];
    const first = snapshot();
    await stores[0]?.create(first);
    const updateIds = await Promise.all(Array.from({ length: 30 }, () => propose(first)));
    const results = await kinds(
      updateIds
        .map((updateId, index) => stores[index % 2]?.append(next(first, updateId)))
        .filter((o) => o !== undefined),
    );
    expect(results.filter((kind) => kind === 'written')).toHaveLength(1);
    const states = 'SELECT count(*) FROM updates WHERE update_id = ANY($1) AND status = $2';
    expect(await count(states, [updateIds, 'applied'])).toBe(1);
    expect(await count(states, [updateIds, 'proposed'])).toBe(29);
  });

  it('refuses a gap, a stranger and a tenant that does not own the subject', async () => {
    const store = new SnapshotWriteStore(world.database.sql);
    const first = snapshot();
    await store.create(first);
    const rows = [
      snapshot({ subjectId: first.subjectId, snapshotVersion: 3 }),
      { ...next(first, null), principalId: 'stranger' },
      { ...next(first, null), tenantId: 'beta' },
    ];
    expect(await kinds(rows.map((row) => store.append(row)))).toEqual(['refused', 'refused', 'refused']);
    await expect(store.append(next(first, null))).resolves.toMatchObject({ kind: 'written' });
  });
});

describe('request_id of a proposal', () => {
  it('identifies one proposal under concurrency', async () => {
    const first = snapshot();
    await new SnapshotWriteStore(world.database.sql).create(first);
    const stores = [new UpdateStore(world.database.sql), new UpdateStore(world.database.sql)];
    const outcomes = await Promise.all(
      Array.from({ length: 25 }, () => stores)
        .flat()
        .map((store) =>
          store.propose({
            updateId: randomUUID(),
            tenantId: 'acme',
            principalId: 'tenant_proposer',
            subjectType: first.subjectType,
            subjectId: first.subjectId,
            baseSnapshotId: first.snapshotId,
            baseSnapshotVersion: 1,
            patchOps: '[]',
            changeKind: 'change' as const,
            requestId: `request-${first.subjectId}`,
            initiatedBy: null,
            evidencePolicy: 'open',
            trace: TRACE,
          }),
        ),
    );
    const ids = outcomes.map((outcome) => (outcome.kind === 'refused' ? null : outcome.update.updateId));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBeNull();
  });
});

it('the database sets the time of writes by the application, but not by its owner', async () => {
  const written = snapshot();
  await new SnapshotWriteStore(world.database.sql).create(written);
  const copy = (version: number, at: string) => `
    INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope,
                           created_at)
    SELECT subject_key, ${version}, gen_random_uuid(), tenant_id, generated_at, envelope_hash, envelope_hash, envelope, ${at}
      FROM snapshots WHERE snapshot_id = '${written.snapshotId}'
    RETURNING created_at = now() AS "isNow"`;
  const application = new Client({ connectionString: world.url, options: '-c role=iss_app' });
  await application.connect();
  for (const [version, at] of [`now() - interval '1 day'`, `now() + interval '1 day'`, 'now()'].entries()) {
    const { rows } = await application.query(copy(version + 2, at));
    expect(rows).toEqual([{ isNow: true }]);
  }
  await application.end();
  const { rows } = await owner.query(copy(5, `now() - interval '1 day'`));
  expect(rows).toEqual([{ isNow: false }]);
});

describe('the immutability of snapshots', () => {
  const CHANGES = ["UPDATE snapshots SET envelope = '{}'", 'DELETE FROM snapshots', 'TRUNCATE snapshots'];

  it.each(CHANGES)('refuses %s by the owner of the table', async (change) => {
    await new SnapshotWriteStore(world.database.sql).create(snapshot());
    await expect(owner.query(change)).rejects.toThrow(/snapshots are immutable/);
  });

  it.each(CHANGES)('refuses %s by the application', async (change) => {
    const application = new Client({ connectionString: world.url, options: '-c role=iss_app' });
    await application.connect();
    await expect(application.query(change)).rejects.toThrow(/permission denied/);
    await application.end();
  });
});
