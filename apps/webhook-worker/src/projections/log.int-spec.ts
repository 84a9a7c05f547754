import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logEntryText } from '@iss/domain';
import {
  asOwner,
  type Database,
  LogCheckpointStore,
  LogIntegrationStore,
  LogKeyStore,
  LogTileStore,
  openDatabase,
} from '@iss/persistence';
import { createLogger, type LogSettings } from '@iss/platform';
import {
  createSigner,
  createVerifier,
  formatCheckpoint,
  generateKeys,
  leafHash,
  openNote,
  parseCheckpoint,
  readConsistencyProof,
  readInclusionProof,
  readRightEdge,
  rootOfEdge,
  signNote,
  TileHashes,
  tileHashReader,
  verifyConsistency,
  verifyInclusion,
} from '@iss/tlog';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { type LogWorker, startLogWorker } from '../../test/log-worker';
import { waitFor } from '../../../../tools/testing/wait-for';

const ORIGIN = 'log.example/test';
const INTERVAL_MS = 10;

let created: TestDatabase;
let database: Database;
let superuser: Client;
let folder: string;
let settings: LogSettings;
let vkey: string;
/** The metrics of the worker that started last. */
let metrics: Registry;
const services: LogWorker[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, poolSize: 4, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  folder = mkdtempSync(join(tmpdir(), 'iss-log-'));
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  vkey = verifierKey;
  settings = {
    origin: ORIGIN,
    signingKeys: [signingKey],
    pqSigningKey: undefined,
    checkpointIntervalMs: INTERVAL_MS,
    checkpointMaxAgeMs: 60_000,
    checkpointFile: join(folder, 'checkpoint'),
    policyFile: undefined,
  };
});

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
  await superuser.end();
  await database.close();
  await created.drop();
  rmSync(folder, { recursive: true });
});

async function start(change: Partial<LogSettings> = {}, lines: string[] = []): Promise<LogWorker> {
  const { sql } = database;
  const log = { ...settings, ...change };
  metrics = new Registry();
  const own = createLogger({ name: 'test', level: 'warn' }, { write: (line) => lines.push(line) });
  const service = await startLogWorker(sql, { log: log }, metrics, own);
  services.push(service);
  return service;
}

/** Adds facts, each a change of owner that becomes one entry. */
async function addFacts(count: number): Promise<void> {
  await superuser.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT 'acme', 'owner-' || n FROM generate_series(1, $1) n`,
    [count],
  );
}

const published = async (size: number) => {
  const { note } = await waitFor(() => new LogCheckpointStore(database.sql).ofSize(size), { what: `size ${size}` });
  const { text } = await openNote(note, [createVerifier(vkey)]);
  return parseCheckpoint(text);
};

const readTiles = (size: number) =>
  tileHashReader(size, async (tiles) =>
    (await new LogTileStore(database.sql).read(tiles)).map((hashes) => new TileHashes(hashes)),
  );

it('publishes trees that prove each entry and are consistent with previous ones', async () => {
  await start();
  const empty = await published(0);
  await addFacts(700);
  const first = await published(700);
  await addFacts(1);
  const second = await published(701);
  expect(second.origin).toBe(ORIGIN);
  const { rows } = await superuser.query<{ log_index: string; salt: Buffer; principal_id: string; changed_at: Date }>(
    `SELECT e.log_index, e.salt, c.principal_id, c.changed_at FROM log_entries e JOIN owner_changes c USING (owner_change_id)`,
  );
  expect(rows).toHaveLength(701);
  for (const { log_index, salt, principal_id: principalId, changed_at: changedAt } of rows) {
    const type = 'tenant.owner_changed' as const;
    const entry = logEntryText({ type, tenantId: 'acme', principalId, fromPrincipalId: null, changedAt }, salt);
    const proof = await readInclusionProof(Number(log_index), 701, readTiles(701));
    verifyInclusion(leafHash(entry), Number(log_index), second, proof);
  }
  verifyConsistency(first, second, await readConsistencyProof(700, 701, readTiles(701)));
  verifyConsistency(empty, second, []);
});

it('signs an unchanged tree again when its checkpoint is old, and keeps one per hour', async () => {
  await start({ checkpointMaxAgeMs: 0 });
  await addFacts(3);
  await published(3);
  const store = new LogCheckpointStore(database.sql);
  const first = await store.newest();
  await waitFor(async () => Number((await store.newest())?.signedAt) > Number(first?.signedAt), {
    what: 'a newer one',
  });
  await superuser.query(
    `INSERT INTO log_checkpoints (origin, size, note, signed_at)
     SELECT $1, size, 'old', date_trunc('hour', now()) - interval '2 days' + size * interval '1 minute'
       FROM generate_series(1, 2) AS size`,
    [ORIGIN],
  );
  await waitFor(async () => (await store.ofSize(1)) === null, { what: 'the end of the earlier one' });
  expect(await store.ofSize(2)).toMatchObject({ note: 'old' });
});

/** Makes the integration of facts fail. */
const NO_ROOM = `
  CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$;
  CREATE TRIGGER a_no_room BEFORE INSERT ON log_tiles FOR EACH STATEMENT EXECUTE FUNCTION no_room()`;

it('stays in the state behind after a failure while another process integrates', async () => {
  const worker = await start();
  await published(0);
  await superuser.query(NO_ROOM);
  await addFacts(1);
  await waitFor(() => worker.status().reason === 'behind');
  await superuser.query('BEGIN');
  await superuser.query('SELECT FROM log_tree FOR UPDATE');
  const rounds = jest.spyOn(database.sql, 'transaction');
  await waitFor(() => rounds.mock.calls.length > 2);
  expect(worker.status().reason).toBe('behind');
  await superuser.query('ROLLBACK');
  await superuser.query('DROP TRIGGER a_no_room ON log_tiles');
  await published(1);
  await waitFor(() => worker.status().status === 'ok');
});

it('builds one log with several workers', async () => {
  await start({ checkpointFile: undefined });
  await start({ checkpointFile: undefined });
  await start({ checkpointFile: undefined });
  let size = 0;
  let last = await published(0);
  for (const count of [1, 300, 5, 2500]) {
    await addFacts(count);
    size += count;
    const next = await published(size);
    verifyConsistency(last, next, last.size === 0 ? [] : await readConsistencyProof(last.size, size, readTiles(size)));
    last = next;
  }
  expect(services.map((service) => service.status())).toEqual(services.map(() => ({ status: 'ok' })));
});

const ROLLED_BACK = { status: 'failed', reason: 'rolled_back' };
const asSuperuser = (text: string) =>
  superuser.query(`SET session_replication_role = replica; ${text}; RESET session_replication_role`);

it('signs nothing if the database lost the newest entries', async () => {
  const before = await start();
  await addFacts(3);
  await published(3);
  await before.stop();
  await asSuperuser(`
    DELETE FROM log_checkpoints WHERE size > 0; DELETE FROM log_entries WHERE log_index >= 2;
    UPDATE log_tiles SET hashes = substr(hashes, 1, 64);
    UPDATE log_tree SET size = 2, root = (SELECT sha256('\\x01'::bytea || hashes) FROM log_tiles)`);
  const after = await start();
  await waitFor(() => after.status().status === 'failed', { what: 'the refusal' });
  expect(after.status()).toMatchObject(ROLLED_BACK);
  await addFacts(5);
  await waitFor(async () => (await new LogIntegrationStore(database.sql).tree()).size === 7);
  await waitFor(() => after.status().status === 'failed');
  expect((await new LogCheckpointStore(database.sql).newest())?.size ?? 0).toBe(0);
});

it('signs nothing if the history was rewritten, even if it is longer', async () => {
  const lines: string[] = [];
  const service = await start({}, lines);
  await addFacts(300);
  await published(300);
  const { size, hashes } = await readRightEdge(300, readTiles(300));
  const forged = [Buffer.from(leafHash('another history')), ...hashes.slice(1)];
  const root = Buffer.from(rootOfEdge({ size, hashes: forged })).toString('hex');
  await asSuperuser(`
    UPDATE log_tiles SET hashes = '\\x${forged[0]?.toString('hex')}' WHERE level = 1;
    UPDATE log_tree SET root = '\\x${root}'`);
  await addFacts(300);
  await waitFor(() => service.status().status === 'failed', { what: 'the refusal' });
  expect((await new LogCheckpointStore(database.sql).newest())?.size).toBe(300);
  // A failure of the integration does not hide it.
  await superuser.query(NO_ROOM);
  await addFacts(1);
  await waitFor(() => lines.some((line) => line.includes('Log integration failed')));
  expect(service.status()).toMatchObject(ROLLED_BACK);
});

it('adds no entry if the stored tiles do not match the root', async () => {
  const service = await start();
  await addFacts(3);
  await published(3);
  await asSuperuser(`UPDATE log_tiles SET hashes = sha256('other') || substr(hashes, 33)`);
  await addFacts(1);
  await waitFor(() => service.status().status !== 'ok', { what: 'the refusal' });
  expect((await new LogIntegrationStore(database.sql).tree()).size).toBe(3);
});

const announce = (key: string) => asOwner(created.url, (sql) => new LogKeyStore(sql).announce(key));
const end = (key: string) => asOwner(created.url, (sql) => new LogKeyStore(sql).end(key));
const keys = async () =>
  (await new LogCheckpointStore(database.sql).keys()).map(({ vkey: key, from, until }) => ({
    key,
    hasSigned: from !== null,
    isEnded: until !== null,
  }));
const figure = async () => (await metrics.getSingleMetric('log_key_unknown')?.get())?.values.map(({ value }) => value);

it('continues with an announced key after one signed by the previous key', async () => {
  const before = await start();
  await addFacts(3);
  await published(3);
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  expect(await announce(verifierKey)).toBe(true);
  expect(await announce(verifierKey)).toBe(false);
  expect(await keys()).toEqual([
    { key: vkey, hasSigned: true, isEnded: false },
    { key: verifierKey, hasSigned: false, isEnded: false },
  ]);
  await published(4);
  await before.stop();
  await start({ signingKeys: [signingKey] });
  await addFacts(1);
  const former = vkey;
  vkey = verifierKey;
  await published(5);
  expect(await end(former)).toBe(true);
  expect(await keys()).toEqual([
    { key: former, hasSigned: true, isEnded: true },
    { key: verifierKey, hasSigned: true, isEnded: false },
  ]);
  const { rows } = await superuser.query<{ log_index: string; salt: Buffer; announced_at: Date; announced_by: string }>(
    `SELECT log_index, salt, announced_at, announced_by FROM log_entries JOIN log_key_announcements USING (announcement_id)`,
  );
  expect(rows).toHaveLength(1);
  for (const { salt, log_index, announced_at: announcedAt, announced_by: announcedBy } of rows) {
    expect(log_index).toBe('3');
    const entry = logEntryText({ type: 'log.key_announced', vkey: verifierKey, announcedBy, announcedAt }, salt);
    const size = (await published(5)).size;
    verifyInclusion(leafHash(entry), 3, await published(5), await readInclusionProof(3, size, readTiles(size)));
  }
});

it('signs nothing with a key until it is announced, and ends no other key', async () => {
  const known = await start();
  await addFacts(3);
  await published(3);
  await known.stop();
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  const lines: string[] = [];
  const strange = await start({ signingKeys: [signingKey] }, lines);
  expect(await figure()).toEqual([0]);
  await waitFor(() => strange.status().reason === 'unknown_key', { what: 'the refusal' });
  expect(strange.status()).toMatchObject({
    status: 'degraded',
    detail: expect.stringContaining(`run iss log-key add ${verifierKey}`),
  });
  expect(await figure()).toEqual([1]);
  await addFacts(2);
  const checkpoints = new LogCheckpointStore(database.sql);
  await waitFor(async () => (await new LogIntegrationStore(database.sql).tree()).size === 5);
  expect((await checkpoints.newest())?.size).toBe(3);
  expect(await keys()).toEqual([{ key: vkey, hasSigned: true, isEnded: false }]);
  // The worker with the known key continues beside it.
  const own = await start({ checkpointFile: undefined });
  await published(5);
  expect(own.status()).toEqual({ status: 'ok' });
  expect(lines.filter((line) => line.includes(`iss log-key add ${verifierKey}`))).toHaveLength(1);

  await announce(verifierKey);
  await waitFor(() => strange.status().status === 'ok', { what: 'the announced key' });
  expect(await figure()).toEqual([0]);
  await end(verifierKey);
  await waitFor(() => strange.status().reason === 'unknown_key', { what: 'the end of the key' });
  expect(await announce(verifierKey)).toBe(true);
});

it('ignores marked checkpoints in the file and the database', async () => {
  const before = await start();
  await addFacts(2);
  await published(2);
  await before.stop();
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  const text = formatCheckpoint({ origin: ORIGIN, size: 9, root: leafHash('another history'), extensionLines: [] });
  const note = await signNote({ text }, [await createSigner(signingKey)], 0);
  writeFileSync(settings.checkpointFile ?? '', note);
  await superuser.query(`INSERT INTO log_checkpoints (origin, size, note) VALUES ($1, 9, $2)`, [ORIGIN, note]);
  await superuser.query(`INSERT INTO log_keys (vkey) VALUES ($1)`, [verifierKey]);
  const refusing = await start();
  await waitFor(() => refusing.status().status === 'failed', { what: 'the refusal' });
  expect(refusing.status()).toMatchObject(ROLLED_BACK);
  await refusing.stop();

  await asOwner(created.url, async (sql) => {
    const store = new LogKeyStore(sql);
    const [marked] = await store.checkpoints(9, 9, 0, 10);
    expect(await store.mark([marked?.checkpointId ?? 0])).toBe(1);
    await store.end(verifierKey);
  });
  expect((await new LogCheckpointStore(database.sql).newest())?.size).toBe(2);
  const after = await start();
  await addFacts(1);
  await published(3);
  expect(after.status()).toEqual({ status: 'ok' });
});

it('integrates without a key, but reports that it signs nothing', async () => {
  const service = await start({ signingKeys: [], origin: '' });
  await addFacts(2);
  await waitFor(async () => (await new LogIntegrationStore(database.sql).tree()).size === 2);
  await waitFor(() => service.status().status === 'degraded');
  expect(await new LogCheckpointStore(database.sql).newest()).toBeNull();
});
