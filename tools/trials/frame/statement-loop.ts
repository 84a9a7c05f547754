import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Statement } from '@iss/persistence';
import { Client } from 'pg';
import { processorMsWithChildren } from '../../bench/processor-time.ts';
import type { TrialPostgres } from './postgres.ts';

/** The statements of the service that are run repeatedly, as a gateway runs them for one request each. */
export const ASKED = ['create', 'latest', 'id'] as const;
export type Asked = (typeof ASKED)[number];

/** The cost of a round of a statement. */
export interface Round {
  perSecond: number;
  /** The processor time of all processes of PostgreSQL per statement. */
  processorUs: number;
}

/** The number of tenants of {@link addSubjects}, `t-0`, `t-1`, …, which own equally many subjects. */
const TENANTS = 1_000;
const CONNECTIONS = 4;
/** The member of every tenant. */
const PRINCIPAL = 'someone';

/**
 * Adds subjects with one version each, numbered from 1, by INSERT … SELECT without triggers. Builds the indexes afterwards. Runs
 * as the superuser in an empty migrated database. Adds no marks for the log.
 */
export async function addSubjects(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET synchronous_commit = off; SET maintenance_work_mem = '1GB'`);
    await client.query(
      `INSERT INTO tenants (tenant_id, name) SELECT 't-' || n, 'Tenant ' || n FROM generate_series(0, $1::int - 1) n`,
      [TENANTS],
    );
    await client.query(
      `INSERT INTO memberships (tenant_id, principal_id, api_functional_role)
       SELECT 't-' || n, $2, 'tenant_owner' FROM generate_series(0, $1::int - 1) n`,
      [TENANTS, PRINCIPAL],
    );
    await client.query('SET session_replication_role = replica');
    const { rows: indexes } = await client.query<{ name: string; build: string; drop: string }>(INDEXES);
    for (const { drop } of indexes) await client.query(drop);
    for (let from = 1; from <= count; from += BATCH) {
      const to = Math.min(count, from + BATCH - 1);
      await client.query(
        `INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name)
         SELECT 'organization', 's-' || n, 't-' || n % $3::int, 'Company ' || n FROM generate_series($1::int, $2::int) n`,
        [from, to, TENANTS],
      );
      await client.query(
        `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
         SELECT n, 1, ${ID_OF_NUMBER}, 't-' || n % $3::int, '2026-01-15T09:30:00Z', sha256(convert_to(envelope, 'UTF8')), envelope
           FROM generate_series($1::int, $2::int) n
          CROSS JOIN LATERAL (SELECT replace(replace($4::text, '{id}', ${ID_OF_NUMBER}::text), '{n}', n::text) AS envelope) e`,
        [from, to, TENANTS, ENVELOPE],
      );
    }
    for (const { build } of indexes) await client.query(build);
    await client.query('VACUUM (ANALYZE) subjects, snapshots');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

const BATCH = 500_000;
/** The id of subject `n`'s snapshot, distributed like a random one. */
const ID_OF_NUMBER = `md5('snapshot ' || n)::uuid`;
const INDEXES = `
  SELECT i.indexrelid::regclass::text AS name,
         CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
              ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) END AS build,
         CASE WHEN c.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
              ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', i.indrelid::regclass, c.conname) END AS drop
    FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
   WHERE i.indrelid IN ('subjects'::regclass, 'snapshots'::regclass)`;

/** A canonical envelope of the size of a company with some attributes. */
const ENVELOPE = JSON.stringify({
  attribute_paths: {},
  attributes: {
    contact: { email: 'office@company-{n}.example', phones: ['+41 44 000 00 00', '+41 44 000 00 01'] },
    legal: {
      address: { city: 'Zürich', country: 'CH', postal_code: '8001', street: 'Bahnhofstrasse {n}' },
      legal_form: 'AG',
      legal_name: 'Company {n}',
      registered_at: '1999-04-01',
    },
  },
  audit: { created_at: '2026-01-15T09:30:00Z', created_by: 'trial', source: 'trial' },
  envelope_version: 'entity_state_envelope_v1',
  evidence: [],
  generated_at: '2026-01-15T09:30:00Z',
  snapshot_id: '{id}',
  snapshot_version: 1,
  subject: { subject_id: 's-{n}', subject_type: 'organization' },
});

/** Runs statements on a database, with connections like those of a gateway. */
export class StatementLoop {
  private readonly server: TrialPostgres;
  private readonly subjects: number;
  private readonly clients: readonly Client[];
  private readonly texts: Readonly<Record<Asked, Statement<object, object>>>;

  private constructor(
    server: TrialPostgres,
    subjects: number,
    clients: readonly Client[],
    texts: Readonly<Record<Asked, Statement<object, object>>>,
  ) {
    this.server = server;
    this.subjects = subjects;
    this.clients = clients;
    this.texts = texts;
  }

  /** Opens a database with `subjects` from {@link addSubjects}. `rewritten` adapts a statement to another schema. */
  static async open(
    server: TrialPostgres,
    database: string,
    subjects: number,
    rewritten: (text: string) => string = (text) => text,
  ): Promise<StatementLoop> {
    const { declaredStatements, STARTUP_OPTIONS } = await import('@iss/persistence');
    const clients: Client[] = [];
    for (let one = 0; one < CONNECTIONS; one += 1) {
      const client = new Client({ connectionString: server.url(database), options: STARTUP_OPTIONS });
      await client.connect();
      clients.push(client);
    }
    const textOf = (asked: Asked): Statement<object, object> => {
      const name = NAMES[asked];
      const found = declaredStatements().get(name);
      if (found === undefined) throw new Error(`No statement is named ${name}`);
      return { ...found, text: rewritten(found.text) };
    };
    return new StatementLoop(server, subjects, clients, {
      create: textOf('create'),
      latest: textOf('latest'),
      id: textOf('id'),
    });
  }

  /** Runs a statement for a period on all connections at once, each time for another subject. */
  async round(asked: Asked, forMs: number): Promise<Round> {
    const { valuesOf } = await import('@iss/persistence');
    const pid = Number(readFileSync(join(this.server.folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const statement = this.texts[asked];
    const beforeMs = processorMsWithChildren(pid);
    const startedAt = performance.now();
    const counts = await Promise.all(
      this.clients.map(async (client) => {
        let count = 0;
        for (; performance.now() - startedAt < forMs; count += 1) {
          const values = valuesOf(statement, await this.given(asked));
          const { rowCount } = await client.query({ name: statement.name, text: statement.text, values });
          if (rowCount !== 1) throw new Error(`${statement.name} answered ${rowCount} rows`);
        }
        return count;
      }),
    );
    const count = counts.reduce((sum, one) => sum + one, 0);
    const tookMs = performance.now() - startedAt;
    const usedMs = processorMsWithChildren(pid) - beforeMs;
    return { perSecond: (count / tookMs) * 1_000, processorUs: (usedMs / count) * 1_000 };
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.end()));
  }

  private async given(asked: Asked): Promise<object> {
    const { newEventId, seal } = await import('@iss/domain');
    const { createHash } = await import('node:crypto');
    const number = 1 + Math.floor(Math.random() * this.subjects);
    const actor = { tenantId: `t-${number % TENANTS}`, principalId: PRINCIPAL };
    const subject = { subjectType: 'organization', subjectId: `s-${number}` };
    const wanted = { withEnvelope: true, knownHash: null };
    switch (asked) {
      case 'latest':
        return { inputs: [{ ...actor, ...subject, ...wanted }], maxBytes: 65_536 };
      case 'id': {
        const snapshotId = createHash('md5').update(`snapshot ${number}`).digest('hex');
        return { inputs: [{ ...actor, snapshotId, ...wanted }], maxBytes: 65_536 };
      }
      case 'create': {
        const snapshotId = randomUUID();
        const subjectId = `new-${snapshotId}`;
        const text = ENVELOPE.replaceAll('s-{n}', subjectId).replaceAll('{n}', '0').replace('{id}', snapshotId);
        const sealed = seal(JSON.parse(text));
        const input = {
          ...actor,
          subjectType: 'organization',
          subjectId,
          snapshotId,
          snapshotVersion: 1,
          generatedAt: '2026-01-15T09:30:00Z',
          envelope: sealed.text,
          envelopeHash: sealed.hash,
          prevHash: null,
          requestId: snapshotId,
          traceparent: null,
          updateId: null,
          evidencePolicy: 'open',
          hasMissing: false,
          hasCarried: false,
        };
        const names = [`Company ${number}`];
        return { inputs: [input], eventIds: [newEventId()], appliedEventIds: [null], names, identifiers: [] };
      }
    }
  }
}

const NAMES: Readonly<Record<Asked, string>> = {
  create: 'snapshot_create',
  latest: 'snapshot_latest_tenant',
  id: 'snapshot_id_tenant',
};

/** Returns the median. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
