import { statement } from '../../sql/sql';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { SnapshotPairStore } from './snapshot-pair.store';
import { SnapshotReadStore } from './snapshot-read.store';

const VERSIONS = 500;
const GRANTS = 500;

/** One subject of acme with a long chain, which beta may read, and many others may. */
const ADD = statement(
  'spec_add_chain',
  `WITH subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('organization', 's', 'acme')
  RETURNING subject_key
), chain AS (
  INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
  SELECT subject_key, version, gen_random_uuid(), 'acme', '2026-01-15T09:30:00Z', sha256('{}'), '{}'
    FROM subject, generate_series(1, $1::int) version
)
INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
SELECT gen_random_uuid(), 'acme', CASE number WHEN 1 THEN 'beta' ELSE 'other-' || number END, subject_key, '{read_lineage}'
  FROM subject, generate_series(1, $2::int) number`,
);

let world: World;

beforeAll(async () => {
  world = await openWorld();
  // These declare their statements when they are made.
  new SnapshotReadStore(world.database.sql);
  new SnapshotPairStore(world.database.sql);
  await addTenant(world, 'acme');
  await addTenant(world, 'beta');
  await world.database.sql.run(ADD, [VERSIONS, GRANTS]);
});

afterAll(() => world?.close());

const SUBJECT = [['organization'], ['s']] as const;
const PAIR = [
  ['organization', 'organization'],
  ['s', 's'],
] as const;

// The member, the subject, a snapshot; and the grant of whoever is not the owner.
it.each([
  ['acme', 3],
  ['beta', 4],
])(
  'a read for %s reads its own rows, however long the chain and however many grants there are',
  async (tenant, rows) => {
    const reader = [['tenant_reader'], [tenant], ['true'], ['']] as const;
    const read = (name: string, ...values: Parameters<typeof rowsRead>[2]) => rowsRead(world, name, values);
    expect(await read('snapshot_latest_tenant', ...reader, ...SUBJECT)).toBe(rows);
    expect(await read('snapshot_version_tenant', ...reader, ...SUBJECT, ['250'])).toBe(rows);
    const both = [
      ['tenant_reader', 'tenant_reader'],
      [tenant, tenant],
    ] as const;
    expect(await read('snapshot_pair_versions_tenant', ...both, ...PAIR, ['1', '250'])).toBe(2 * rows);
  },
);
