import { randomBytes } from 'node:crypto';
import { type ClientBase, Pool } from 'pg';

export interface TestDatabase {
  /** The superuser's connection string for this database. */
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Creates a database in the cluster of TEST_POSTGRES_URL; call `drop` in `afterAll`. With `migrated` it is a copy of a template,
 * created once per run, that has the migrations of the service, or also those of a queue in the same database.
 */
export async function createTestDatabase({ migrated }: { migrated?: Migrated } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  if (migrated !== undefined) await (templates[migrated] ??= withServer((client) => makeTemplate(client, migrated)));
  await withServer(async (client) => {
    // Copying files takes half the time of logging each page.
    await client.query(
      `CREATE DATABASE ${name} TEMPLATE ${migrated === undefined ? 'template0' : TEMPLATES[migrated]} STRATEGY file_copy`,
    );
  });
  return {
    url: urlOf(name),
    drop: () =>
      withServer(async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

type Migrated = 'service' | 'service and queue';
const TEMPLATES: Readonly<Record<Migrated, string>> = {
  service: 'iss_migrated',
  'service and queue': 'iss_migrated_with_queue',
};

/** The templates that this process has seen. */
const templates: Partial<Record<Migrated, Promise<void>>> = {};

/**
 * Makes the template unless another process did. It has another name at first, so that a failed migration leaves no template that
 * looks complete.
 */
async function makeTemplate(client: ClientBase, migrated: Migrated): Promise<void> {
  const template = TEMPLATES[migrated];
  await client.query('SELECT pg_advisory_lock(7261001)');
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (found.rowCount !== 0) return;
    const draft = `${template}_draft`;
    await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${draft} TEMPLATE template0`);
    const { migrate } = await import('@iss/persistence');
    await migrate(urlOf(draft));
    if (migrated === 'service and queue') {
      const { migrateQueue } = await import('@iss/queue');
      await migrateQueue(urlOf(draft));
    }
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
  } finally {
    await client.query('SELECT pg_advisory_unlock(7261001)');
  }
}

function serverUrl(): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (!url)
    throw new Error('TEST_POSTGRES_URL is not set: the project lacks globalSetup tools/testing/global-setup.ts');
  return url;
}

function urlOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.toString();
}

// A connection costs as much processor time as a copy. While it is idle, it does not keep the process alive.
let server: Pool | undefined;

async function withServer(use: (client: ClientBase) => Promise<void>): Promise<void> {
  server ??= new Pool({ connectionString: serverUrl(), max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true }).on(
    'error',
    () => undefined,
  );
  const client = await server.connect();
  try {
    await use(client);
  } finally {
    client.release();
  }
}
