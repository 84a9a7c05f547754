import { randomBytes, randomUUID } from 'node:crypto';
import { ALL_SUBJECTS, LOG_SALT_BYTES, type Scope } from '@iss/domain';
import { Client } from 'pg';
import { IS_FULL } from '../../../../../tools/testing/runs';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { GrantEndStore } from '../grants/grant-end.store';
import { GrantStore } from '../grants/grant.store';
import { LogIntegrationStore } from '../log/log-integration.store';
import { type SnapshotToAppend, type SnapshotToWrite, SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { FeedIntegrationStore } from './feed-integration.store';
import { type FeedChange, type ChangeEntry, type ChangesRequest, FeedStore } from './feed.store';

let world: SharedWorld;
let admin: Client;
let feeds: FeedStore;
let integration: FeedIntegrationStore;
let grants: GrantStore;
let writes: SnapshotWriteStore;

const TENANTS = ['acme', 'bank', 'corp', 'dock'] as const;
const reader = (tenantId: string) => ({ tenantId, principalId: 'tenant_reader' });
const owner = (tenantId: string) => ({ tenantId, principalId: 'tenant_owner', requestId: 'r' });
const ALL: ChangesRequest = {
  after: -1,
  limit: 1_000,
  type: undefined,
  subjectType: undefined,
  subjectId: undefined,
  from: null,
  paths: null,
};

beforeAll(async () => {
  world = await openSharedWorld();
  ({ admin } = world);
});

afterAll(() => world?.close());

beforeEach(async () => {
  await world.empty();
  const { sql } = world.database;
  feeds = new FeedStore(sql);
  integration = new FeedIntegrationStore(sql);
  grants = new GrantStore(sql);
  writes = new SnapshotWriteStore(sql);
  for (const tenant of TENANTS) await addTenant(world, tenant);
  await admin.query(`UPDATE memberships SET allow_counterparty_access = true WHERE principal_id = 'tenant_reader'`);
});

/** Adds waiting facts to the log. Its hashes are irrelevant here. */
async function log(limit = 1_000): Promise<void> {
  await new LogIntegrationStore(world.database.sql).integrate(limit, async ({ size }, _edge, facts) => ({
    salts: randomBytes(LOG_SALT_BYTES * facts.length),
    added: [],
    tree: { size: size + facts.length, root: randomBytes(32) },
  }));
}

/** Adds waiting facts to the log, and the whole log to the feeds. */
async function feed(): Promise<void> {
  await log();
  await feedOnly();
  while (await integration.copy());
}

/** Adds the whole log to the feeds, but makes no copies for grants on all subjects. */
async function feedOnly(): Promise<void> {
  while ((await integration.feed())?.isMore === true);
}

async function write(
  tenantId = 'acme',
  version = 1,
  before?: SnapshotToWrite,
  change: Partial<SnapshotToAppend> = {},
): Promise<SnapshotToWrite> {
  const next = snapshot({
    ...change,
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
  paths: readonly string[] | null = null,
): Promise<string> {
  const given = {
    grantId: randomUUID(),
    granteeTenantId,
    subjectType,
    subjectId,
    scopes,
    paths,
    startsAt: null,
    expiresAt: null,
    purpose: null,
  };
  expect(await grants.create(owner(tenantId), [given])).toMatchObject([{ kind: 'granted' }]);
  return given.grantId;
}

/** Creates a grant on all subjects that its grantee has not accepted. */
async function offerAll(tenantId: string, granteeTenantId: string): Promise<string> {
  const scopes: Scope[] = ['read_lineage'];
  const given = {
    grantId: randomUUID(),
    granteeTenantId,
    ...ALL_SUBJECTS,
    scopes,
    paths: null,
    startsAt: null,
    expiresAt: null,
    purpose: null,
  };
  expect(await grants.create(owner(tenantId), [given])).toMatchObject([{ kind: 'granted' }]);
  return given.grantId;
}

const accept = (tenantId: string, grantId: string) => grants.accept(owner(tenantId), grantId);

/** Creates an accepted grant on all subjects. */
async function grantAll(tenantId: string, granteeTenantId: string): Promise<string> {
  const grantId = await offerAll(tenantId, granteeTenantId);
  await accept(granteeTenantId, grantId);
  return grantId;
}

const revoke = (tenantId: string, grantId: string) => grants.revoke(owner(tenantId), grantId);

/** Returns the entries on all pages from a place on. */
async function read(tenantId: string, limit?: number, request?: Partial<ChangesRequest>): Promise<ChangeEntry[]> {
  return (await readChanges(tenantId, limit, request)).map(({ entry }) => entry);
}

async function readChanges(
  tenantId: string,
  limit = 1_000,
  request: Partial<ChangesRequest> = {},
): Promise<FeedChange[]> {
  const items: FeedChange[] = [];
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

const brief = ({ fact }: ChangeEntry): string =>
  fact.type === 'snapshot.created' ? `${fact.tenantId} ${fact.snapshotVersion}` : `${fact.tenantId} ${fact.type}`;
const briefs = async (tenantId: string): Promise<string[]> => (await read(tenantId)).map(brief);

it('shows a tenant its own subjects, granted subjects, and its grants', async () => {
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
  // The next read shows nothing of the subject any more, but the parties still see their agreement.
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

it('shows all subjects of the grantor to a grantee on all subjects, from the first entry', async () => {
  const first = await write();
  await write('corp');
  await feed();
  const grantId = await grantAll('acme', 'bank');
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
  await revoke('acme', grantId);
  expect(await briefs('bank')).toEqual(all.slice(0, -1));
});

it('shows no subjects of a grant on all subjects until the grantee accepts it', async () => {
  const first = await write();
  await feed();
  const grantId = await offerAll('acme', 'bank');
  const second = await write('acme', 2, first);
  await feed();
  expect(await briefs('bank')).toEqual(['bank tenant.owner_changed']);
  await accept('bank', grantId);
  await write('acme', 3, second);
  const shown = ['bank tenant.owner_changed', 'acme 1', 'acme grant.created', 'acme 2'];
  await feedOnly();
  expect((await feeds.changes(reader('bank'), ALL)).changes.isComplete).toBe(false);
  await feed();
  expect(await briefs('bank')).toEqual([...shown, 'acme 3']);
  // Each grant needs an acceptance of its own.
  await revoke('acme', grantId);
  await offerAll('acme', 'bank');
  await feed();
  expect((await briefs('bank')).filter((line) => /\d/.test(line))).toEqual([]);
});

it('shows versions that were written before an accepted grant on all subjects started', async () => {
  const first = await write();
  await grantAll('acme', 'bank');
  await feed();
  await admin.query(`UPDATE grants SET starts_at = now() + interval '1 hour'`);
  await write('acme', 2, first);
  await feed();
  expect(await briefs('bank')).not.toContain('acme 2');
  await admin.query('UPDATE grants SET starts_at = now()');
  await new GrantEndStore(world.database.sql).announceStarted(10);
  await feed();
  expect(await briefs('bank')).toContain('acme 2');
});

/** Adds tenants of one stranger, each with a version, that let bank read all of their subjects. */
async function addStrangers(count: number): Promise<void> {
  await admin.query(
    `WITH founded AS (
       INSERT INTO tenants (tenant_id, name, founded_by)
       SELECT 'a-' || lpad(n::text, 3, '0'), 'x', 'stranger' FROM generate_series(1, $1::int) n RETURNING tenant_id
     ), owned AS (
       INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
       SELECT 'organization', tenant_id, tenant_id FROM founded RETURNING subject_key, owner_tenant_id
     ), written AS (
       INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
       SELECT subject_key, 1, gen_random_uuid(), owner_tenant_id, 'x', sha256('{}'), '{}' FROM owned
     )
     INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, accepted_at)
     SELECT gen_random_uuid(), tenant_id, 'bank', 0, '{read_latest}', now() FROM founded`,
    [count],
  );
}

it.each([101, 300])(
  'copies entries of other grantors in turn, even with %i granting tenants of one founder',
  async (count) => {
    await write('corp');
    await write('dock');
    await feed();
    await addStrangers(count);
    await grantAll('corp', 'bank');
    // All of these grants are found in one step.
    await admin.query('UPDATE grants SET is_feed_due = true');
    await log();
    await feedOnly();
    // One turn for the stranger, and one for the partner.
    await integration.copy();
    await integration.copy();
    expect(await briefs('bank')).toContain('corp 1');
    // A partner that comes later waits for two turns of the stranger at most.
    await grantAll('dock', 'bank');
    await log();
    await feedOnly();
    for (let turns = 0; turns < 3; turns++) await integration.copy();
    expect(await briefs('bank')).toContain('dock 1');
    const reading = { ...reader('bank'), after: -1, lookedAt: 11 };
    expect(await rowsRead(world, 'change_places', reading)).toBeLessThan(30);
    await feed();
    expect(await briefs('bank')).toHaveLength(1 + 2 * (count + 2));
    expect(await rowsRead(world, 'change_places', reading)).toBeLessThan(30);
  },
);

it('reports incomplete entries until an interrupted copy is complete', async () => {
  for (let count = 0; count < 5; count++) await write();
  await write('dock');
  await feed();
  await grantAll('acme', 'bank');
  await write();
  await log();
  await feedOnly();
  const seen = async (after = -1, limit = 1_000): Promise<[number, boolean]> => {
    const { changes } = await feeds.changes(reader('bank'), { ...ALL, after, limit });
    return [changes.items.filter(({ entry: { fact } }) => fact.tenantId === 'acme').length, changes.isComplete];
  };
  // The grant and the entries after it.
  expect(await seen()).toEqual([2, false]);
  await integration.copy(3);
  expect(await seen()).toEqual([2 + 2, false]);
  await admin.query('REVOKE INSERT ON shared_feed FROM iss_app');
  await expect(integration.copy(3)).rejects.toThrow('permission denied');
  await admin.query('GRANT INSERT ON shared_feed TO iss_app');
  expect(await seen()).toEqual([2 + 2, false]);
  // Entries are complete as far as the copy has come.
  expect(await seen(-1, 2)).toEqual([1, true]);
  expect(await integration.copy(3)).toBe(true);
  while (await integration.copy(3));
  expect(await seen()).toEqual([2 + 5, true]);
});

it('copies missed entries for each new grant on all subjects, and none for an ended one', async () => {
  const first = await write();
  await feed();
  const grantId = await grantAll('acme', 'bank');
  await log();
  await feedOnly();
  await revoke('acme', grantId);
  await feed();
  const shared = async () => (await admin.query('SELECT FROM shared_feed')).rowCount;
  expect(await shared()).toBe(0);
  const again = await grantAll('acme', 'bank');
  await feed();
  await revoke('acme', again);
  await feed();
  const second = await write('acme', 2, first);
  await feed();
  // The version and both grants.
  expect(await shared()).toBe(3);
  await grantAll('acme', 'bank');
  await write('acme', 3, second);
  await feed();
  const all = (await briefs('bank')).filter((line) => /\d/.test(line));
  expect(all).toEqual(['acme 1', 'acme 2', 'acme 3']);
  // As after a release without copies, or a restart of the log.
  await admin.query(
    `DELETE FROM shared_feed WHERE log_index < (SELECT max(log_index) FROM shared_feed);
     DELETE FROM granted_feeds; UPDATE log_feed SET granted_size = 0`,
  );
  expect((await feeds.changes(reader('bank'), ALL)).changes.isComplete).toBe(false);
  await feed();
  expect((await briefs('bank')).filter((line) => /\d/.test(line))).toEqual(all);
  await admin.query(
    `INSERT INTO log_restarts (origin, previous_origin, previous_size, previous_root, previous_checkpoint, kept_size, kept_root, reason)
     VALUES ('b', 'a', 1, sha256(''), 'x', 1, sha256(''), 'moved')`,
  );
  const { rows } = await admin.query(
    'SELECT granted_size::int, (SELECT count(*)::int FROM granted_feeds) FROM log_feed',
  );
  expect(rows).toEqual([{ granted_size: 0, count: 0 }]);
});

it.each([
  ['read_latest', 2],
  ['read_lineage', 2],
  ['read_diff', 1],
  ['read_snapshot_by_id', 1],
] as const)('shows a grantee with only %s %i entries', async (scope, count) => {
  const first = await write();
  await grant(first, 'bank', [scope]);
  await feed();
  expect((await read('bank')).filter(({ fact }) => fact.tenantId === 'acme')).toHaveLength(count);
});

it('requires an active membership with the flag for counterparty access', async () => {
  await grant(await write(), 'bank');
  await feed();
  const seen = async (principalId: string) => {
    const { facts, changes } = await feeds.changes({ tenantId: 'bank', principalId }, ALL);
    return [facts.membership?.status, changes.items.map(({ entry }) => brief(entry))];
  };
  expect(await seen('tenant_owner')).toEqual(['active', ['bank tenant.owner_changed', 'acme grant.created']]);
  expect(await seen('nobody')).toEqual([undefined, []]);
  await admin.query(`UPDATE memberships SET status = 'removed' WHERE principal_id = 'tenant_reader'`);
  expect(await seen('tenant_reader')).toEqual(['removed', []]);
});

it('shows entries of a granted subject that are committed after the grant was logged', async () => {
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
  expect(rest.changes.items.map(({ entry }) => brief(entry))).toEqual(['acme 2']);
});

it('continues an interrupted batch in one process at a time', async () => {
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

it('does not skip an entry whose fact a missing policy hides', async () => {
  await write();
  await log();
  await admin.query('DROP POLICY snapshots_read ON snapshots');
  await expect(integration.feed()).rejects.toThrow('the policy snapshots_read is missing');
  await admin.query('CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app USING (true)');
  await feed();
  expect(await briefs('acme')).toEqual(['acme tenant.owner_changed', 'acme 1']);
});

it('filters by type and by subject type', async () => {
  const first = await write();
  await grant(first, 'bank');
  await feed();
  const types = (await read('acme', 1, { type: 'grant.created' })).map(({ fact }) => fact.type);
  expect(types).toEqual(['grant.created']);
  expect(await read('acme', 1, { subjectType: 'individual' })).toEqual([]);
  expect(await read('acme', 1, { subjectType: 'organization' })).toHaveLength(2);
});

/** Deterministic, so that a failure can be reproduced. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

/** Returns what each tenant may see now, from the tables of facts alone and without grants on all subjects. */
async function oracle(tenantId: string): Promise<number[]> {
  const { rows } = await admin.query<{ log_index: string }>(
    `SELECT e.log_index FROM log_entries e
       LEFT JOIN subjects s ON s.subject_key = e.subject_key
       LEFT JOIN grants g ON g.grant_id = e.grant_id
       LEFT JOIN owner_changes c ON c.owner_change_id = e.owner_change_id
      WHERE e.log_index < (SELECT size FROM log_feed)
        AND ($1 IN (s.owner_tenant_id, g.grantor_tenant_id, CASE WHEN g.subject_key <> 0 THEN g.grantee_tenant_id END, c.tenant_id)
             OR EXISTS (SELECT FROM grants l WHERE l.grantee_tenant_id = $1
                           AND (l.subject_key = e.subject_key OR l.subject_key = 0 AND l.grantor_tenant_id = s.owner_tenant_id
                                AND l.accepted_at IS NOT NULL)
                           AND l.revoked_at IS NULL AND coalesce(l.expires_at, 'infinity') > now()
                           AND l.scopes && '{read_latest,read_lineage}'))
      ORDER BY 1`,
    [tenantId],
  );
  return rows.map((row) => Number(row.log_index));
}

it('shows the changed paths that the reader may see, and filters by them', async () => {
  const [a, b] = ['/attributes/a', '/attributes/b'] as const;
  const first = await write();
  await grant(first, 'bank', ['read_lineage'], [a, `${b}/x`]);
  await grant(first, 'corp', ['read_diff'], [a]);
  await grant(first, 'dock', ['read_lineage'], ['/attributes/c']);
  const known = { changedBy: '""', origins: Buffer.from([1, 2]) };
  const second = await write('acme', 2, first, { ...known, changedPaths: JSON.stringify([`${a}/y`, `${b}~`]) });
  const third = await write('acme', 3, second, {
    ...known,
    changeKind: 'correction',
    changedPaths: JSON.stringify([`${b}/z`]),
  });
  await write('acme', 4, third, { ...known, changedPaths: JSON.stringify([`${b}/z`]) });
  // As in a version of an earlier release.
  await admin.query(`SET session_replication_role = replica;
    UPDATE snapshot_provenance SET changed_paths = NULL WHERE snapshot_version = 4; RESET session_replication_role`);
  await feed();
  const versions = async (tenantId: string, paths: string[] | null = null, limit?: number): Promise<unknown[]> =>
    (await readChanges(tenantId, limit, { type: 'snapshot.created', paths })).map(({ entry: { fact }, version }) => [
      fact.type === 'snapshot.created' && fact.snapshotVersion,
      version?.changeKind,
      version?.changedPaths,
    ]);
  const [one, four] = [
    [1, 'change', null],
    [4, 'change', null],
  ];
  const correction = (paths: string[]): unknown[] => [3, 'correction', paths];
  expect(await versions('acme')).toEqual([one, [2, 'change', [`${a}/y`, b]], correction([`${b}/z`]), four]);
  expect(await versions('bank')).toEqual([one, [2, 'change', [`${a}/y`, `${b}/x`]], correction([]), four]);
  expect(await versions('dock')).toEqual([one, [2, 'change', []], correction([]), four]);
  expect(await versions('corp')).toEqual([]);
  expect(await versions('acme', [`${b}/z/1`])).toEqual([
    one,
    [2, 'change', [`${a}/y`, b]],
    correction([`${b}/z`]),
    four,
  ]);
  expect(await versions('acme', [a], 1)).toEqual([one, [2, 'change', [`${a}/y`, b]], four]);
  expect(await versions('bank', [`${b}/z`])).toEqual([one, four]);
  expect(await versions('dock', [a])).toEqual([one, four]);
});

it('matches the tables of facts while grants start, end and start again between entries', async () => {
  const random = randomFrom(17);
  const heads: SnapshotToWrite[] = [];
  const live = new Map<string, { grantId: string; tenantId: string }>();
  const followed = new Map<string, number[]>(TENANTS.map((tenant) => [tenant, []]));
  const places = new Map<string, number>();
  for (let step = 0; step < (IS_FULL ? 220 : 80); step++) {
    const tenant = TENANTS[random(TENANTS.length)] ?? 'acme';
    const at = random(heads.length);
    const head = heads[at];
    const grantee = TENANTS.filter((one) => one !== head?.tenantId)[random(TENANTS.length - 1)] ?? 'bank';
    const pair = `${head?.subjectId} ${grantee}`;
    const given = live.get(pair);
    const toAll = `* ${tenant} ${grantee}`;
    const action = random(10);
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
    else if (action === 6) await integration.copy(1 + random(4));
    else if (action === 7 && tenant !== grantee) {
      const all = live.get(toAll);
      if (all === undefined) live.set(toAll, { grantId: await offerAll(tenant, grantee), tenantId: tenant });
      else await revoke(tenant, all.grantId);
      if (all !== undefined) live.delete(toAll);
    } else if (action === 8) {
      const all = live.get(toAll);
      if (all !== undefined) await accept(grantee, all.grantId);
    } else await integration.feed();
    // A reader in small steps must neither miss nor repeat one of its own entries.
    const after = places.get(tenant) ?? -1;
    const { changes } = await feeds.changes(reader(tenant), { ...ALL, after, limit: 1 + random(4) });
    places.set(tenant, changes.next);
    followed.get(tenant)?.push(...changes.items.map(({ entry }) => entry.logIndex));
  }
  await feed();
  for (const tenant of TENANTS) {
    const expected = await oracle(tenant);
    for (const limit of [1, 3, 1_000]) {
      const changes = await read(tenant, limit);
      const seen = changes.filter(
        ({ subject, granteeTenantId: to }) => !(to === tenant && subject?.subjectType === '*'),
      );
      expect({ tenant, limit, seen: seen.map(({ logIndex }) => logIndex) }).toEqual({
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
});

it('reads a bounded number of rows per page among many other entries', async () => {
  const first = await write();
  await grant(first, 'bank');
  await feed();
  // A tenant with many short and long lists of entries, and a grantee of thousands.
  await admin.query(`
    SET session_replication_role = replica;
    INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) SELECT 'organization', 's-' || n, 'acme' FROM generate_series(1, 2100) n;
    INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
    SELECT subject_key, 1, gen_random_uuid(), 'acme', 'x', sha256('{}'), '{}' FROM subjects WHERE subject_id LIKE 's-%';
    INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
    SELECT gen_random_uuid(), 'acme', 'bank', subject_key, '{read_latest}' FROM subjects WHERE subject_id LIKE 's-%';
    INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
    SELECT (SELECT size FROM log_tree) + row_number() OVER () - 1, 1, subject_key, 1, '0123456789abcdef' FROM subjects WHERE subject_id LIKE 's-%';
    UPDATE log_tree SET size = size + 2100;
    SET session_replication_role = DEFAULT;`);
  while ((await integration.feed())?.isMore === true);
  expect((await read('bank')).length).toBeGreaterThan(2_100);
  for (const tenantId of ['bank', 'acme']) {
    for (const after of [-1, 1_000]) {
      const { rows } = await admin.query<{ epoch: string }>(
        `SELECT concat_ws(' ', began_at, tableoid, pg_postmaster_start_time()) AS epoch FROM log_feed`,
      );
      const { changes } = await feeds.changes(reader(tenantId), { ...ALL, after, limit: 10 });
      const indexes = changes.items.map(({ entry }) => entry.logIndex);
      // Includes the rows of the lists around the place.
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

it('caches entries until the log is restarted', async () => {
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
