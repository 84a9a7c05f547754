import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Members } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { generateKeys, parsePolicy, verifyCheckpoint } from '@iss/tlog';
import type { Client } from 'pg';
import { repositoryRoot } from '../../root.ts';
import { addLineage } from '../../testing/lineage.ts';
import { type Product, startProduct } from '../../testing/product.ts';
import type { ProductProcess } from '../../testing/product-process.ts';
import { IS_EXHAUSTIVE } from '../../testing/runs.ts';
import { TestTenant } from '../../testing/tenant.ts';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../../testing/vrf-key.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { type AuditorProcess, prepareWitness } from '../../testing/witness-process.ts';

const ORIGIN = 'log.example/map-faults';
const SUBJECT = 'acme-corp';
const DEADLINE_MS = 120_000;
/** More facts than one step of the backfill takes. */
const OLD_FACTS = 1_100;

/**
 * The tables that steps of the backfill write, and then those that integration and publication write, in their order. Each step is one
 * transaction, so some of them suffice.
 */
const OF_BACKFILL = IS_EXHAUSTIVE
  ? ['map_counting', 'map_state', 'log_tiles', 'map_buckets', 'log_tree']
  : ['map_counting', 'map_buckets'];
const OF_INTEGRATION = IS_EXHAUSTIVE
  ? ['record_batches', 'map_streams', 'map_tiles', 'map_former', 'log_entries', 'log_checkpoints']
  : ['map_streams', 'log_entries', 'log_checkpoints'];

/** The advisory lock for which writers of a gated table wait. */
const GATE = 4711;

let auditor: AuditorProcess;
let folder: string;
let gate: Client;
let policy: string;
let product: Product;
let tenant: TestTenant;
let facts: Client;

jest.setTimeout(480_000);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-map-faults-'));
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  auditor = await prepareWitness(folder, 'auditor', verifierKey);
  const lines = [
    `log ${verifierKey}`,
    `witness one ${auditor.vkey} ${auditor.url}`,
    'quorum one',
    `vrf ${TEST_VRF_KEY}`,
  ];
  policy = `${lines.join('\n')}\n`;
  writeFileSync(join(folder, 'policy'), policy);
  product = await startProduct({
    queue: 'postgresql',
    gateways: 1,
    workers: 0,
    env: {
      ...{ LOG_ORIGIN: ORIGIN, LOG_SIGNING_KEY: signingKey, LOG_VRF_KEY: TEST_VRF_SECRET },
      LOG_CHECKPOINT_INTERVAL_MS: '100',
    },
  });
  [gate, facts] = await Promise.all([product.connect(), product.connect()]);
  await gate.query(`CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NULL; END $$`);
  tenant = await TestTenant.open(product, 'acme');
  await tenant.create(tenant.owner, SUBJECT);
});
afterAll(async () => {
  await Promise.all([gate?.end(), facts?.end(), auditor?.stop()]);
  await product?.close();
  rmSync(folder, { recursive: true });
});

/** Adds facts of most streams. */
async function addFacts(): Promise<void> {
  const subjectId = randomUUID();
  await addLineage(facts, { tenantId: 'acme', subjectType: 'entity', subjectId }, 3);
  await facts.query(
    `WITH subject AS (SELECT subject_key FROM subjects WHERE subject_id = $1), granted AS (
       INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       SELECT gen_random_uuid(), 'acme', 'bank', subject_key, '{read_latest}' FROM subject
     )
     INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
     SELECT subject_key, '2026-01-15', 'bank', 'oidc:p#bob', 'snapshot', v, v, 'r' FROM subject, generate_series(1, 3) v`,
    [subjectId],
  );
}

/**
 * Starts a worker, and kills it with SIGKILL while it waits to write the table. Returns the worker.
 */
async function killAt(table: string, start: () => Promise<ProductProcess>): Promise<ProductProcess> {
  await gate.query('SELECT pg_advisory_lock($1)', [GATE]);
  await gate.query(
    `CREATE TRIGGER aa_gate BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION pass_gate()`,
  );
  const worker = await start();
  await addFacts();
  const blocked = async (): Promise<number | undefined> =>
    (
      await product.query<{ pid: number }>(
        `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${GATE} AND NOT granted`,
      )
    )[0]?.pid;
  const pid = await waitFor(blocked, { deadlineMs: DEADLINE_MS, what: `a worker that writes ${table}` });
  await worker.kill();
  await gate.query('SELECT pg_terminate_backend($1)', [pid]);
  await gate.query('SELECT pg_advisory_unlock($1)', [GATE]);
  await gate.query(`DROP TRIGGER aa_gate ON ${table}`);
  return worker;
}

/** Waits until all facts have their keys, and the tree is published. */
async function settled(): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const [row] = await product.query<{ done: boolean }>(
      `SELECT NOT EXISTS (SELECT FROM log_waiting) AND NOT EXISTS (SELECT FROM records_waiting)
          AND (SELECT m.backfilled_to = m.starts_at FROM map_state m)
          AND t.size = (SELECT c.size FROM log_checkpoints c ORDER BY c.checkpoint_id DESC LIMIT 1) AS done FROM log_tree t`,
    );
    return row?.done === true;
  };
  await waitFor(isSettled, { deadlineMs: DEADLINE_MS, what: 'the map of all facts' });
}

async function command(words: readonly string[]): Promise<string> {
  const env = { ...process.env, LOG_VRF_KEY: TEST_VRF_SECRET };
  const main = join(repositoryRoot, 'apps/cli/dist/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words], { env }).catch((error: unknown) => {
    throw new Error(String(Reflect.get(Object(error), 'stdout')).slice(0, 2_000), { cause: error });
  });
  return stdout;
}

let workers: ProductProcess[];

it('the map recovers if a worker is killed before it writes each of the tables', async () => {
  const without = await product.startWorker('without-a-map', { LOG_VRF_KEY: '' });
  await addLineage(facts, { tenantId: 'acme', subjectType: 'entity', subjectId: 'older' }, OLD_FACTS);
  await addFacts();
  const isLogged = async (): Promise<boolean> => (await product.query('SELECT FROM log_waiting LIMIT 1')).length === 0;
  await waitFor(isLogged, { deadlineMs: DEADLINE_MS, what: 'the log of older entries' });
  await without.stop(DEADLINE_MS);

  const started: ProductProcess[] = [];
  const [first = '', second = '', ...others] = [...OF_BACKFILL, ...OF_INTEGRATION];
  started.push(await killAt(first, () => product.startWorker('one', {})));
  started.push(await killAt(second, () => product.startWorker('two', {})));
  for (const [turn, table] of others.entries()) {
    if (table === OF_INTEGRATION[0]) {
      await Promise.all(started.map((worker) => worker.start()));
      await settled();
      await Promise.all(started.map((worker) => worker.kill()));
    }
    const worker = started[turn % 2];
    if (worker === undefined) throw new Error('there are two workers');
    await killAt(table, async () => {
      await worker.start();
      return worker;
    });
  }
  workers = started;
  await Promise.all(workers.map((worker) => worker.start()));
  await settled();
});

it('the map recovers if PostgreSQL stops immediately while two workers integrate', async () => {
  for (let count = 0; count < 5; count += 1) await addFacts();
  await product.postgres.stop('immediately');
  await product.postgres.start();
  [gate, facts] = await Promise.all([product.connect(), product.connect()]);
  for (let count = 0; count < 5; count += 1) await addFacts();
  await settled();
});

it('after all faults, an audit, a witness that rebuilds the map, and readers accept it', async () => {
  await Promise.all(workers.map((worker) => worker.stop(DEADLINE_MS)));
  auditor.auditMapOf(`${product.gateways[0]?.url}/log`);
  await auditor.start();
  await product.startWorker('audited', { LOG_POLICY_FILE: join(folder, 'policy') });
  await addFacts();
  await settled();
  const { checkpoint } = await verifyCheckpoint(
    await (await fetch(`${product.gateways[0]?.url}/log/checkpoint`)).text(),
    parsePolicy(policy),
  );
  const [tree] = await product.query<{ size: number }>('SELECT size::int FROM log_tree');
  expect(checkpoint.size).toBe(tree?.size);

  const { user, password, host, port, database } = facts;
  const url = `postgresql://${user}:${password}@${host}:${port}/${database}`;
  const words = ['audit', '--database-url', url, '--policy', join(folder, 'policy'), '--vrf', '--json'];
  expect(JSON.parse(await command(words))).toMatchObject({ clean: true, findings: [], tree_size: tree?.size });

  const path = `${tenant.pathOf(SUBJECT)}/latest-proof?wait=10`;
  const { body } = await tenant.require(200, 'GET', path);
  const answer = Members.parse('The answer', JSON.stringify(body));
  const proved = await verifyMapAnswer(answer, { policy: parsePolicy(policy), vrfKey: TEST_VRF_KEY });
  expect(proved.json).toMatchObject({ kind: 'latest', snapshot_version: 1, as_of_size: tree?.size });
  expect(product.faults()).toEqual([]);
});
