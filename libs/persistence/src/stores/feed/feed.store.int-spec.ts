import { randomBytes, randomUUID } from 'node:crypto';
import { ALL_SUBJECTS, LOG_SALT_BYTES, type Scope } from '@iss/domain';
import { Client } from 'pg';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, snapshot, type World } from '../../testing/world';
import { GrantStore } from '../grants/grant.store';
import { LogIntegrationStore } from '../log/log-integration.store';
import { type SnapshotToWrite, SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { FeedIntegrationStore } from './feed-integration.store';
import { type Change, type ChangesRequest, FeedStore } from './feed.store';

let world: World;
let admin: Client;
let feeds: FeedStore;
let integration: FeedIntegrationStore;
let grants: GrantStore;
let writes: SnapshotWriteStore;

const TENANTS = ['acme', 'bank', 'corp', 'dock'] as const;
const OWNERS = ['tenant_owner'] as const;
const reader = (tenantId: string) => ({ tenantId, principalId: 'tenant_reader' });
const owner = (tenantId: string) => ({ tenantId, principalId: 'tenant_owner', requestId: 'r' });
const ALL: ChangesRequest = { after: -1, limit: 1_000, type: undefined, subjectType: undefined };

beforeEach(async () => {
  world = await openWorld();
  admin = new Client({ connectionString: world.url });
  await admin.connect();
  const { sql } = world.database;
  feeds = new FeedStore(sql);
  integration = new FeedIntegrationStore(sql);
  grants = new GrantStore(sql);
  writes = new SnapshotWriteStore(sql);
  for (const tenant of TENANTS) await addTenant(world, tenant);
  await admin.query(`UPDATE memberships SET allow_counterparty_access = true WHERE principal_id = 'tenant_reader'`);
});

afterEach(async () => {
  await admin.end();
  await world.close();
});

/** Puts what waits into the log; its hashes are of no interest here. */
async function log(limit = 1_000): Promise<void> {
  await new LogIntegrationStore(world.database.sql).integrate(limit, async ({ size }, _edge, facts) => ({
    salts: randomBytes(LOG_SALT_BYTES * facts.length),
    added: [],
    tree: { size: size + facts.length, root: randomBytes(32) },
  }));
}

/** Puts what waits into the log and all of the log into the feeds. */
async function feed(): Promise<void> {
  await log();
  while ((await integration.feed())?.isMore === true);
}

async function write(tenantId = 'acme', version = 1, before?: SnapshotToWrite): Promise<SnapshotToWrite> {
  const next = snapshot({
    tenantId,
    snapshotVersion: version,
    ...(before === undefined ? {} : { subjectId: before.subjectId, prevHash: before.envelopeHash }),
  });
  const outcome = before === undefined ? await writes.create(next) : await writes.append(next);
  expect(outcome.kind).toBe('written');
  return next;
}

async function grant(
  { tenantId, subjectType, subjectId }: SnapshotToWrite,
  granteeTenantId: string,
  scopes: Scope[] = ['read_latest'],
): Promise<string> {
  const given = {
    grantId: randomUUID(),
    granteeTenantId,
    subjectType,
    subjectId,
    scopes,
    expiresAt: null,
    purpose: null,
  };
  expect(await grants.create(owner(tenantId), [given], OWNERS)).toMatchObject([{ kind: 'granted' }]);
  return given.grantId;
}

const revoke = (tenantId: string, grantId: string) => grants.revoke(owner(tenantId), grantId, OWNERS);

/** Every page from a place on. */
async function read(tenantId: string, limit = 1_000, request: Partial<ChangesRequest> = {}): Promise<Change[]> {
  const items: Change[] = [];
  let { after } = ALL;
  for (;;) {
    const { changes } = await feeds.changes(reader(tenantId), { ...ALL, limit, ...request, after });
    expect(changes.items.length).toBeLessThanOrEqual(limit);
    items.push(...changes.items);
    if (!changes.hasMore) return items;
    expect(changes.next).toBeGreaterThan(after);
    after = changes.next;
  }
}

const brief = ({ fact }: Change): string =>
  fact.type === 'snapshot.created' ? `${fact.tenantId} ${fact.snapshotVersion}` : `${fact.tenantId} ${fact.type}`;
const briefs = async (tenantId: string): Promise<string[]> => (await read(tenantId)).map(brief);

it('shows what a tenant owns, what it was granted, and the grants between the two', async () => {
  const first = await write();
  const second = await write('acme', 2, first);
  const grantId = await grant(first, 'bank');
  await write('acme', 3, second);
  await write('corp');
  await feed();
  expect(await briefs('acme')).toEqual([
    'acme tenant.owner_changed',
    'acme 1',
    'acme 2',
    'acme grant.created',
    'acme 3',
  ]);
  expect(await briefs('bank')).toEqual([
    'bank tenant.owner_changed',
    'acme 1',
    'acme 2',
    'acme grant.created',
    'acme 3',
  ]);
  expect(await briefs('dock')).toEqual(['dock tenant.owner_changed']);
  await revoke('acme', grantId);
  // The very next read shows nothing of the subject, the parties see what they agreed on.
  expect(await briefs('bank')).toEqual(['bank tenant.owner_changed', 'acme grant.created']);
  await feed();
  const [, , revoked] = await read('bank');
  const { subjectType, subjectId } = first;
  expect(revoked).toMatchObject({
    fact: { type: 'grant.revoked', grantId, tenantId: 'acme' },
    subject: { subjectType, subjectId },
    granteeTenantId: 'bank',
  });
});

it('shows by a grant on all subjects whatever the grantor owns, from the first entry on', async () => {
  const first = await write();
  await write('corp');
  await feed();
  const given = { grantId: randomUUID(), granteeTenantId: 'bank', ...ALL_SUBJECTS, expiresAt: null, purpose: null };
  const scopes: Scope[] = ['read_lineage'];
  expect(await grants.create(owner('acme'), [{ ...given, scopes }], OWNERS)).toMatchObject([{ kind: 'granted' }]);
  await grant(first, 'bank', ['read_latest']);
  await write('acme', 2, first);
  await feed();
  await write();
  await feed();
  const all = ['bank tenant.owner_changed', 'acme 1', 'acme grant.created', 'acme grant.created', 'acme 2', 'acme 1'];
  expect(await briefs('bank')).toEqual(all);
  expect((await read('bank', 1)).map(brief)).toEqual(all);
  const [, , granted] = await read('bank');
  expect(granted?.subject).toEqual(ALL_SUBJECTS);
  await revoke('acme', given.grantId);
  expect(await briefs('bank')).toEqual(all.slice(0, -1));
});

it.each([
  ['read_latest', 2],
  ['read_lineage', 2],
  ['read_diff', 1],
  ['read_snapshot_by_id', 1],
] as const)('with %s alone a grantee sees %i entries', async (scope, count) => {
  const first = await write();
  await grant(first, 'bank', [scope]);
  await feed();
  expect((await read('bank')).filter(({ fact }) => fact.tenantId === 'acme')).toHaveLength(count);
});

it('asks for the flag, the role and the membership of who reads', async () => {
  await grant(await write(), 'bank');
  await feed();
  const seen = async (principalId: string) => {
    const { facts, changes } = await feeds.changes({ tenantId: 'bank', principalId }, ALL);
    return [facts.membership?.status, changes.items.map(brief)];
  };
  expect(await seen('tenant_owner')).toEqual(['active', ['bank tenant.owner_changed', 'acme grant.created']]);
  expect(await seen('nobody')).toEqual([undefined, []]);
  await admin.query(`UPDATE memberships SET status = 'removed' WHERE principal_id = 'tenant_reader'`);
  expect(await seen('tenant_reader')).toEqual(['removed', []]);
});

it('has what a grant opens, also where the write commits after the grant was logged', async () => {
  const first = await write();
  const late = new Client({ connectionString: world.url });
  await late.connect();
  await late.query('BEGIN');
  await late.query(
    `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
     SELECT subject_key, 2, gen_random_uuid(), 'acme', 'x', sha256('{}'), envelope_hash, '{}' FROM snapshots`,
  );
  await grant(first, 'bank');
  await feed();
  expect(await briefs('bank')).toEqual(['bank tenant.owner_changed', 'acme 1', 'acme grant.created']);
  const { changes } = await feeds.changes(reader('bank'), ALL);
  await late.query('COMMIT');
  await late.end();
  await feed();
  const rest = await feeds.changes(reader('bank'), { ...ALL, after: changes.next });
  expect(rest.changes.items.map(brief)).toEqual(['acme 2']);
});

it('goes on where a batch was broken off, and lets one process at a time', async () => {
  await write();
  await log();
  await admin.query('BEGIN');
  await admin.query('SELECT FROM log_feed FOR UPDATE');
  expect(await integration.feed()).toBeNull();
  await admin.query('ROLLBACK');
  await admin.query('REVOKE INSERT ON shared_feed FROM iss_app');
  await expect(integration.feed()).rejects.toThrow('permission denied');
  expect([await feeds.size(), await read('acme')]).toEqual([0, []]);
  await admin.query('GRANT INSERT ON shared_feed TO iss_app');
  expect(await integration.feed()).toMatchObject({ isMore: false });
  expect(await briefs('acme')).toEqual(['acme tenant.owner_changed', 'acme 1']);
});

it('passes over no entry whose fact a missing policy hides', async () => {
  await write();
  await log();
  await admin.query('DROP POLICY snapshots_read ON snapshots');
  await expect(integration.feed()).rejects.toThrow('the policy snapshots_read is missing');
  await admin.query('CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app USING (true)');
  await feed();
  expect(await briefs('acme')).toEqual(['acme tenant.owner_changed', 'acme 1']);
});

it('filters by type and by kind of subject', async () => {
  const first = await write();
  await grant(first, 'bank');
  await feed();
  const types = (await read('acme', 1, { type: 'grant.created' })).map(({ fact }) => fact.type);
  expect(types).toEqual(['grant.created']);
  expect(await read('acme', 1, { subjectType: 'individual' })).toEqual([]);
  expect(await read('acme', 1, { subjectType: 'organization' })).toHaveLength(2);
});

/** Deterministic, so that a failure can be looked at. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** What each tenant may see now, by the tables of facts alone. */
async function oracle(tenantId: string): Promise<number[]> {
  const { rows } = await admin.query<{ log_index: string }>(
    `SELECT e.log_index FROM log_entries e
       LEFT JOIN subjects s ON s.subject_key = e.subject_key
       LEFT JOIN grants g ON g.grant_id = e.grant_id
       LEFT JOIN owner_changes c ON c.owner_change_id = e.owner_change_id
      WHERE e.log_index < (SELECT size FROM log_feed)
        AND ($1 IN (s.owner_tenant_id, g.grantor_tenant_id, g.grantee_tenant_id, c.tenant_id)
             OR EXISTS (SELECT FROM grants l WHERE l.subject_key = e.subject_key AND l.grantee_tenant_id = $1
                           AND l.revoked_at IS NULL AND coalesce(l.expires_at, 'infinity') > now()
                           AND l.scopes && '{read_latest,read_lineage}'))
      ORDER BY 1`,
    [tenantId],
  );
  return rows.map((row) => Number(row.log_index));
}

it('is what the facts say, however grants come, go and come again between entries', async () => {
  const random = randomFrom(17);
  const heads: SnapshotToWrite[] = [];
  const live = new Map<string, { grantId: string; tenantId: string }>();
  const followed = new Map<string, number[]>(TENANTS.map((tenant) => [tenant, []]));
  const places = new Map<string, number>();
  for (let step = 0; step < 160; step++) {
    const tenant = TENANTS[random(TENANTS.length)] ?? 'acme';
    const at = random(heads.length);
    const head = heads[at];
    const grantee = TENANTS.filter((one) => one !== head?.tenantId)[random(TENANTS.length - 1)] ?? 'bank';
    const pair = `${head?.subjectId} ${grantee}`;
    const given = live.get(pair);
    const action = random(7);
    if (head === undefined || action === 0) heads.push(await write(tenant));
    else if (action < 3) heads[at] = await write(head.tenantId, head.snapshotVersion + 1, head);
    else if (action === 3 && given === undefined) {
      const scopes: Scope[] = random(3) === 0 ? ['read_diff'] : ['read_lineage'];
      live.set(pair, { grantId: await grant(head, grantee, scopes), tenantId: head.tenantId });
    } else if (action === 4 && given !== undefined) {
      if (random(2) === 0) await revoke(given.tenantId, given.grantId);
      else await admin.query('UPDATE grants SET expires_at = now() WHERE grant_id = $1', [given.grantId]);
      live.delete(pair);
    } else if (action === 5) await log(1 + random(20));
    else await integration.feed();
    // Who follows in small steps gets neither a gap nor a repeat of what is its own.
    const after = places.get(tenant) ?? -1;
    const { changes } = await feeds.changes(reader(tenant), { ...ALL, after, limit: 1 + random(4) });
    places.set(tenant, changes.next);
    followed.get(tenant)?.push(...changes.items.map(({ logIndex }) => logIndex));
  }
  await feed();
  for (const tenant of TENANTS) {
    const expected = await oracle(tenant);
    for (const limit of [1, 3, 1_000]) {
      expect({ tenant, limit, seen: (await read(tenant, limit)).map(({ logIndex }) => logIndex) }).toEqual({
        tenant,
        limit,
        seen: expected,
      });
    }
    const steps = followed.get(tenant) ?? [];
    expect(steps).toEqual([...new Set(steps)].sort((one, other) => one - other));
    const own = (await read(tenant)).filter(
      ({ fact, logIndex }) => fact.tenantId === tenant && logIndex <= (places.get(tenant) ?? -1),
    );
    expect(steps).toEqual(expect.arrayContaining(own.map(({ logIndex }) => logIndex)));
  }
}, 60_000);

it('reads what it shows, however much lies before and beside it', async () => {
  const first = await write();
  await grant(first, 'bank');
  await feed();
  // A tenant with many entries in lists of one and of many, and a grantee of thousands.
  await admin.query(`
    SET session_replication_role = replica;
    INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) SELECT 'organization', 's-' || n, 'acme' FROM generate_series(1, 3000) n;
    INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
    SELECT subject_key, 1, gen_random_uuid(), 'acme', 'x', sha256('{}'), '{}' FROM subjects WHERE subject_id LIKE 's-%';
    INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
    SELECT gen_random_uuid(), 'acme', 'bank', subject_key, '{read_latest}' FROM subjects WHERE subject_id LIKE 's-%';
    INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
    SELECT (SELECT size FROM log_tree) + row_number() OVER () - 1, 1, subject_key, 1, '0123456789abcdef' FROM subjects WHERE subject_id LIKE 's-%';
    UPDATE log_tree SET size = size + 3000;
    SET session_replication_role = DEFAULT;`);
  while ((await integration.feed())?.isMore === true);
  expect((await read('bank')).length).toBeGreaterThan(3_000);
  for (const tenantId of ['bank', 'acme']) {
    for (const after of [-1, 1_500]) {
      const { rows } = await admin.query<{ epoch: string }>(
        `SELECT concat_ws(' ', began_at, tableoid, pg_postmaster_start_time()) AS epoch FROM log_feed`,
      );
      const { changes } = await feeds.changes(reader(tenantId), { ...ALL, after, limit: 10 });
      const indexes = changes.items.map(({ logIndex }) => logIndex);
      // Rows of the lists that begin before the place and end behind it among them.
      expect(await rowsRead(world, 'change_places', { ...reader(tenantId), after, lookedAt: 11 })).toBeLessThan(30);
      // Ten items, each with its entry, version, subject and grant.
      expect(await rowsRead(world, 'changes', { epoch: rows[0]?.epoch ?? '', indexes })).toBeLessThan(50);
    }
  }
  const { rows } = await admin.query<{ subject_key: number }>(
    `SELECT subject_key::float8 FROM subjects WHERE subject_id LIKE 's-%' LIMIT 10`,
  );
  const inputs = rows.map(({ subject_key: subjectKey }) => ({ subjectKey, ownerTenantId: 'acme' }));
  expect(await rowsRead(world, 'changes_followed', { tenantId: 'bank', inputs })).toBeLessThan(30);
});

it('knows entries again, and none of them when the log was begun anew', async () => {
  const first = await write();
  await grant(first, 'bank');
  await feed();
  const [, before] = await read('bank');
  const [, again] = await read('bank');
  expect(again).toBe(before);
  await admin.query(`UPDATE log_feed SET began_at = now()`);
  const [, anew] = await read('bank');
  expect(anew).not.toBe(before);
  expect(anew).toEqual(before);
});
