import { randomUUID } from 'node:crypto';
import { SCOPES } from '@iss/domain';
import { Client } from 'pg';
import { declaredStatements, statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { openWorld, type World } from '../../testing/world';
import '../../index';
import { SnapshotReadStore } from '../snapshots/snapshot-read.store';

const PRINCIPAL = 'oidc:project#caller';

interface Membership {
  tenantId: string;
  status: 'active' | 'removed';
  allows: boolean;
}
interface Grant {
  tenantId: string;
  scopes: string[];
  isRevoked: boolean;
  expiresInMs: number | null;
  /** True for a grant on all of the owner's subjects instead of this one. */
  isToAll: boolean;
}

const ADD_SUBJECT = statement<{ subjectId: string; owner: string }>(
  'spec_add_subject',
  `WITH subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('organization', :subjectId, :owner)
  RETURNING subject_key
)
INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
SELECT subject_key, 1, gen_random_uuid(), :owner, '2026-01-15T09:30:00Z', sha256('{}'), '{}' FROM subject`,
);
const ADD_MEMBERSHIPS = statement<{ principalId: string; tenants: string[]; statuses: string[]; allows: boolean[] }>(
  'spec_add_memberships',
  `WITH given AS (
  SELECT * FROM unnest(:tenants::text[], :statuses::text[], :allows::boolean[]) AS m(tenant_id, status, allows)
), made AS (
  INSERT INTO tenants (tenant_id, name) SELECT tenant_id, 'x' FROM given ON CONFLICT DO NOTHING
)
INSERT INTO memberships (tenant_id, principal_id, api_functional_role, status, allow_counterparty_access)
SELECT tenant_id, :principalId, 'tenant_reader', status, allows FROM given`,
);
const ADD_GRANTS = statement<{
  subjectId: string;
  toAll: boolean[];
  tenants: string[];
  scopes: string[];
  revoked: boolean[];
  expires: (string | null)[];
}>(
  'spec_add_direct_grants',
  `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, revoked_at, expires_at)
SELECT gen_random_uuid(), s.owner_tenant_id, g.tenant_id, CASE WHEN g.is_to_all THEN 0 ELSE s.subject_key END,
       g.scopes::text[], CASE WHEN g.is_revoked THEN now() END, g.expires_at::timestamptz
  FROM unnest(:tenants::text[], :scopes::text[], :revoked::boolean[], :expires::text[], :toAll::boolean[])
         AS g(tenant_id, scopes, is_revoked, expires_at, is_to_all)
  JOIN subjects s ON s.subject_id = :subjectId`,
);

let world: World;
let reads: SnapshotReadStore;

beforeAll(async () => {
  world = await openWorld();
  reads = new SnapshotReadStore(world.database.sql);
});

afterAll(() => world?.close());

async function add(subjectId: string, principalId: string, memberships: Membership[], grants: Grant[]): Promise<void> {
  const { sql } = world.database;
  await sql.run(ADD_SUBJECT, { subjectId, owner: `owner of ${subjectId}` });
  await sql.run(ADD_MEMBERSHIPS, {
    principalId,
    tenants: memberships.map(({ tenantId }) => tenantId),
    statuses: memberships.map(({ status }) => status),
    allows: memberships.map(({ allows }) => allows),
  });
  await sql.run(ADD_GRANTS, {
    subjectId,
    tenants: grants.map(({ tenantId }) => tenantId),
    scopes: grants.map(({ scopes }) => `{${scopes.join()}}`),
    revoked: grants.map(({ isRevoked }) => isRevoked),
    toAll: grants.map(({ isToAll }) => isToAll),
    expires: grants.map(({ expiresInMs }) =>
      expiresInMs === null ? null : new Date(Date.now() + expiresInMs).toISOString(),
    ),
  });
}

const scopesFound = async (subjectId: string, principalId: string): Promise<readonly string[]> => {
  const target = { kind: 'latest', subject: { subjectType: 'organization', subjectId } } as const;
  const { facts } = await reads.read({ tenantId: null, principalId }, target, { envelope: false });
  return [...(facts.grantScopes ?? [])].sort();
};

/** Applies the rule to all memberships and grants. */
function scopesAllowed(memberships: readonly Membership[], grants: readonly Grant[]): string[] {
  const readers = memberships.filter(({ status, allows }) => status === 'active' && allows);
  const live = grants.filter(({ isRevoked, expiresInMs }) => !isRevoked && (expiresInMs === null || expiresInMs > 0));
  const held = live.filter(({ tenantId }) => readers.some((member) => member.tenantId === tenantId));
  return [...new Set(held.flatMap(({ scopes }) => scopes))].sort();
}

/** Deterministic, so that a failure can be reproduced. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

it('finds exactly the scopes of live grants that the caller may use', async () => {
  const random = randomFrom(2026);
  for (let world_ = 0; world_ < 60; world_++) {
    const tenants = Array.from({ length: 1 + random(12) }, (_, index) => `w${world_}-${'abcdefghijkl'.charAt(index)}`);
    const memberships = tenants
      .filter(() => random(3) > 0)
      .map((tenantId): Membership => ({
        tenantId,
        status: random(4) > 0 ? 'active' : 'removed',
        allows: random(3) > 0,
      }));
    const grants = tenants.flatMap((tenantId): Grant[] =>
      Array.from({ length: random(3) }, () => ({
        tenantId,
        scopes: [SCOPES[random(SCOPES.length)] ?? SCOPES[0]],
        isRevoked: random(4) === 0,
        expiresInMs: [null, null, -1_000, 3_600_000][random(4)] ?? null,
        isToAll: random(3) === 0,
      })),
    );
    const [subjectId, principalId] = [`subject-${world_}`, `${PRINCIPAL}-${world_}`];
    await add(subjectId, principalId, memberships, grants);
    const found = await scopesFound(subjectId, principalId);
    expect({ memberships, grants, found }).toEqual({ memberships, grants, found: scopesAllowed(memberships, grants) });
  }
});

describe('statements on a subject with many versions, for a caller without the right', () => {
  const [long, missing] = ['long', 'missing'].map((subjectId) => ({ subjectType: 'organization', subjectId }));
  const snapshotIds = [randomUUID(), randomUUID()];
  const known = { knownHash: null, knownSalt: null, asLatest: true };
  const wanted = {
    snapshotVersion: 150,
    version: 150,
    limit: 100,
    withEnvelopes: true,
    withEnvelope: true,
    after: null,
  };
  const bounds = {
    maxErasures: 50,
    maxBytes: 1_000_000,
    asOf: Date.now(),
    versions: [1, 150],
    upTo: 200,
    from: null,
    ending: null,
  };

  beforeAll(async () => {
    await add('long', PRINCIPAL, [member('stranger')], []);
    const superuser = new Client({ connectionString: world.url });
    await superuser.connect();
    await superuser.query(
      `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope)
       SELECT s.subject_key, v, coalesce(($1::uuid[])[v - 1], gen_random_uuid()), s.owner_tenant_id, '2026-01-15T09:30:00Z', '{}'
         FROM subjects s CROSS JOIN generate_series(2, 200) v WHERE s.subject_id = 'long'`,
      [snapshotIds],
    );
    await superuser.end();
  });

  it.each([
    ...['snapshot_latest', 'snapshot_version', 'snapshot_pair_versions', 'provenance_latest', 'provenance_version'],
    ...['snapshot_lineage_asc', 'snapshot_lineage_desc', 'snapshot_lineage_listed', 'snapshot_lineage_known'],
    ...['version_as_of_recorded', 'version_as_of_effective', 'versions_recorded_within'],
    ...['versions_effective_within_asc', 'versions_effective_within_desc'],
  ])('%s reads no row of a version', async (name) => {
    for (const [form, tenantId] of [['tenant', 'stranger'], ['global', null]] as const) {
      const rowsOf = (subject: object): Promise<number> => {
        const asked = { ...subject, ...known, ...wanted, ...bounds, tenantId, principalId: PRINCIPAL };
        return rowsRead(world, `${name}_${form}`, { ...asked, inputs: [asked] });
      };
      // One row for the subject itself.
      expect((await rowsOf({ ...long })) - (await rowsOf({ ...missing }))).toBeLessThanOrEqual(1);
    }
  }); // prettier-ignore

  it.each(['snapshot_id', 'snapshot_pair_ids', 'log_entry_of_snapshot'])('%s returns no version', async (name) => {
    for (const form of ['tenant', 'global'] as const) {
      const asked = snapshotIds.map((snapshotId) => ({
        ...{ snapshotId, principalId: PRINCIPAL, tenantId: form === 'tenant' ? 'stranger' : null },
        ...{ ...known, withEnvelope: true },
      }));
      const query = declaredStatements().get(`${name}_${form}`);
      if (query === undefined) throw new Error(`no statement ${name}_${form}`);
      const rows = await world.database.sql.run(query, { inputs: asked, maxBytes: 1_000_000 });
      expect(rows).toHaveLength(2);
      for (const row of rows) expect(Object.assign({ entry: null, snapshot: null }, row)).toMatchObject({ entry: null, snapshot: null });
    }
  }); // prettier-ignore
});

const MANY = 400;
const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, '0')}`);
const member = (tenantId: string): Membership => ({ tenantId, status: 'active', allows: true });
const grant = (tenantId: string): Grant => ({
  tenantId,
  scopes: ['read_latest'],
  isRevoked: false,
  expiresInMs: null,
  isToAll: false,
});
const grantToAll = (tenantId: string): Grant => ({ ...grant(tenantId), isToAll: true });

// The tenants of both sides alternate in the order of their names.
it.each([
  ['many tenants, one grant', numbered('mt-', MANY), ['mt-00200'].map(grant)],
  ['many tenants, one grant on all', numbered('mu-', MANY), ['mu-00200'].map(grantToAll)],
  ['one tenant, many grants', ['mg-00200'], numbered('mg-', MANY).map(grant)],
  ['one tenant, many grants on all', ['mh-00200'], numbered('mh-', MANY).map(grantToAll)],
  [
    'many tenants and many grants, one in common',
    [...numbered('a-m', MANY), 'b-c'],
    [...numbered('a-g', MANY), 'b-c', 'b-d'].flatMap((tenantId) => [grant(tenantId), grantToAll(tenantId)]),
  ],
])('reads fewer than 30 rows with %s', async (name, tenants, grants) => {
  const [subjectId, principalId] = [`subject of ${name}`, `${PRINCIPAL} of ${name}`];
  await add(subjectId, principalId, tenants.map(member), grants);
  expect(await scopesFound(subjectId, principalId)).toEqual(['read_latest']);
  const input = {
    tenantId: null,
    principalId,
    withEnvelope: false,
    knownHash: undefined,
    subjectType: 'organization',
    subjectId,
  };
  const read = await rowsRead(world, 'snapshot_latest_global', { inputs: [input], maxBytes: 1_000 });
  // A few rows per step. Reading one side completely would take four hundred.
  expect(read).toBeLessThan(30);
});
