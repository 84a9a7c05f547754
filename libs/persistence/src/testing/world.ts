import { randomUUID } from 'node:crypto';
import { type Role, ROLES, seal } from '@iss/domain';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { type Database, openDatabase } from '../database';
import type { SnapshotToAppend } from '../stores/snapshots/snapshot-write.store';
import { TenancyStore } from '../stores/tenancy/tenancy.store';

/** A migrated database with the application's connections, and the names of the statements that were sent. */
export interface World {
  url: string;
  database: Database;
  sent: string[];
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const created: TestDatabase = await createTestDatabase({ migrated: 'service' });
  const sent: string[] = [];
  const database = await openDatabase({
    url: created.url,
    poolSize: 8,
    applicationName: 'test',
    observe: (name) => sent.push(name),
  }).catch(async (error: unknown) => {
    await created.drop();
    throw error;
  });
  return {
    url: created.url,
    database,
    sent,
    close: async () => {
      await database.close();
      await created.drop();
    },
  };
}

/** A world for several tests, which share its connections and their prepared plans. */
export interface SharedWorld extends World {
  /** A connection of the superuser. */
  admin: Client;
  /** Restores the rows that the migrations left in each table. Sequences continue. */
  empty(): Promise<void>;
}

export async function openSharedWorld(): Promise<SharedWorld> {
  const world = await openWorld();
  const [admin, cleaner] = [1, 2].map(() => new Client({ connectionString: world.url }));
  if (admin === undefined || cleaner === undefined) throw new Error('there are two');
  await Promise.all([admin.connect(), cleaner.connect()]);
  const reset = await resetOf(cleaner);
  return {
    ...world,
    admin,
    empty: async () => {
      await cleaner.query(reset);
      world.sent.length = 0;
    },
    close: async () => {
      await Promise.all([admin.end(), cleaner.end()]);
      await world.close();
    },
  };
}

/**
 * Copies the rows of the migrated database, and returns the statements that restore them. Triggers refuse most deletions, so they
 * are disabled.
 */
async function resetOf(cleaner: Client): Promise<string> {
  await cleaner.query('SET session_replication_role = replica; CREATE SCHEMA pristine');
  const { rows } = await cleaner.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migrations'`,
  );
  const steps: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await cleaner.query(`SELECT FROM public.${name} LIMIT 1`);
    steps.push(`DELETE FROM public.${name};`);
    if (rowCount !== 0) {
      await cleaner.query(`CREATE TABLE pristine.${name} AS TABLE public.${name}`);
      steps.push(`INSERT INTO public.${name} OVERRIDING SYSTEM VALUE SELECT * FROM pristine.${name};`);
    }
  }
  return steps.join('\n');
}

/** Adds a tenant with one member per role. Each principal has the name of its role. */
export async function addTenant({ database }: Pick<World, 'database'>, tenantId: string): Promise<void> {
  const owner = { tenantId, principalId: 'tenant_owner', requestId: 'r' };
  const tenancy = new TenancyStore(database.sql);
  const member = (role: Role) => ({
    principalId: role,
    role,
    tenancyRole: 'member' as const,
    principalType: 'human' as const,
    allowCounterpartyAccess: false,
    status: 'active' as const,
  });
  await tenancy.create(
    { tenantId, name: tenantId, slug: null, chainEnforced: true, evidencePolicy: 'open' },
    member('tenant_owner'),
    'r',
  );
  for (const role of ROLES.filter((name) => name !== 'tenant_owner')) {
    await tenancy.changeMembership(owner, role, () => ({ tenantId, ...member(role) }));
  }
}

/** The trace of the request that writes. */
export const TRACE = {
  requestId: 'request-1',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

/** Returns a valid first snapshot with these changes. */
export function snapshot(change: Partial<SnapshotToAppend> = {}): SnapshotToAppend {
  const snapshotId = randomUUID();
  const { text, hash } = seal({ snapshot_id: snapshotId, attributes: { legal: { legal_name: 'Zürich AG' } } });
  return {
    tenantId: 'acme',
    principalId: 'tenant_editor',
    subjectType: 'organization',
    subjectId: `subject-${randomUUID()}`,
    snapshotId,
    snapshotVersion: 1,
    generatedAt: '2026-01-15T09:30:00Z',
    changeKind: 'change',
    envelope: text,
    envelopeHash: hash,
    prevHash: null,
    requestId: 'request-1',
    traceparent: null,
    updateId: null,
    terms: { name: null, displayName: null, namePath: null, identifiers: [] },
    evidencePolicy: 'open',
    hasMissing: false,
    hasCarried: false,
    changedBy: null,
    origins: null,
    changedPaths: null,
    firstChangedBy: null,
    isBaseErased: false,
    ...change,
  };
}
