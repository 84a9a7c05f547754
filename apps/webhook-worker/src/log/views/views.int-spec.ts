import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { canonicalize, commitView, type JsonObject, seal } from '@iss/domain';
import { type Database, LogEntryStore, openDatabase, ViewStore } from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '../../../../../tools/testing/test-database';
import { TEST_VRF_SECRET } from '../../../../../tools/testing/vrf-key';
import { untilBlocks } from '../../../../../tools/testing/until-blocks';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { type LogWorker, startLogWorker } from '../../../test/log-worker';

let created: TestDatabase;
let database: Database;
let superuser: Client;
const workers: LogWorker[] = [];
const lines: string[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, poolSize: 6, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await superuser.end();
  await database.close();
  await created.drop();
});

const SUBJECT = { subjectType: 'organization', subjectId: 'viewed' };

async function start(vrfKey?: string): Promise<void> {
  const log = {
    ...{ origin: 'log.example/test', signingKeys: [], pqSigningKey: undefined, checkpointFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000, policyFile: undefined },
  };
  const logger = createLogger({ name: 'test', level: 'warn' }, { write: (line) => lines.push(line) });
  workers.push(await startLogWorker(database.sql, { log, vrfKey }, new Registry(), logger));
}

/** Stores one version of each text, as an import does. Returns the ids of the snapshots. */
async function store(texts: readonly string[]): Promise<string[]> {
  const ids = texts.map(() => randomUUID());
  await superuser.query(
    `WITH s AS (
       INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ($1, $2, 'acme') RETURNING subject_key
     )
     INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope, envelope_hash, prev_hash)
     SELECT subject_key, place, id, 'acme', 'x', text, sha256(convert_to(text, 'UTF8')),
            CASE WHEN place > 1 THEN sha256(convert_to(lag(text) OVER (ORDER BY place), 'UTF8')) END
       FROM s, unnest($3::uuid[], $4::text[]) WITH ORDINALITY AS i(id, text, place)`,
    [SUBJECT.subjectType, SUBJECT.subjectId, ids, texts],
  );
  return ids;
}

async function viewHashes(count: number): Promise<(string | null)[]> {
  const entries = await waitFor(
    async () => {
      const found = await new LogEntryStore(database.sql).ofVersions(SUBJECT, 1, count);
      return found.length === count ? found : null;
    },
    { what: `${count} entries` },
  );
  return entries.map(({ fact }) => (fact.type === 'snapshot.created' ? fact.viewHash : null));
}

const envelope = (attributes: JsonObject): string => seal({ subject: { subject_id: 'viewed' }, attributes }).text;
const shaOf = (text: string): string => createHash('sha256').update(text).digest('hex');

it.each([
  ['a map', TEST_VRF_SECRET],
  ['no map', undefined],
])('commits to small and large versions, but not to invalid ones, in a log with %s', async (_, vrfKey) => {
  lines.length = 0;
  const large = envelope({ list: Array.from({ length: 20_000 }, (__, index) => `value ${index}`) });
  const texts = [envelope({ a: 1 }), large, 'junk', canonicalize([]), envelope({ b: { c: [1, 2] } })];
  const ids = await store(texts);
  await start(vrfKey);
  const hashes = await viewHashes(texts.length);
  const views = await new ViewStore(database.sql).find(ids);
  expect(hashes).toEqual(
    texts.map((text, place) => {
      const secret = views.get(ids[place] ?? '')?.secret;
      if (secret === undefined || secret === null) return null;
      const parent = texts[place - 1];
      const prevHash = parent === undefined ? null : shaOf(parent);
      return commitView({ text, envelopeHash: shaOf(text), prevHash, secret });
    }),
  );
  expect(hashes.map((hash) => hash === null)).toEqual([false, false, true, true, false]);
  expect(lines.join()).toContain(ids[2]);
});

it('logs the view that the gateway stored during integration', async () => {
  const [id = ''] = await store([envelope({ a: 1 })]);
  const [secret, hash] = [randomBytes(32), randomBytes(32)];
  await superuser.query('BEGIN');
  await superuser.query(
    `INSERT INTO snapshot_views (subject_key, snapshot_version, view_secret, view_hash) SELECT subject_key, 1, $1, $2 FROM snapshots`,
    [secret, hash],
  );
  await start();
  await untilBlocks(superuser);
  await superuser.query('COMMIT');
  expect(await viewHashes(1)).toEqual([hash.toString('hex')]);
  expect((await new ViewStore(database.sql).find([id])).get(id)?.secret).toEqual(secret);
  const { rows } = await superuser.query('SELECT FROM log_entries WHERE entry_type = 14');
  expect(rows).toEqual([]);
});
