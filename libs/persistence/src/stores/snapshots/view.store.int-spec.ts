import { randomBytes } from 'node:crypto';
import { LOG_SALT_BYTES } from '@iss/domain';
import { Client } from 'pg';
import { untilBlocks } from '../../../../../tools/testing/until-blocks';
import { addTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { LogEntryStore } from '../log/log-entry.store';
import { type LoggedFact, LogIntegrationStore, type PreparedViews } from '../log/log-integration.store';
import { SnapshotWriteStore } from './snapshot-write.store';
import { type NewView, ViewStore } from './view.store';

let world: SharedWorld;
let admin: Client;
let store: ViewStore;

beforeAll(async () => {
  world = await openSharedWorld();
  ({ admin } = world);
  store = new ViewStore(world.database.sql);
});
afterAll(() => world?.close());

beforeEach(async () => {
  await world.empty();
  await addTenant(world, 'acme');
  await integrate();
});

const SUBJECT = { subjectType: 'organization', subjectId: 'viewed' };

/** Writes the versions 1 to `count` of a subject, and returns the ids of the snapshots. */
async function write(count: number): Promise<string[]> {
  const writes = new SnapshotWriteStore(world.database.sql);
  const ids: string[] = [];
  let prevHash: string | null = null;
  for (let snapshotVersion = 1; snapshotVersion <= count; snapshotVersion++) {
    const next = snapshot({ ...SUBJECT, snapshotVersion, prevHash });
    await (snapshotVersion === 1 ? writes.create(next) : writes.append(next));
    ids.push(next.snapshotId);
    prevHash = next.envelopeHash;
  }
  return ids;
}

const viewOf = (snapshotId = ''): NewView => ({ snapshotId, secret: randomBytes(32), hash: randomBytes(32) });
const stored = ({ snapshotId, secret, hash }: NewView) => [
  snapshotId,
  { snapshotId, secret, hash: hash.toString('hex') },
];

/** Integrates what waits, and returns the facts that became entries. The tiles are of no interest. */
async function integrate(views: PreparedViews | null = null): Promise<LoggedFact[]> {
  await admin.query('DELETE FROM records_waiting');
  const integrated: LoggedFact[] = [];
  await new LogIntegrationStore(world.database.sql).integrate(
    100,
    async ({ size }, _edge, facts) => {
      integrated.push(...facts);
      const salts = randomBytes(LOG_SALT_BYTES * facts.length);
      return { salts, added: [], tree: { size: size + facts.length, root: randomBytes(32) } };
    },
    null,
    views,
  );
  return integrated;
}

const prepared = (views: NewView[], unfit: string[] = []): PreparedViews => ({
  ...{ views, unfit: new Set(unfit), readAt: new Date(), isMore: false },
});

/** Erases versions as two people decided. */
async function erase(versions: string): Promise<void> {
  await admin.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                     SELECT gen_random_uuid(), 'acme', subject_key, '${versions}', 'alice' FROM subjects`);
  await admin.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now() WHERE status = 'pending'`);
  await admin.query(`SELECT erase_versions(erasure_id) FROM erasures WHERE status = 'pending'`);
}

it('returns the view that another process stored first', async () => {
  const [id = ''] = await write(1);
  const [first, second] = [viewOf(id), viewOf(id)];
  const other = new Client({ connectionString: world.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query(
      `INSERT INTO snapshot_views (subject_key, snapshot_version, view_secret, view_hash)
       SELECT subject_key, 1, $1, $2 FROM snapshots`,
      [first.secret, first.hash],
    );
    const committed = store.commit([second]);
    await untilBlocks(other);
    await other.query('COMMIT');
    expect([...(await committed)]).toEqual([stored(first)]);
    expect([...(await store.find([id]))]).toEqual([stored(first)]);
  } finally {
    await other.end();
  }
});

it('finds and stores the views of many versions with one statement each', async () => {
  const ids = await write(3);
  world.sent.length = 0;
  const views = ids.map(viewOf);
  expect([...(await store.commit(views))].sort()).toEqual(views.map(stored).sort());
  expect(world.sent).toEqual(['views_commit', 'views_find']);
  expect([...(await store.find([]))]).toEqual([]);
});

it('an erasure destroys the secret, and an erased version gets no view', async () => {
  const [one = '', two = ''] = await write(3);
  const before = viewOf(one);
  await store.commit([before]);
  await integrate();
  await erase('{1,2}');
  const hash = before.hash.toString('hex');
  expect([...(await store.commit([viewOf(one), viewOf(two)]))].sort()).toEqual(
    [
      [one, { snapshotId: one, secret: null, hash }],
      [two, { snapshotId: two, secret: null, hash: null }],
    ].sort(),
  );
  await admin.query(
    'SET session_replication_role = replica; DELETE FROM snapshot_views; RESET session_replication_role',
  );
  expect([...(await store.commit([viewOf(one)]))]).toEqual([]);
});

it.each([
  [`UPDATE snapshot_views SET view_hash = sha256('')`],
  [`UPDATE snapshot_views SET view_secret = NULL`],
  [`UPDATE snapshot_views SET view_secret = sha256('')`],
  ['DELETE FROM snapshot_views'],
  ['TRUNCATE snapshot_views'],
])('refuses %s even by the owner of the table', async (text) => {
  await store.commit((await write(1)).map(viewOf));
  await expect(admin.query(text)).rejects.toMatchObject({ code: '42501' });
  await admin.query('SET ROLE iss_app');
  await expect(admin.query(text)).rejects.toThrow('permission denied');
  await admin.query('RESET ROLE');
});

it('a version waits for its view, and its entry names it', async () => {
  const [one = '', two = '', three = ''] = await write(3);
  const [ofGateway, late] = [viewOf(one), viewOf(one)];
  await store.commit([ofGateway]);
  const { versions, ...read } = await store.missing(100, 1 << 20);
  expect(versions.map(({ snapshotId }) => snapshotId)).toEqual([two, three]);
  expect(read).toMatchObject({ isMore: false });
  expect(await store.missing(100, 1)).toMatchObject({ versions: [{ snapshotId: two }], isMore: true });

  const ofTwo = viewOf(two);
  expect(await integrate(prepared([late, ofTwo]))).toMatchObject([
    { snapshotId: one, viewHash: ofGateway.hash.toString('hex') },
    { snapshotId: two, viewHash: ofTwo.hash.toString('hex') },
  ]);
  expect(await integrate(prepared([]))).toEqual([]);
  expect(await integrate(prepared([], [three]))).toMatchObject([{ snapshotId: three, viewHash: null }]);
  const entries = await new LogEntryStore(world.database.sql).ofVersions(SUBJECT, 1, 3);
  expect(entries.map(({ fact }) => fact)).toMatchObject([
    { viewHash: ofGateway.hash.toString('hex') },
    { viewHash: ofTwo.hash.toString('hex') },
    { viewHash: null },
  ]);
});

it('a view gets one entry of its own if the entry of its version names none', async () => {
  const [one = '', two = ''] = await write(2);
  await integrate();
  await store.commit([viewOf(two)]);
  await store.commit([viewOf(two)]);
  const [fact] = await integrate(prepared([]));
  const { hash = null, snapshotId } = (await store.find([two])).get(two) ?? {};
  expect(fact).toEqual({
    type: 'view.committed',
    tenantId: 'acme',
    ...SUBJECT,
    ...{ snapshotId, snapshotVersion: 2, viewHash: hash, committedAt: expect.any(Date) },
  });
  expect(await integrate(prepared([]))).toEqual([]);
  await erase('{1}');
  await store.commit([viewOf(one)]);
  expect(await integrate(prepared([]))).toMatchObject([{ type: 'subject.erased' }]);
});

it('the entry of a version names its view in a restarted log', async () => {
  const [one = '', two = ''] = await write(2);
  await integrate();
  const view = viewOf(one);
  await store.commit([view]);
  await integrate();
  await erase('{2}');
  await integrate();
  await admin.query(`SELECT restart_log('new', 'old', 1, sha256(''), 'note', 'lost')`);
  const facts = await integrate(prepared([]));
  const versions = facts.filter(({ type }) => type !== 'tenant.owner_changed');
  expect(versions).toMatchObject([
    { type: 'log.restarted' },
    { snapshotId: one, viewHash: view.hash.toString('hex') },
    { snapshotId: two, viewHash: null },
    {
      type: 'subject.erased',
      erasedIndexes: [facts.findIndex((fact) => 'snapshotId' in fact && fact.snapshotId === two)],
    },
  ]);
});
