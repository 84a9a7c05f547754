import { Client } from 'pg';
import { statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import './snapshot-pair.store';
import './snapshot-read.store';

const VERSIONS = 500;
const GRANTS = 500;

/** Adds a subject of acme with a long chain that beta and many others may read. */
const ADD = statement<{ versions: number; grants: number }>(
  'spec_add_chain',
  `WITH subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('organization', 's', 'acme')
  RETURNING subject_key
), chain AS (
  INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
  SELECT subject_key, version, gen_random_uuid(), 'acme', '2026-01-15T09:30:00Z', sha256('{}'), '{}'
    FROM subject, generate_series(1, :versions::int) version
)
INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
SELECT gen_random_uuid(), 'acme', CASE number WHEN 1 THEN 'beta' ELSE 'other-' || number END, subject_key,
       '{read_latest,read_lineage,read_diff}'
  FROM subject, generate_series(1, :grants::int) number`,
);

let world: World;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  await addTenant(world, 'beta');
  await world.database.sql.run(ADD, { versions: VERSIONS, grants: GRANTS });
  const superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  await superuser.query(`UPDATE memberships SET allow_counterparty_access = true WHERE tenant_id = 'beta'`);
  await superuser.end();
});

afterAll(() => world?.close());

// The member, the subject and a snapshot, and the grant if the reader is not the owner.
it.each([
  ['acme', 3],
  ['beta', 4],
])(
  'a read for %s reads only %i rows, for any number of versions of the subject and of grants',
  async (tenantId, rows) => {
    const input = (snapshotVersion: number) => ({
      tenantId,
      principalId: 'tenant_reader',
      withEnvelope: true,
      knownHash: undefined,
      subjectType: 'organization',
      subjectId: 's',
      snapshotVersion,
      asLatest: false,
    });
    const read = (name: string, ...versions: number[]) =>
      rowsRead(world, name, { inputs: versions.map(input), maxBytes: 1_000 });
    expect(await read('snapshot_latest_tenant', VERSIONS)).toBe(rows);
    expect(await read('snapshot_version_tenant', 250)).toBe(rows);
    expect(await read('snapshot_pair_versions_tenant', 1, 250)).toBe(2 * rows);
  },
);
