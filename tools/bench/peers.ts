import { spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'pg';
import { repositoryRoot } from '../root.ts';
import { envelopeText } from './flows.ts';
import { Missing } from './run.ts';

const CONCURRENCY = 64;
/** The deadline for the installation of Emmett. */
const INSTALL_MS = 60_000;

/** Runs `work` from many callers at once for a while. Returns its rate per second. */
export async function perSecond(
  measureMs: number,
  work: () => Promise<unknown>,
  callers = CONCURRENCY,
): Promise<number> {
  const endAt = performance.now() + measureMs;
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endAt) {
        await work();
        if (performance.now() < endAt) done += 1;
      }
    }),
  );
  return (done * 1000) / measureMs;
}

/**
 * Returns a function that appends an event of our size to a new stream of Emmett, in process. Emmett is installed into a
 * separate folder, only for the bench, since its packages name no licence.
 * @throws Missing when npm cannot install it.
 */
export async function openEmmett(
  databaseUrl: string,
): Promise<{ append: () => Promise<unknown>; close: () => Promise<void> }> {
  const folder = join(repositoryRoot, 'tools', 'bench', 'peers');
  // npm writes this file last.
  if (!existsSync(join(folder, 'node_modules', '.package-lock.json'))) {
    const words = ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--fetch-retries=0'];
    const npm = spawnSync('npm', words, { stdio: 'ignore', timeout: INSTALL_MS });
    if (npm.status !== 0) throw new Missing('There is no Emmett. Install it: npm ci --prefix tools/bench/peers');
  }
  const entry = createRequire(join(folder, 'package.json')).resolve('@event-driven-io/emmett-postgresql');
  const module: { getPostgreSQLEventStore: (url: string) => EmmettStore } = await import(pathToFileURL(entry).href);
  const store = module.getPostgreSQLEventStore(databaseUrl);
  await store.schema.migrate();
  const data: unknown = JSON.parse(envelopeText(randomUUID(), randomUUID()));
  return {
    append: () => store.appendToStream(`subject-${randomUUID()}`, [{ type: 'SnapshotCreated', data, metadata: {} }]),
    close: () => store.close(),
  };
}

interface EmmettStore {
  schema: { migrate(): Promise<unknown> };
  appendToStream(stream: string, events: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

const RAW_INSERT = `
WITH s AS (INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('organization', $1, 'raw') RETURNING subject_key),
     n AS (INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
           SELECT subject_key, 1, $2, 'raw', '2026-01-15T09:30:00Z', sha256(convert_to($3, 'UTF8')), $3 FROM s)
INSERT INTO outbox_events (event_id, tenant_id, event_type, body, fanned_out_at) VALUES ($2, 'raw', 'identity.snapshot.created', '{}', now())`;

/** Returns a function that inserts a subject, a snapshot and an event in one named statement through `pg`, as pgbench does. */
export function openRawInserts(databaseUrl: string): { insert: () => Promise<unknown>; close: () => Promise<void> } {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 });
  const text = envelopeText(randomUUID(), randomUUID());
  return {
    insert: () => pool.query({ name: 'raw_insert', text: RAW_INSERT, values: [randomUUID(), randomUUID(), text] }),
    close: () => pool.end(),
  };
}

/** Returns the signature of a body, as a job of the loop on BullMQ sends it. */
export function signature(body: string): string {
  return createHmac('sha256', 'secret').update(body).digest('hex');
}
