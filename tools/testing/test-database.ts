import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface TestDatabase {
  /** Connection string of the superuser for this database. */
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Makes a fresh database in the cluster that TEST_POSTGRES_URL names; call `drop` in `afterAll`.
 * With `migrated: true` it is a copy of a template that has all migrations, made once per run.
 */
export async function createTestDatabase({ migrated = false }: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withServer(async (client) => {
    if (migrated) await requireTemplate(client);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${migrated ? template : 'template0'}`);
  });
  return {
    url: urlOf(name),
    drop: () =>
      withServer(async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

const template = 'iss_migrated';

/** Builds the template under another name first, so that a failed migration leaves none that looks complete. */
async function requireTemplate(client: Client): Promise<void> {
  await client.query('SELECT pg_advisory_lock(7261001)');
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (found.rowCount !== 0) return;
    const draft = `${template}_draft`;
    await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${draft} TEMPLATE template0`);
    const { migrate } = await import('@iss/persistence');
    await migrate(urlOf(draft));
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

async function withServer(use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
