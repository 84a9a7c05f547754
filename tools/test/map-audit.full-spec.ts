import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateKeys, parsePolicy, verifyCheckpoint } from '@iss/tlog';
import { repositoryRoot } from '../root.ts';
import { type Product, startProduct } from '../testing/product.ts';
import { TestTenant, textAt } from '../testing/tenant.ts';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../testing/vrf-key.ts';
import { waitFor } from '../testing/wait-for.ts';
import { type AuditorProcess, prepareWitness } from '../testing/witness-process.ts';

const ORIGIN = 'log.example/audited';

let folder: string;
let auditor: AuditorProcess;
let policy: string;
let product: Product;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-audit-'));
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  auditor = await prepareWitness(folder, 'auditor', verifierKey);
  policy = [
    `log ${verifierKey}`,
    `witness one ${auditor.vkey} ${auditor.url}`,
    'group auditors any one',
    'quorum auditors',
    `vrf ${TEST_VRF_KEY}`,
    '',
  ].join('\n');
  writeFileSync(join(folder, 'policy'), policy);
  product = await startProduct({
    queue: 'postgresql',
    database: 'tests',
    gateways: 1,
    workers: 1,
    env: {
      LOG_ORIGIN: ORIGIN,
      LOG_SIGNING_KEY: signingKey,
      LOG_VRF_KEY: TEST_VRF_SECRET,
      LOG_POLICY_FILE: join(folder, 'policy'),
    },
  });
  auditor.auditMapOf(`${product.gateways[0]?.url}/log`);
  await auditor.start();
});
afterAll(async () => {
  await auditor?.stop();
  await product?.close();
  rmSync(folder, { recursive: true });
});

/** Returns the size of the published checkpoint, which the policy accepts; -1 if there is none. */
async function publishedSize(): Promise<number> {
  const response = await fetch(`${product.gateways[0]?.url}/log/checkpoint`);
  if (response.status !== 200) return -1;
  const { checkpoint } = await verifyCheckpoint(await response.text(), parsePolicy(policy));
  return checkpoint.size;
}

const logSize = async (): Promise<number> => {
  const [row] = await product.query<{ size: string }>('SELECT size FROM log_tree');
  return Number(row?.size);
};

/** Adds facts, and waits until they are in the log. */
async function addFacts(count: number): Promise<void> {
  const before = await logSize();
  await product.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT 'acme', gen_random_uuid()::text FROM generate_series(1, $1)`,
    [count],
  );
  await waitFor(async () => (await logSize()) > before + count, { what: 'the log' });
}

const isPublished = () =>
  waitFor(async () => (await publishedSize()) === (await logSize()), {
    what: 'a cosigned checkpoint',
  });

/** Runs `iss monitor --subject` as the owner, and returns what it proved. */
async function proved(subjectId: string): Promise<unknown> {
  const env = {
    ...process.env,
    ISS_BASE_URL: product.gateways[0]?.url,
    ISS_TOKEN: await product.token('acme-owner'),
    ISS_TENANT: 'acme',
  };
  const files = ['--policy', join(folder, 'policy'), '--state', join(folder, 'subject')];
  const words = ['monitor', '--subject', `organization/${subjectId}`, ...files, '--json'];
  const command = join(repositoryRoot, 'apps/cli/dist/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...words], { env });
  return JSON.parse(stdout);
}

it('iss monitor --subject proves the newest version to the owner after each change', async () => {
  const tenant = await TestTenant.open(product, 'acme');
  expect((await tenant.create(tenant.owner, 'acme-corp')).status).toBe(201);
  expect(await proved('acme-corp')).toMatchObject({
    consistent_with: null,
    streams: { v: { number: 1 }, a: { number: 0, log_index: null }, p: { number: 0, log_index: null } },
  });
  const { body } = await tenant.propose(tenant.owner, 'acme-corp', 1);
  expect((await tenant.apply(tenant.owner, 'acme-corp', textAt(body, 'update_id'))).status).toBe(200);
  await isPublished();
  expect(await proved('acme-corp')).toMatchObject({
    consistent_with: { tree_size: expect.any(Number) },
    streams: { v: { number: 2 } },
  });
});

it('the auditor cosigns a log, catches up after an outage, and refuses a falsified map', async () => {
  await addFacts(300);
  await isPublished();
  await addFacts(5);
  await isPublished();

  // An auditor that was away catches up.
  await auditor.kill();
  await addFacts(400);
  expect(await publishedSize()).toBeLessThan(await logSize());
  await auditor.start();
  await isPublished();

  const honest = await publishedSize();
  await product.query(`SET session_replication_role = replica; DO $$
    DECLARE one record;
    BEGIN
      SELECT path, content INTO one FROM map_buckets ORDER BY path DESC LIMIT 1;
      -- The largest key, in the first entry.
      UPDATE map_buckets SET content = one.content || decode(repeat('ff', 32) || repeat('00', 5), 'hex') WHERE path = one.path;
    END $$`);
  await addFacts(200);
  const workerLog = (): string => readFileSync(product.workers[0]?.logFile ?? '', 'utf8');
  await waitFor(() => workerLog().includes('it answered 403: The root of the map in entry'), {
    what: 'the refusal of the auditor',
  });
  expect(await publishedSize()).toBe(honest);
});
