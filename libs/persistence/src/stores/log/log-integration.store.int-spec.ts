import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { ALL_SUBJECTS, LOG_SALT_BYTES, logEntryText } from '@iss/domain';
import { Client } from 'pg';
import { markOldRecords } from '../../migrate';
import { addTenant as foundTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { GrantStore } from '../grants/grant.store';
import { SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { TenancyStore } from '../tenancy/tenancy.store';
import { TransferOfferStore } from '../tenancy/transfer-offer.store';
import { LogEntryStore } from './log-entry.store';
import {
  type LoggedFact,
  type LogGrowth,
  LogIntegrationStore,
  type LogRound,
  type LogTile,
  type LogTileAddition,
} from './log-integration.store';

const sha256 = (...parts: (Buffer | string)[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** Computes the root hash literally as in RFC 6962, section 2.1. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (leaves.length === 0) return sha256('');
  if (leaves.length === 1 && only !== undefined) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(NODE, rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

/** A tree that keeps every leaf. */
class Tree {
  readonly leaves: Buffer[] = [];
  readonly facts: LoggedFact[] = [];
  edges: string[] = [];

  grow = async (_tree: unknown, edge: readonly LogTile[], facts: readonly LoggedFact[]): Promise<LogGrowth> => {
    this.edges = edge.map(({ level, index, hashes }) => `${level}/${index}/${hashes.length / 32}`);
    const before = tilesOf(this.leaves);
    const salts = randomBytes(LOG_SALT_BYTES * facts.length);
    facts.forEach((fact, index) => {
      const salt = salts.subarray(LOG_SALT_BYTES * index, LOG_SALT_BYTES * (index + 1));
      this.leaves.push(sha256(LEAF, logEntryText(fact, salt)));
      this.facts.push(fact);
    });
    const added: LogTileAddition[] = [...tilesOf(this.leaves)].flatMap(([name, tile]) => {
      const known = before.get(name)?.hashes.length ?? 0;
      const hashes = tile.hashes.subarray(known);
      return hashes.length === 0 ? [] : [{ ...tile, offset: known / 32, hashes }];
    });
    return { salts, added, tree: { size: this.leaves.length, root: rootOf(this.leaves) } };
  };
}

/** Computes all tiles over these leaves from scratch. */
function tilesOf(leaves: readonly Buffer[]): Map<string, LogTile> {
  const tiles = new Map<string, LogTile>();
  for (let level = 0, row = leaves; row.length > 0; level += 1) {
    const chunks = Array.from({ length: Math.ceil(row.length / 256) }, (_, i) => row.slice(256 * i, 256 * (i + 1)));
    chunks.forEach((hashes, index) => tiles.set(`${level}/${index}`, { level, index, hashes: Buffer.concat(hashes) }));
    row = chunks.filter((hashes) => hashes.length === 256).map(rootOf);
  }
  return tiles;
}

let world: SharedWorld;
let store: LogIntegrationStore;
let admin: Client;
let tree: Tree;

beforeAll(async () => {
  world = await openSharedWorld();
  ({ admin } = world);
});

afterAll(() => world?.close());

beforeEach(async () => {
  await world.empty();
  store = new LogIntegrationStore(world.database.sql);
  tree = new Tree();
});

/** Adds a tenant whose audit records have no entries, as in a database of an earlier release. */
async function addTenant(of: SharedWorld, tenantId: string): Promise<void> {
  await foundTenant(of, tenantId);
  await admin.query('DELETE FROM records_waiting');
}

/** Integrates until nothing waits. Batches of records have a test of their own. */
async function integrateAll(limit = 100): Promise<number> {
  await admin.query('DELETE FROM records_waiting');
  return integrateRecords(limit);
}

async function integrateRecords(limit = 100): Promise<number> {
  let total = 0;
  for (let round: LogRound | null; (round = await store.integrate(limit, tree.grow)) !== null;) {
    total += round.integrated;
    if (round.integrated < limit) break;
  }
  return total;
}

it('adds an entry for each fact from any statement, with parents first', async () => {
  await addTenant(world, 'acme');
  await addTenant(world, 'bank');
  const writes = new SnapshotWriteStore(world.database.sql);
  const first = snapshot();
  await writes.create(first);
  await writes.append(snapshot({ subjectId: first.subjectId, snapshotVersion: 2, prevHash: first.envelopeHash }));
  const grants = new GrantStore(world.database.sql);
  const { subjectType, subjectId } = first;
  const actor = { tenantId: 'acme', principalId: 'tenant_owner', requestId: 'r' };
  const grantId = randomUUID();
  const grant = {
    grantId,
    granteeTenantId: 'bank',
    subjectType,
    subjectId,
    scopes: ['read_latest' as const],
    paths: ['/attributes/legal'],
    startsAt: null,
    expiresAt: null,
    purpose: 'never logged',
  };
  const onAll = { ...grant, ...ALL_SUBJECTS, grantId: randomUUID(), scopes: ['read_diff' as const] };
  expect(await grants.create(actor, [grant, onAll])).toMatchObject([{ kind: 'granted' }, { kind: 'granted' }]);
  const toLineage = { scopes: ['read_lineage' as const], expiresAt: undefined, purpose: undefined, reason: null };
  const until = new Date('2999-01-01T00:00:00Z');
  await grants.change(actor, grantId, toLineage);
  await grants.change(actor, grantId, { ...toLineage, expiresAt: until });
  await grants.revoke(actor, grantId);

  expect(await integrateAll(3)).toBe(9);
  expect(tree.facts.map((fact) => `${'tenantId' in fact ? fact.tenantId : ''} ${fact.type}`)).toEqual([
    'acme tenant.owner_changed',
    'bank tenant.owner_changed',
    'acme snapshot.created',
    'acme snapshot.created',
    'acme grant.created',
    'acme grant.created',
    'acme grant.changed',
    'acme grant.changed',
    'acme grant.revoked',
  ]);
  expect(tree.facts[2]).toMatchObject({ snapshotVersion: 1, envelopeHash: first.envelopeHash, prevHash: null });
  expect(tree.facts[4]).toMatchObject({ grantId, granteeTenantId: 'bank', subjectId, scopes: ['read_latest'] });
  expect(tree.facts[5]).toMatchObject({ grantId: onAll.grantId, ...ALL_SUBJECTS, scopes: ['read_diff'] });
  expect(tree.facts[6]).toMatchObject({ grantId, scopes: ['read_lineage'], expiresAt: null });
  expect(tree.facts[7]).toMatchObject({ grantId, scopes: ['read_lineage'], expiresAt: until });
  expect(await store.tree()).toEqual({ size: 9, root: rootOf(tree.leaves) });
});

it('records new and previous owners', async () => {
  await addTenant(world, 'acme');
  const tenancy = new TenancyStore(world.database.sql);
  const owner = { tenantId: 'acme', principalId: 'tenant_owner', requestId: 'r' };
  const change = (principalId: string, role: 'tenant_owner' | 'tenant_admin') =>
    tenancy.changeMembership(owner, principalId, ({ target }) => {
      if (target === null) throw new Error('no such member');
      return { ...target, role };
    });
  await change('tenant_admin', 'tenant_owner');
  await change('tenant_admin', 'tenant_owner');
  await change('tenant_owner', 'tenant_admin');
  await integrateAll();
  expect(
    tree.facts.map((fact) => fact.type === 'tenant.owner_changed' && [fact.principalId, fact.fromPrincipalId]),
  ).toEqual([
    ['tenant_owner', null],
    ['tenant_admin', null],
    [null, 'tenant_owner'],
  ]);
});

it('records a transfer as one change', async () => {
  await addTenant(world, 'acme');
  const offers = new TransferOfferStore(world.database.sql);
  const [offerId, fromPrincipalId, toPrincipalId] = [randomUUID(), 'tenant_owner', 'tenant_admin'];
  const offer = { offerId, tenantId: 'acme', fromPrincipalId, toPrincipalId, message: null, expiresAt: null };
  await offers.create(offer, 'r', () => undefined);
  const accepted = { tenantId: 'acme', principalId: toPrincipalId, requestId: 'r', offerId };
  await offers.end(accepted, ({ caller, offerer }) => {
    if (caller === null || offerer === null) throw new Error('they are members');
    const members = [
      { ...caller, role: 'tenant_owner' as const },
      { ...offerer, role: 'tenant_admin' as const },
    ];
    return { status: 'accepted', members };
  });
  await integrateAll();
  expect(tree.facts).toMatchObject([
    { principalId: 'tenant_owner', fromPrincipalId: null },
    { principalId: 'tenant_admin', fromPrincipalId: 'tenant_owner' },
  ]);
});

it('extends the tiles in batches of any size, each from the last edge', async () => {
  await addTenant(world, 'acme');
  const writes = new SnapshotWriteStore(world.database.sql);
  const edges: string[][] = [];
  let size = 1;
  await integrateAll();
  for (const count of [254, 1, 1, 300, 212]) {
    await Promise.all(Array.from({ length: count }, () => writes.create(snapshot())));
    expect(await integrateAll(1000)).toBe(count);
    size += count;
    edges.push(tree.edges);
    expect(await store.tree()).toEqual({ size, root: rootOf(tree.leaves) });
  }
  expect(edges).toEqual([['0/0/1'], ['0/0/255'], ['1/0/1'], ['0/1/1', '1/0/1'], ['0/2/45', '1/0/2']]);
  const stored = await admin.query(
    'SELECT level, tile_index, octet_length(hashes) / 32 AS width FROM log_tiles ORDER BY 1, 2',
  );
  expect(stored.rows.map(({ level, tile_index, width }) => `${level}/${tile_index}/${width}`)).toEqual([
    '0/0/256',
    '0/1/256',
    '0/2/256',
    '0/3/1',
    '1/0/3',
  ]);
});

it('lets one process integrate at a time and stores nothing on failure', async () => {
  await addTenant(world, 'acme');
  await admin.query('BEGIN');
  await admin.query('SELECT FROM log_tree FOR UPDATE');
  expect(await store.integrate(10, tree.grow)).toBeNull();
  await admin.query('ROLLBACK');
  const fail = async (): Promise<never> => {
    throw new Error('broken off');
  };
  await expect(store.integrate(10, fail)).rejects.toThrow('broken off');
  expect((await store.tree()).size).toBe(0);
  expect(await integrateAll()).toBe(1);
});

it('reproduces an entry of an earlier release without its writer', async () => {
  await addTenant(world, 'acme');
  const written = snapshot();
  await new SnapshotWriteStore(world.database.sql).create(written);
  expect(await integrateAll()).toBe(2);
  const entries = new LogEntryStore(world.database.sql);
  const fact = async () => (await entries.ofVersions(written, 1, 1)).map((entry) => entry.fact);
  const writer = { writtenBy: written.principalId, writeRequestId: written.requestId };
  expect(await fact()).toEqual([expect.objectContaining({ ...writer, namesWriter: true })]);
  expect(tree.facts[1]).toMatchObject({ ...writer, namesWriter: true });
  await admin.query(`SET session_replication_role = replica; UPDATE log_entries SET names_writer = NULL;
                     RESET session_replication_role`);
  expect(await fact()).toEqual([expect.objectContaining({ ...writer, namesWriter: false })]);
});

it('lets other facts overtake a version without a view, unless a restart of the log queued it', async () => {
  await addTenant(world, 'acme');
  await new SnapshotWriteStore(world.database.sql).create(snapshot());
  await addTenant(world, 'beta');
  const noViews = { views: [], unfit: new Set<string>(), readAt: new Date(), isMore: false };
  const round = () => store.integrate(10, tree.grow, null, noViews);
  const move = (by: number): Promise<unknown> =>
    admin.query(`ALTER TABLE log_waiting ALTER waiting_id SET GENERATED BY DEFAULT;
                 UPDATE log_waiting SET waiting_id = waiting_id + ${by};
                 ALTER TABLE log_waiting ALTER waiting_id SET GENERATED ALWAYS`);
  await move(-1000);
  await expect(round()).resolves.toMatchObject({ integrated: 1, isMore: true });
  await expect(round()).resolves.toMatchObject({ integrated: 0, isMore: true });
  await move(2000);
  await expect(round()).resolves.toMatchObject({ integrated: 1, isMore: false });
  expect(tree.facts.map((fact) => [fact.type, 'tenantId' in fact && fact.tenantId])).toEqual([
    ['tenant.owner_changed', 'acme'],
    ['tenant.owner_changed', 'beta'],
  ]);
});

it('drops a mark whose fact does not exist', async () => {
  await admin.query(`INSERT INTO log_waiting (entry_type, grant_id) VALUES (2, gen_random_uuid())`);
  await expect(store.integrate(10, tree.grow)).resolves.toMatchObject({ integrated: 0, dropped: 1 });
  await addTenant(world, 'acme');
  expect(await integrateAll()).toBe(1);
});

it('does not treat a fact as deleted if a missing policy hides it', async () => {
  await addTenant(world, 'acme');
  await new SnapshotWriteStore(world.database.sql).create(snapshot());
  await admin.query('DROP POLICY snapshots_read ON snapshots');
  await expect(store.integrate(10, tree.grow)).rejects.toThrow('the policy snapshots_read is missing');
  await admin.query('CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app USING (true)');
  expect(await integrateAll()).toBe(2);
});

it.each([
  [`UPDATE log_entries SET salt = sha256('')`, 'permission denied'],
  ['DELETE FROM log_entries', 'permission denied'],
  ['DELETE FROM log_tiles', 'permission denied'],
  ['UPDATE log_tree SET size = 0', 'the log only grows'],
  [`UPDATE log_tiles SET hashes = sha256('')`, 'the log only grows'],
  [`UPDATE owner_changes SET principal_id = 'me'`, 'permission denied'],
])('refuses %s by the application', async (text, message) => {
  await addTenant(world, 'acme');
  await integrateAll();
  await admin.query('SET ROLE iss_app');
  try {
    await expect(admin.query(text)).rejects.toThrow(message);
  } finally {
    await admin.query('RESET ROLE');
  }
});

describe('audit records and disclosures', () => {
  const SUBJECT = { subjectType: 'organization', subjectId: 's-1' };
  const disclose = (versions: number): Promise<unknown> =>
    admin.query(
      `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
       SELECT subject_key, '2026-01-15', 'bank', 'bob', 'snapshot', v, v, 'r-' || v
         FROM subjects, generate_series(1, $1::int) v WHERE subject_id = $2`,
      [versions, SUBJECT.subjectId],
    );
  const marks = async (): Promise<number> => (await admin.query('SELECT FROM records_waiting')).rows.length;

  beforeEach(async () => {
    await addTenant(world, 'acme');
    await new SnapshotWriteStore(world.database.sql).create(snapshot(SUBJECT));
    await integrateAll();
    tree.facts.length = 0;
  });

  it('share entries per tenant of at most 256 records and 60,000 bytes', async () => {
    await disclose(600);
    expect(await marks()).toBe(3);
    await admin.query(
      `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
       SELECT subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, 'again' FROM disclosures
           ON CONFLICT DO NOTHING`,
    );
    expect(await marks()).toBe(3);
    await admin.query(`UPDATE memberships SET tenancy_role = 'account_admin' WHERE tenant_id = 'acme'`);
    const { rows } = await admin.query(`SELECT FROM memberships WHERE tenant_id = 'acme'`);
    expect(await integrateRecords()).toBe(4);
    const salt = Buffer.alloc(LOG_SALT_BYTES);
    const entries = tree.facts.map((fact) =>
      fact.type === 'audit.recorded' || fact.type === 'disclosures.recorded'
        ? { type: fact.type, count: fact.records.length, bytes: Buffer.byteLength(logEntryText(fact, salt)) }
        : null,
    );
    const DISCLOSED = { type: 'disclosures.recorded' };
    expect(entries).toMatchObject([DISCLOSED, DISCLOSED, DISCLOSED, { type: 'audit.recorded', count: rows.length }]);
    expect(entries.slice(0, 3).reduce((sum, entry) => sum + (entry?.count ?? 0), 0)).toBe(600);
    expect(entries.filter((entry) => entry === null || entry.count > 256 || entry.bytes > 60_000)).toEqual([]);
    expect(await marks()).toBe(0);
    expect(await integrateRecords()).toBe(0);
    expect((await store.tree()).root).toEqual(rootOf(tree.leaves));
  });

  it('wait for the commit of their transaction, and are not lost in a failed round', async () => {
    const writer = new Client({ connectionString: world.url });
    await writer.connect();
    try {
      await writer.query('BEGIN');
      await writer.query(`UPDATE tenants SET name = 'Other' WHERE tenant_id = 'acme'`);
      await disclose(1);
      expect(await integrateRecords()).toBe(1);
      await writer.query('COMMIT');
    } finally {
      await writer.end();
    }
    const fail = async (): Promise<never> => {
      throw new Error('broken off');
    };
    await expect(store.integrate(10, fail)).rejects.toThrow('broken off');
    expect(await marks()).toBe(1);
    expect(await integrateRecords()).toBe(1);
    expect(tree.facts).toMatchObject([{ type: 'disclosures.recorded' }, { type: 'audit.recorded' }]);
  });

  it('from an earlier release are batched exactly once despite an interruption and new records', async () => {
    await admin.query('SET session_replication_role = replica');
    await disclose(600);
    await admin.query(`UPDATE audit_records SET tenant_id = 'bank' WHERE audit_id > 2`);
    await admin.query('RESET session_replication_role');
    await admin.query('INSERT INTO records_backfill (entry_type) VALUES (11), (12)');
    let calls = 0;
    const runner = (most: number): Parameters<typeof markOldRecords>[0] => ({
      query: async (text: string, values?: unknown[]) => {
        if (++calls > most) throw new Error('interrupted');
        return (await admin.query(text, values)).rows;
      },
    });
    await expect(markOldRecords(runner(3), 2)).rejects.toThrow('interrupted');
    await integrateRecords();
    await admin.query(`UPDATE tenants SET name = 'Other' WHERE tenant_id = 'acme'`);
    await markOldRecords(runner(100), 100);
    await integrateRecords();
    const { rows } = await admin.query(
      `SELECT (SELECT count(*)::int FROM audit_records) + (SELECT count(*)::int FROM disclosures) AS stored,
              (SELECT count(*)::int FROM (SELECT unnest(record_ids) FROM record_batches) r) AS batched,
              (SELECT count(*)::int FROM (SELECT DISTINCT entry_type, tenant_id, unnest(record_ids) FROM record_batches) r) AS "once",
              (SELECT count(*)::int FROM records_backfill) AS places`,
    );
    const [{ stored }] = rows;
    expect(stored).toBeGreaterThan(600);
    expect(rows).toEqual([{ stored, batched: stored, once: stored, places: 0 }]);
  });

  it('cannot be removed from their batches by the owner of the tables', async () => {
    await disclose(1);
    await integrateRecords();
    for (const text of [
      `UPDATE record_batches SET tenant_id = 'x'`,
      'DELETE FROM record_batches',
      'TRUNCATE record_batches',
    ]) {
      await expect(admin.query(text)).rejects.toThrow(/the log only grows|is refused|cannot be truncated|truncate/i);
    }
  });
});
