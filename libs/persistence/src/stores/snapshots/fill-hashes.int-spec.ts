import { randomBytes, randomUUID } from 'node:crypto';
import { hashText, seal } from '@iss/domain';
import { Client } from 'pg';
import { fillHashes } from './fill-hashes';
import { openWorld, type World } from '../../testing/world';

interface Row {
  snapshot_version: number;
  envelope: string;
  envelope_hash: string | null;
  prev_hash: string | null;
}

let world: World;
let superuser: Client;
let owner: Client;
let ownerUrl: string;
let subjectKey = 0;

beforeAll(async () => {
  world = await openWorld();
  superuser = new Client({ connectionString: world.url });
  await superuser.connect();
  // A role with a random name, because roles belong to the whole cluster, which other suites share.
  const [name, password] = [`owner_${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await superuser.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
  await superuser.query(`ALTER TABLE snapshots OWNER TO ${name}; GRANT USAGE, CREATE ON SCHEMA public TO ${name}`);
  const url = new URL(world.url);
  [url.username, url.password] = [name, password];
  ownerUrl = url.toString();
  owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  const name = new URL(ownerUrl).username;
  await superuser?.query(`REASSIGN OWNED BY ${name} TO CURRENT_USER`);
  await superuser?.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
  await superuser?.end();
  await world?.close();
});

/** Adds the history of an import: versions 1, 2, … with or without hash and link. */
async function importHistory(rows: { hashed: boolean; linked?: boolean; text?: string }[]): Promise<number> {
  subjectKey += 1;
  let parentHash: string | null = null;
  for (const [index, { hashed, linked = false, text }] of rows.entries()) {
    const sealed = seal({ snapshot_id: randomUUID(), snapshot_version: index + 1, name: 'Zürich' });
    const envelope = text ?? sealed.text;
    const envelopeHash = hashText(envelope);
    await superuser.query(
      `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope, envelope_hash,
                              prev_hash)
       VALUES ($1, $2, gen_random_uuid(), 'acme', '2026-01-15T09:00:00Z', $3, decode($4, 'hex'), decode($5, 'hex'))`,
      [subjectKey, index + 1, envelope, hashed ? envelopeHash : null, linked ? parentHash : null],
    );
    parentHash = envelopeHash;
  }
  return subjectKey;
}

async function history(key: number): Promise<Row[]> {
  const { rows } = await superuser.query<Row>(
    `SELECT snapshot_version, envelope, encode(envelope_hash, 'hex') AS envelope_hash, encode(prev_hash, 'hex') AS prev_hash
       FROM snapshots WHERE subject_key = $1 ORDER BY snapshot_version`,
    [key],
  );
  return rows;
}

describe('fillHashes', () => {
  it('fills in missing hashes and links once, as the owner of the table', async () => {
    const unhashed = await importHistory(Array.from({ length: 250 }, () => ({ hashed: false })));
    const mixed = await importHistory([{ hashed: false }, { hashed: true }, { hashed: true, linked: true }]);
    const complete = await importHistory([{ hashed: true }, { hashed: true, linked: true }]);
    const before = await history(complete);
    expect(await fillHashes(ownerUrl)).toEqual({ hashes: 251, links: 250, notCanonical: [] });
    for (const key of [unhashed, mixed, complete]) {
      const rows = await history(key);
      for (const [index, row] of rows.entries()) {
        expect(row.envelope_hash).toBe(hashText(row.envelope));
        expect(row.prev_hash).toBe(rows[index - 1]?.envelope_hash ?? null);
      }
    }
    expect(await history(complete)).toEqual(before);
    const marks = await superuser.query<{ snapshot_version: number }>(
      'SELECT snapshot_version FROM log_waiting WHERE subject_key = $1 ORDER BY waiting_id',
      [unhashed],
    );
    expect(marks.rows.map((mark) => mark.snapshot_version)).toEqual(
      Array.from({ length: 250 }, (_, index) => index + 1),
    );
    expect(await fillHashes(ownerUrl)).toEqual({ hashes: 0, links: 0, notCanonical: [] });
  });

  it('reports a text that is not canonical without changing it', async () => {
    const key = await importHistory([{ hashed: false, text: '{ "b": 1, "a": 2 }' }, { hashed: false }]);
    const { rows } = await superuser.query<{ snapshot_id: string }>(
      'SELECT snapshot_id FROM snapshots WHERE subject_key = $1 AND snapshot_version = 1',
      [key],
    );
    expect(await fillHashes(ownerUrl)).toEqual({ hashes: 1, links: 0, notCanonical: [rows[0]?.snapshot_id] });
    expect((await history(key)).map((row) => [row.envelope_hash === null, row.prev_hash])).toEqual([
      [true, null],
      [false, null],
    ]);
  });

  it('refuses the application role', async () => {
    const url = new URL(world.url);
    url.searchParams.set('options', '-c role=iss_app');
    await importHistory([{ hashed: false }]);
    await expect(fillHashes(url.toString())).rejects.toThrow(/Use the one that owns the tables/);
    await fillHashes(ownerUrl);
  });
});

describe('the trigger of snapshots', () => {
  const HASH = `envelope_hash = sha256(convert_to(envelope, 'UTF8'))`;
  let key: number;

  beforeAll(async () => {
    key = await importHistory([{ hashed: false }, { hashed: true }, { hashed: true, linked: true }]);
  });

  it.each([
    ['an update that changes nothing', 1, 'envelope = envelope'],
    ['another hash', 1, `envelope_hash = sha256('other')`],
    ['a hash with another envelope', 1, `envelope = '{}', envelope_hash = sha256('{}')`],
    ['a hash and another id', 1, `${HASH}, snapshot_id = gen_random_uuid()`],
    ['a hash and another owner', 1, `${HASH}, tenant_id = 'beta'`],
    ['a hash and another time', 1, `${HASH}, created_at = now()`],
    ['a hash and a version', 1, `${HASH}, snapshot_version = 9`],
    ['a link without a parent', 1, `prev_hash = sha256('x')`],
    ['a link to a parent that has no hash', 2, `prev_hash = sha256('x')`],
    ['another hash in place of an existing one', 2, `envelope_hash = sha256('other')`],
    ['the same hash again', 2, HASH],
    ['the removal of a hash', 2, 'envelope_hash = NULL'],
    ['another envelope', 2, `envelope = '{}'`],
    ['another link in place of an existing one', 3, `prev_hash = sha256('x')`],
    ['the removal of a link', 3, 'prev_hash = NULL'],
  ])('refuses %s to the owner and to a superuser', async (_, version, change) => {
    const before = await history(key);
    const update = `UPDATE snapshots SET ${change} WHERE subject_key = $1 AND snapshot_version = $2`;
    for (const client of [owner, superuser]) {
      await expect(client.query(update, [key, version])).rejects.toThrow(/immutable|check constraint/);
    }
    expect(await history(key)).toEqual(before);
  });

  it('refuses deletion and truncation', async () => {
    for (const client of [owner, superuser]) {
      await expect(client.query('DELETE FROM snapshots WHERE subject_key = $1', [key])).rejects.toThrow(/immutable/);
      await expect(client.query('TRUNCATE snapshots')).rejects.toThrow(/immutable/);
    }
  });

  it('refuses the application even a change that the owner may make', async () => {
    const client = new Client({ connectionString: world.url, options: '-c role=iss_app' });
    await client.connect();
    try {
      await expect(client.query(`UPDATE snapshots SET ${HASH} WHERE subject_key = $1`, [key])).rejects.toThrow(
        /permission denied/,
      );
    } finally {
      await client.end();
    }
  });

  it('allows the owner to add a missing hash and a missing link once', async () => {
    const where = 'WHERE subject_key = $1 AND snapshot_version = $2';
    const link = `UPDATE snapshots SET prev_hash = (SELECT envelope_hash FROM snapshots WHERE subject_key = $1
                                                     AND snapshot_version = 1) ${where}`;
    expect((await owner.query(`UPDATE snapshots SET ${HASH} ${where}`, [key, 1])).rowCount).toBe(1);
    await expect(owner.query(`UPDATE snapshots SET prev_hash = sha256('x') ${where}`, [key, 2])).rejects.toThrow();
    expect((await owner.query(link, [key, 2])).rowCount).toBe(1);
    await expect(owner.query(link, [key, 2])).rejects.toThrow(/immutable/);
  });
});
