import { decodeOrigins, encodeOrigins, type SubjectRef } from '@iss/domain';
import { Client } from 'pg';
import { addLineage } from '../../../../../tools/testing/lineage';
import { ANY_BYTES } from '../../sql/coalescer';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { ProvenanceStore } from './provenance.store';

let world: World;
let superuser: Client;
let store: ProvenanceStore;

beforeAll(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
  superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  store = new ProvenanceStore(world.database.sql);
});

afterAll(async () => {
  await superuser?.end();
  await world?.close();
});

const reader = { tenantId: 'acme', principalId: 'tenant_reader' };

/** Adds a chain with a row for each version. It has a hundred leaves, and each of the last hundred versions changed one. */
async function chainOf(count: number): Promise<SubjectRef> {
  const subject = { subjectType: 'organization', subjectId: `chain-${count}` };
  await addLineage(superuser, { tenantId: 'acme', ...subject }, count);
  const since = (leaf: number): number => Math.max(1, count - leaf);
  const origins = encodeOrigins(
    Array.from({ length: 100 }, (_, at) => ({ sinceVersion: since(at), isCarried: false })),
  );
  await superuser.query(
    `INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins)
     SELECT subject_key, version, '"a"', CASE WHEN version > 1 THEN $2::bytea END
       FROM subjects, generate_series(1, $3::int) version WHERE subject_id = $1`,
    [subject.subjectId, Buffer.from(origins), count],
  );
  return subject;
}

it('reads the same number of rows for any length of the chain', async () => {
  const [short, long] = [await chainOf(100), await chainOf(10_000)];
  const read = (name: string, subject: SubjectRef, given: object = {}): Promise<number> =>
    rowsRead(world, name, { ...reader, ...subject, maxBytes: ANY_BYTES, ...given });
  for (const name of ['provenance_latest_tenant', 'provenance_latest_global', 'snapshot_parent']) {
    expect(await read(name, long)).toBeLessThanOrEqual(await read(name, short));
  }
  const { origins } = await store.read(reader, long, null);
  const versions = decodeOrigins(origins, 100).map(({ sinceVersion }) => sinceVersion);
  expect(versions).toEqual(Array.from({ length: 100 }, (_, at) => 10_000 - at));
  // The subject, and for each version its snapshot and its author.
  expect(await read('provenance_versions', long, { versions })).toBe(201);
  expect(await read('provenance_nearest', long, { version: 5_000 })).toBe(2);
  expect(await store.versions(long, [1, 9_999])).toHaveLength(2);
  await expect(store.nearest(long, 5_000)).resolves.toMatchObject({ snapshotVersion: 5_000 });
});
