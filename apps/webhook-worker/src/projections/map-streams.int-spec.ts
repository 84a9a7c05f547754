import { type Database, GrantStore, LogIntegrationStore, MapReadStore, openDatabase } from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { addLineage } from '../../../../tools/testing/lineage';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { TEST_VRF_SECRET } from '../../../../tools/testing/vrf-key';
import { waitFor } from '../../../../tools/testing/wait-for';
import { startLogWorker } from '../../test/log-worker';
import { growTreeAndMap } from '../log/grow-tree';
import { openMapKeys } from '../log/map-keys';

const ORIGIN = 'log.example/test';
const OWNER = { tenantId: 'acme', principalId: 'alice', requestId: 'r' };
const GRANTS = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-${digit.repeat(12)}`);
const [ONE, TWO, ALL, OTHER] = GRANTS.map((id) => `'${id}'`);

let created: TestDatabase;
let database: Database;
let superuser: Client;

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, poolSize: 8, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
});
afterEach(async () => {
  await superuser.end();
  await database.close();
  await created.drop();
});

/** Adds facts of every kind. */
async function addFacts(): Promise<void> {
  for (const subjectId of ['one', 'two'])
    await addLineage(superuser, { tenantId: 'acme', subjectType: 'organization', subjectId }, 4);
  // The subject 0 stands for all subjects.
  await superuser.query(
    `INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('beta', 'Beta');
     INSERT INTO memberships (tenant_id, principal_id, api_functional_role) VALUES ('acme', 'alice', 'tenant_owner');
     INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     SELECT id, 'acme', grantee, coalesce((SELECT subject_key FROM subjects WHERE subject_id = subject), 0), '{read_latest,read_lineage}'
       FROM (VALUES (${ONE}::uuid, 'beta', 'one'), (${TWO}, 'beta', 'one'), (${ALL}, 'beta', NULL), (${OTHER}, 'gamma', 'two')) AS g (id, grantee, subject)`,
  );
}
async function addMoreFacts(): Promise<void> {
  for (const id of GRANTS.slice(0, 3)) {
    const change = { scopes: ['read_latest' as const], expiresAt: undefined, purpose: undefined, reason: null };
    await new GrantStore(database.sql).change(OWNER, id, change);
  }
  await superuser.query(
    `UPDATE grants SET revoked_at = now() WHERE grant_id IN (${TWO}, ${ALL});
     INSERT INTO owner_changes (tenant_id, principal_id) SELECT t, 'owner-' || n FROM generate_series(1, 20) n, unnest(ARRAY['acme', 'beta']) t;
     INSERT INTO audit_records (tenant_id, action, target, details)
     SELECT t, 'x', '{}', '{}' FROM generate_series(1, 30) n, unnest(ARRAY['acme', 'beta']) t;
     INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
     SELECT subject_key, '2026-01-15', 'beta', 'bob', 'snapshot', v, v, 'r' FROM subjects, generate_series(1, 3) v;
     INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
     SELECT gen_random_uuid(), 'acme', subject_key, ARRAY[2], 'alice' FROM subjects;
     UPDATE erasures SET confirmed_by = 'carol', confirmed_at = now()`,
  );
}
/** Erases what was decided, which must be logged. */
const erase = (): Promise<unknown> =>
  superuser.query('SELECT erase_versions(erasure_id) FROM erasures ORDER BY erasure_id');

/** The streams of each entry, in the order of its keys, by the tables alone. */
const STREAMS = `
SELECT e.entry_type AS type, e.key_prefixes AS prefixes, e.snapshot_version AS version,
       CASE WHEN e.entry_type = 1 THEN ARRAY['v/' || s.name]
            WHEN e.entry_type = 2 THEN ARRAY['g/' || g.grant_id, a.stream, 'p/' || g.grantee_tenant_id || '/' || coalesce(s.name, '*/*')]
            WHEN e.entry_type IN (3, 5) THEN ARRAY['g/' || g.grant_id, a.stream]
            WHEN e.entry_type = 4 THEN ARRAY['o/' || c.tenant_id]
            WHEN e.entry_type = 6 THEN ARRAY['e/' || s.name]
            WHEN e.entry_type = 11 THEN array_fill('d/' || b.tenant_id, ARRAY[cardinality(b.record_ids)])
            WHEN e.entry_type = 12 THEN ARRAY(SELECT 'r/' || d.subject_type || '/' || d.subject_id
                                                FROM unnest(b.record_ids) WITH ORDINALITY AS r(id, place)
                                                JOIN disclosures n ON n.disclosure_id = r.id JOIN subjects d USING (subject_key)
                                               ORDER BY r.place) END AS streams
  FROM log_entries e
  LEFT JOIN grant_changes h USING (grant_change_id)
  LEFT JOIN grants g ON g.grant_id = coalesce(e.grant_id, h.grant_id)
  LEFT JOIN owner_changes c USING (owner_change_id)
  LEFT JOIN erasures er USING (erasure_id)
  LEFT JOIN record_batches b ON b.batch_id = e.record_batch_id
  LEFT JOIN LATERAL (SELECT subject_type || '/' || subject_id AS name FROM subjects
                      WHERE subject_key = coalesce(e.subject_key, g.subject_key, er.subject_key)) s ON true
 CROSS JOIN LATERAL (SELECT coalesce('a/' || s.name, 'w/' || g.grantor_tenant_id) AS stream) a
 WHERE e.entry_type <> 9
 ORDER BY e.log_index`;

it('assigns keys to entries of all streams with three workers and after a crash', async () => {
  const keys = await openMapKeys(ORIGIN, TEST_VRF_SECRET);
  if (keys === null) throw new Error('there is a key');
  await addFacts();
  const store = new LogIntegrationStore(database.sql);
  const grow = growTreeAndMap(keys);
  const crash = store.integrate(
    10,
    async (...batch) => {
      await grow(...batch);
      throw new Error('a crash');
    },
    keys,
  );
  await expect(crash).rejects.toThrow('a crash');
  const log = {
    ...{ origin: ORIGIN, signingKeys: [], pqSigningKey: undefined, checkpointFile: undefined, policyFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000 },
  };
  const start = () =>
    startLogWorker(
      database.sql,
      { log, vrfKey: TEST_VRF_SECRET },
      new Registry(),
      createLogger({ name: 'test', level: 'silent' }),
    );
  const workers = await Promise.all([start(), start(), start()]);
  const settled = () =>
    waitFor(
      async () => {
        const { rows } = await superuser.query(
          `SELECT NOT EXISTS (SELECT FROM log_waiting) AND NOT EXISTS (SELECT FROM records_waiting)
              AND (SELECT e.entry_type FROM log_entries e ORDER BY e.log_index DESC LIMIT 1) = 9 AS done`,
        );
        return rows[0].done === true;
      },
      { what: 'the map' },
    );
  await addMoreFacts();
  await settled();
  await erase();
  await settled();
  await Promise.all(workers.map((worker) => worker.stop()));

  const numbers = new Map<string, number>();
  const { rows } = await superuser.query(STREAMS);
  for (const { type, prefixes, version, streams } of rows) {
    const expected = streams.map((stream: string) => {
      const number = (numbers.get(stream) ?? 0) + 1;
      numbers.set(stream, number);
      return Buffer.from(keys.keyOf(stream, type === 1 ? version : number)).subarray(0, 7);
    });
    expect({ streams, prefixes }).toEqual({ streams, prefixes: Buffer.concat(expected) });
  }
  await keys.close();
  expect([...new Set([...numbers.keys()].map((stream) => stream[0]))].sort().join('')).toBe('adegoprvw');
  expect(numbers.get('p/beta/*/*')).toBe(1);
  expect(numbers.get('w/acme')).toBe(3);
  const reads = new MapReadStore(database.sql);
  const counted = [...numbers].filter(([stream]) => !stream.startsWith('v/'));
  expect(await reads.lastNumbers([...numbers.keys(), 'o/nobody'])).toEqual(new Map(counted));
  const all = [...numbers.values()].reduce((sum, count) => sum + count, 0);
  expect(await reads.state()).toMatchObject({ keyCount: all });
});
