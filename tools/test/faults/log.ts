import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { requireWholeLog } from '../../testing/log-history.ts';
import type { Product } from '../../testing/product.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { anyOf, scenario, type Scene } from './scene.ts';

const KILLS = Number(process.env['FAULT_KILLS'] ?? 2);
/** The number of facts that accumulate, or are integrated, before the next step. */
const SOME = 100;
const CONNECTIONS = 4;
/** Leaves processor time to the workers under test, which would otherwise fall behind. */
const FACT_PAUSE_MS = 20;
const DEADLINE_MS = 120_000;

/** Tests the log under faults, while all workers of the product integrate. */
export function logFaults(product: () => Product, vkey: () => string): void {
  scenario('every fact gets one entry if workers are killed while they integrate', product, async (scene) => {
    const facts = startFacts(scene);
    const { workers } = scene.product;
    for (let kills = 0; kills < KILLS; kills += 1) {
      await untilIntegrated(scene.product, (await sizeOf(scene.product)) + 1 + anyOf(100));
      const victim = workers[kills % workers.length];
      await victim?.kill();
      await victim?.start();
    }
    await Promise.all(workers.map((worker) => untilLog(worker.url, 'ok')));
    await facts.stop();
    expect(await requireWholeLog(scene.product, vkey())).toBeGreaterThan(KILLS);
  });

  scenario('a fact that commits late, after newer facts were integrated, gets its entry', product, async (scene) => {
    const late = await connectTo(scene);
    await late.query('BEGIN');
    const snapshotId = await addVersions(late, 1);
    const [mark] = (
      await late.query<{ waiting_id: string }>(
        'SELECT max(waiting_id) AS waiting_id FROM log_waiting WHERE entry_type = 1',
      )
    ).rows;
    const facts = startFacts(scene);
    await untilIntegrated(scene.product, (await sizeOf(scene.product)) + SOME);
    await facts.stop();
    await requireWholeLog(scene.product, vkey());
    // More than SOME newer marks were assigned, and requireWholeLog found all visible ones integrated.
    const [next] = await scene.product.query<{ id: string }>(`SELECT nextval('log_waiting_waiting_id_seq') AS id`);
    expect(Number(next?.id)).toBeGreaterThan(Number(mark?.waiting_id) + SOME);
    await late.query('COMMIT');
    const size = await requireWholeLog(scene.product, vkey());
    const entries = await scene.product.query(
      'SELECT log_index::int FROM log_entries JOIN snapshots USING (subject_key, snapshot_version) WHERE snapshot_id = $1',
      [snapshotId],
    );
    expect(entries).toEqual([{ log_index: size - 1 }]);
  });

  scenario('every fact gets one entry if PostgreSQL stops immediately during integration', product, async (scene) => {
    const { postgres, workers } = scene.product;
    const facts = startFacts(scene);
    await untilIntegrated(scene.product, (await sizeOf(scene.product)) + SOME + anyOf(SOME));
    await postgres.stop('immediately');
    await Promise.all(workers.map((worker) => untilLog(worker.url, 'behind')));
    await postgres.start();
    await Promise.all(workers.map((worker) => untilLog(worker.url, 'ok')));
    await untilIntegrated(scene.product, (await sizeOf(scene.product)) + SOME);
    await facts.stop();
    await requireWholeLog(scene.product, vkey());
  });

  for (const table of ['log_tiles', 'log_checkpoints']) {
    scenario(`publication stops while ${table} has no disk space, and continues afterwards`, product, async (scene) => {
      const { workers } = scene.product;
      const facts = startFacts(scene);
      await untilIntegrated(scene.product, (await sizeOf(scene.product)) + 1);
      await fill(scene.product, table, true);
      scene.afterwards(() => fill(scene.product, table, false));
      await Promise.all(workers.map((worker) => untilLog(worker.url, 'behind')));
      const before = await stateOf(scene.product);
      const marks = (await waitingOf(scene.product)) + SOME;
      const isStopped = table !== 'log_checkpoints';
      if (isStopped) await waitFor(async () => (await waitingOf(scene.product)) > marks, { deadlineMs: DEADLINE_MS });
      else await untilIntegrated(scene.product, before.size + SOME);
      const after = await stateOf(scene.product);
      expect(after).toEqual({ published: before.published, size: isStopped ? before.size : after.size });
      await fill(scene.product, table, false);
      await Promise.all(workers.map((worker) => untilLog(worker.url, 'ok')));
      await untilIntegrated(scene.product, after.size + SOME);
      await facts.stop();
      await requireWholeLog(scene.product, vkey());
    });
  }
}

/** Makes inserts into a table fail as on a full disk, or lets them succeed again. */
async function fill(product: Product, table: string, isFull: boolean): Promise<void> {
  await product.query(
    isFull
      ? `CREATE OR REPLACE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER a_no_room BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION no_room()`
      : `DROP TRIGGER IF EXISTS a_no_room ON ${table}`,
  );
}

async function stateOf(product: Product): Promise<{ size: number; published: number }> {
  const [state] = await product.query<{ size: number; published: number }>(
    'SELECT size::int, (SELECT max(size)::int FROM log_checkpoints) AS published FROM log_tree',
  );
  return state ?? { size: NaN, published: NaN };
}

const sizeOf = async (product: Product): Promise<number> => (await stateOf(product)).size;

async function waitingOf(product: Product): Promise<number> {
  const [row] = await product.query<{ count: number }>('SELECT count(*)::int AS count FROM log_waiting');
  return row?.count ?? NaN;
}

async function untilIntegrated(product: Product, size: number): Promise<void> {
  await waitFor(async () => (await sizeOf(product)) >= size, { deadlineMs: DEADLINE_MS, what: `a log of ${size}` });
}

/** Waits until the worker reports this state of the log. */
async function untilLog(url: string, state: 'ok' | 'behind'): Promise<void> {
  let last: unknown;
  const isSaid = async (): Promise<boolean> => {
    const { checks }: { checks?: { log?: { status: string; reason?: string } } } = JSON.parse(
      await (await fetch(`${url}/v1/ops/readiness`)).text(),
    );
    last = checks?.log;
    return (checks?.log?.reason ?? checks?.log?.status) === state;
  };
  await waitFor(isSaid, { deadlineMs: DEADLINE_MS }).catch(() => {
    throw new Error(`The log of ${url} is not ${state}: ${JSON.stringify(last)}`);
  });
}

/** Commits facts of all types on several connections until it is stopped. Replaces lost connections. */
function startFacts(scene: Scene): { stop(): Promise<void> } {
  let isStopping = false;
  const write = async (): Promise<void> => {
    while (!isStopping) {
      try {
        const client = await scene.product.connect();
        try {
          while (!isStopping) {
            await addFacts(client);
            await pause(FACT_PAUSE_MS);
          }
        } finally {
          await client.end();
        }
      } catch (error) {
        if (!isOutage(error)) throw error;
        await waitFor(async () => isStopping || (await scene.product.query('SELECT 1')), { deadlineMs: DEADLINE_MS });
      }
    }
  };
  const ended = Promise.all(Array.from({ length: CONNECTIONS }, write));
  const stop = async (): Promise<void> => {
    isStopping = true;
    await ended;
  };
  ended.catch(() => undefined);
  scene.afterwards(stop);
  return { stop };
}

/** Returns whether an error is an outage and not a fault that the server found in a statement. */
function isOutage(error: unknown): boolean {
  const code: unknown = Reflect.get(Object(error), 'code');
  return typeof code !== 'string' || !/^[0-4][0-9A-Z]{4}$/.test(code);
}

async function addFacts(client: Client): Promise<void> {
  switch (anyOf(3)) {
    case 0:
      await addVersions(client, 1 + anyOf(5));
      break;
    case 1:
      await client.query(
        `INSERT INTO owner_changes (tenant_id, principal_id) SELECT 'acme', $1 || n FROM generate_series(1, $2::int) n`,
        [randomUUID(), 1 + anyOf(20)],
      );
      break;
    default:
      await addGrant(client, anyOf(2) === 1);
  }
}

/** Creates a subject with a chain, in one statement per version. Returns the id of the last version. */
async function addVersions(client: Client, versions: number): Promise<string> {
  const key = await addSubject(client);
  let [snapshotId, parent]: [string, Buffer | null] = ['', null];
  for (let version = 1; version <= versions; version += 1) {
    snapshotId = randomUUID();
    const envelope = JSON.stringify({ snapshotId });
    const hash = createHash('sha256').update(envelope).digest();
    await client.query(
      `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
       VALUES ($1, $2, $3, 'acme', '2026-01-15T09:30:00Z', $4, $5, $6)`,
      [key, version, snapshotId, hash, parent, envelope],
    );
    parent = hash;
  }
  return snapshotId;
}

/** Adds a grant. If `isRevoked`, the same transaction revokes it. */
async function addGrant(client: Client, isRevoked: boolean): Promise<void> {
  const grantId = randomUUID();
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     VALUES ($1, 'acme', 'bank', $2, '{read_latest,read_lineage}')`,
    [grantId, await addSubject(client)],
  );
  if (isRevoked) await client.query('UPDATE grants SET revoked_at = now() WHERE grant_id = $1', [grantId]);
  await client.query('COMMIT');
}

async function addSubject(client: Client): Promise<string> {
  const { rows } = await client.query<{ subject_key: string }>(
    `INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('entity', $1, 'acme') RETURNING subject_key`,
    [randomUUID()],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The subject has no key');
  return row.subject_key;
}

async function connectTo(scene: Scene): Promise<Client> {
  const client = await scene.product.connect();
  scene.afterwards(() => client.end());
  return client;
}
