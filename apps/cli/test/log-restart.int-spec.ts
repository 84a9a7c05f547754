import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, LogCheckpointStore, LogTileStore, openDatabase } from '@iss/persistence';
import { createLogger, type LogSettings } from '@iss/platform';
import {
  type Checkpoint,
  createVerifier,
  generateKeys,
  leafHash,
  openNote,
  parseCheckpoint,
  readInclusionProof,
  TileHashes,
  tileHashReader,
  verifyInclusion,
} from '@iss/tlog';
import { Registry } from 'prom-client';
import { type LogWorker, startLogWorker } from '../../webhook-worker/test/log-worker';
import { waitFor } from '../../../tools/testing/wait-for';
import { iss } from './testing/run-iss';
import { inhabit, RealLog } from './testing/real-log';
import { ORIGIN } from '../../../tools/testing/signed-log.ts';

const NEW_ORIGIN = 'log.example/test-2';
const REASON = 'The backup of Sunday was the newest one; “two hours” are lost.';

const logger = createLogger({ name: 'test', level: 'silent' });

let log: RealLog;
let database: Database;
let folder: string;
let settings: LogSettings;
const services: LogWorker[] = [];

beforeAll(async () => {
  log = await RealLog.create();
  database = await openDatabase({ url: log.url, poolSize: 4, applicationName: 'test' });
  folder = mkdtempSync(join(tmpdir(), 'iss-restart-'));
  settings = {
    origin: ORIGIN,
    signingKeys: [log.signingKey],
    pqSigningKey: undefined,
    checkpointIntervalMs: 10,
    checkpointMaxAgeMs: 60_000,
    checkpointFile: join(folder, 'checkpoint'),
    policyFile: undefined,
  };
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await database?.close();
  await log?.close();
  rmSync(folder, { recursive: true });
});

async function start(change: Partial<LogSettings> = {}): Promise<LogWorker> {
  const { sql } = database;
  const own = { ...settings, ...change };
  const service = await startLogWorker(sql, { log: own }, new Registry(), logger);
  services.push(service);
  return service;
}

const newest = () => new LogCheckpointStore(database.sql).newest();
const restart = (...words: string[]) =>
  iss(['log-restart', '--database-url', log.url, '--origin', NEW_ORIGIN, '--reason', REASON, ...words]);

/** Resets a database to the time when the log had the entries of this checkpoint, like a restore. */
async function loseAfter({ size, root }: Checkpoint): Promise<void> {
  const tiles = new LogTileStore(database.sql);
  const width = size % 256;
  const [edge] = await tiles.read([{ level: 0, index: Math.floor(size / 256), width }]);
  await log.tamper(`
    DELETE FROM snapshot_views v USING log_entries e
     WHERE e.log_index >= ${size} AND v.subject_key = e.subject_key AND v.snapshot_version = e.snapshot_version;
    DELETE FROM snapshots n USING log_entries e
     WHERE e.log_index >= ${size} AND n.subject_key = e.subject_key AND n.snapshot_version = e.snapshot_version;
    DELETE FROM subjects s WHERE NOT EXISTS (SELECT FROM snapshots n WHERE n.subject_key = s.subject_key);
    DELETE FROM log_checkpoints WHERE size > ${size};
    DELETE FROM log_entries WHERE log_index >= ${size};
    UPDATE log_tiles SET hashes = '\\x${edge?.toString('hex')}' WHERE level = 0 AND tile_index = ${Math.floor(size / 256)};
    UPDATE log_tree SET size = ${size}, root = '\\x${Buffer.from(root).toString('hex')}'`);
}

it('log-restart continues a rolled-back log under a new origin and logs the reason first', async () => {
  await inhabit(log);
  const kept = await newest();
  const keptFile = join(folder, 'kept');
  writeFileSync(keptFile, kept?.note ?? '');
  const before = await start();
  await log.addLineage('lost-corp', 3);
  await waitFor(async () => (await newest())?.size === (kept?.size ?? 0) + 3, {
    what: 'the end of the log',
  });
  await before.stop();
  const last = join(folder, 'last');
  const lastNote = readFileSync(join(folder, 'checkpoint'), 'utf8');
  writeFileSync(last, lastNote);
  expect(await restart('--checkpoint', last, '--vkey', log.vkey)).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/^Nothing is lost: the database has all 613 entries/),
  });

  await loseAfter(parseCheckpoint((await openNote(kept?.note ?? '', [createVerifier(log.vkey)])).text));
  const refusing = await start();
  await waitFor(() => refusing.status().status === 'failed', { what: 'the refusal' });
  expect(refusing.status()).toMatchObject({ reason: 'rolled_back' });

  const { signingKey, verifierKey } = await generateKeys(NEW_ORIGIN, 'ed25519');
  const { verifierKey: stranger } = await generateKeys(ORIGIN, 'ed25519');
  const refusals: [string[], number, RegExp][] = [
    [['--checkpoint', keptFile, '--vkey', log.vkey], 1, /^Nothing is lost: the database has all 610 entries/],
    [['--checkpoint', last, '--vkey', verifierKey], 1, /The policy does not name the log/],
    [['--checkpoint', last, '--vkey', stranger], 1, /no signature|not signed|sign/],
    [['--checkpoint', last, '--vkey', log.vkey, '--origin', ORIGIN], 1, /Choose a new name/],
    [['--checkpoint', last, '--vkey', log.vkey, '--origin', 'two words'], 2, /A key name/],
    [['--checkpoint', last, '--vkey', log.vkey, '--reason', 'two\nlines'], 2, /^--reason takes one line/],
    [['--checkpoint', last], 2, /^Name the trusted keys/],
    [['--vkey', log.vkey], 2, /^--checkpoint is missing/],
  ];
  for (const [words, exitCode, complaint] of refusals) {
    expect({ words, ...(await restart(...words)) }).toMatchObject({
      words,
      exitCode,
      complaint: expect.stringMatching(complaint),
    });
  }
  expect(await log.query('SELECT FROM log_restarts')).toEqual([]);

  const facts = await log.query<{
    facts: number;
  }>(`SELECT (SELECT count(*) FROM snapshots) + (SELECT count(*) FROM owner_changes)
    + (SELECT count(*) FROM grants) + (SELECT count(*) FROM grants WHERE revoked_at IS NOT NULL) AS facts`);
  expect(await restart('--checkpoint', last, '--vkey', log.vkey)).toEqual({
    exitCode: 0,
    complaint: '',
    printed: expect.stringMatching(
      /has ended with 613 entries\. The database has 610 of them\. They will be\nlogged again/,
    ),
  });
  // The text is written before anything is integrated.
  await log.addLineage('new-corp', 2);
  await waitFor(() => refusing.status().reason === 'rolled_back' || refusing.status().reason === 'origin_ended', {});
  await refusing.stop();
  const ended = await start();
  await waitFor(() => ended.status().status === 'failed', {
    what: 'the refusal of the former name',
  });
  expect(ended.status()).toMatchObject({ reason: 'origin_ended' });
  await ended.stop();
  expect(await newest()).toBeNull();

  const after = await start({ origin: NEW_ORIGIN, signingKeys: [signingKey] });
  const size = 1 + Number(facts[0]?.facts) + 2;
  await waitFor(async () => (await newest())?.size === size, {
    what: 'the log under its new name',
  });
  expect(after.status()).toEqual({ status: 'ok' });
  const checkpoint = parseCheckpoint(
    (await openNote((await newest())?.note ?? '', [createVerifier(verifierKey)])).text,
  );
  expect(checkpoint.origin).toBe(NEW_ORIGIN);

  const [first] = await log.query<{ salt: Buffer; restarted_at: Date }>(
    `SELECT salt, restarted_at FROM log_entries JOIN log_restarts USING (restart_id) WHERE log_index = 0`,
  );
  const [, , rootLine] = lastNote.split('\n');
  const entry =
    `{"entry_version":"iss_log_entry_v1","previous_checkpoint_hash":"${createHash('sha256').update(lastNote).digest('hex')}",` +
    `"previous_origin":"${ORIGIN}","previous_root":"${rootLine}","previous_size":613,"reason":"${REASON}",` +
    `"restarted_at":"${first?.restarted_at.toISOString()}","salt":"${first?.salt.toString('base64url')}","type":"log.restarted"}`;
  const tiles = new LogTileStore(database.sql);
  const read = tileHashReader(size, async (wanted) =>
    (await tiles.read(wanted)).map((hashes) => new TileHashes(hashes)),
  );
  verifyInclusion(leafHash(entry), 0, checkpoint, await readInclusionProof(0, size, read));

  // All facts are logged again in their order, and the old tree is kept.
  expect(
    await log.query(`SELECT o.log_index, e.log_index AS e, o.entry_type, o.subject_key, o.snapshot_version FROM log_archive_1_entries o JOIN log_entries e
      USING (entry_type) WHERE (o.subject_key, o.snapshot_version) = (e.subject_key, e.snapshot_version) AND o.log_index + 1 <> e.log_index`),
  ).toEqual([]);
  expect(
    await log.query(`SELECT (SELECT count(*)::int FROM log_archive_1_entries) AS entries,
      (SELECT max(size)::int FROM log_archive_1_checkpoints) AS published, (SELECT count(*)::int FROM log_archive_1_tiles WHERE level = 0) AS tiles`),
  ).toEqual([{ entries: 610, published: 610, tiles: 3 }]);
  const audited = await iss(['audit', '--database-url', log.url, '--jobs', '1', '--vkey', verifierKey, '--json']);
  expect(JSON.parse(audited.printed)).toMatchObject({
    clean: true,
    tree_size: size,
    entries: size,
    waiting: 0,
    notices: [],
  });

  // The feeds belong to the new log.
  await waitFor(async () => (await log.query(`SELECT FROM log_feed WHERE size = ${size}`)).length === 1, {
    what: 'the feed',
  });
  expect(await log.query(`SELECT DISTINCT tenant_id FROM tenant_feed ORDER BY 1`)).toEqual([
    { tenant_id: 'acme' },
    { tenant_id: 'beta' },
  ]);

  // A repeated restart names a log that no longer exists.
  expect(await restart('--checkpoint', last, '--vkey', log.vkey, '--origin', 'log.example/test-3')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(
      /^The checkpoint is of the log log\.example\/test, but the database has log\.example\/test-2\./,
    ),
  });
});

it('an audit detects that a superuser changed the row of the restart', async () => {
  const findings = async (): Promise<string[]> => {
    const { printed } = await iss(['audit', '--database-url', log.url, '--jobs', '1', '--json']);
    return JSON.parse(printed).findings.map(({ check }: { check: string }) => check);
  };
  await log.tamper(`UPDATE log_restarts SET reason = 'Nothing happened.'`);
  expect(await findings()).toEqual(['leaf']);
  await log.tamper(`UPDATE log_restarts SET reason = '${REASON}'`);
  expect(await findings()).toEqual([]);
  await log.tamper(`UPDATE log_restarts SET previous_checkpoint = previous_checkpoint || 'x'`);
  expect(await findings()).toEqual(['leaf']);
});

it('an erased version remains provable after a restart of the log', async () => {
  const own = await RealLog.create();
  try {
    await own.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
    await own.addLineage('acme-corp', 5);
    await own.publish();
    await own.erase('acme-corp', [2]);
    await own.publish();
    await own.query(`SELECT restart_log('${ORIGIN}', 'log.example/before', 0, sha256(''), 'its last note', 'a test')`);
    await own.publish();
    const audited = await iss(['audit', '--database-url', own.url, '--jobs', '1', '--vkey', own.vkey, '--json']);
    expect(JSON.parse(audited.printed)).toMatchObject({ clean: true, findings: [] });
    const file = join(folder, 'bundle');
    writeFileSync(file, await own.bundle('acme-corp'));
    expect(await iss(['verify', file, '--vkey', own.vkey])).toMatchObject({
      exitCode: 0,
      printed: expect.stringMatching(/Erased +2: log entries/),
    });
  } finally {
    await own.close();
  }
});
