import { createHash, randomUUID } from 'node:crypto';
import { createVerifier, openNote, parseCheckpoint } from '@iss/tlog';
import { Client } from 'pg';
import request from 'supertest';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../../../tools/testing/vrf-key';
import { envelope, startGateway, type TestGateway } from './gateway';
import { publishLog } from './publish-log';

const ACME = '/v1/tenants/acme';
const SUBJECT = `subject-${randomUUID()}`;

let gateway: TestGateway;
let superuser: Client;
let vkey: string;
let version = 0;

beforeAll(async () => {
  gateway = await startGateway({ LOG_VRF_KEY: TEST_VRF_SECRET });
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'bank', name: 'Bank' }).expect(201);
  await gateway
    .as('alice', 'put', `${ACME}/members/${encodeURIComponent('oidc:test#admin')}`)
    .send({ role: 'tenant_admin' })
    .expect(200);
});
afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

async function write(): Promise<void> {
  const sent = envelope({
    snapshot_version: ++version,
    subject: { subject_type: 'organization', subject_id: SUBJECT },
  });
  await gateway.as('alice', 'post', `${ACME}/entity-states`).send(sent).expect(201);
}

async function publish(): Promise<number> {
  const published = await publishLog(gateway.databaseUrl, TEST_VRF_SECRET);
  ({ vkey } = published);
  return published.size;
}

const addFacts = (count: number) =>
  superuser.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT 'acme', 'owner-' || n FROM generate_series(1, $1) n`,
    [count],
  );

const file = async (path: string, { url }: { url: string } = gateway): Promise<Buffer> => {
  const { body } = await request(url).get(`/log/${path}`).responseType('blob').expect(200);
  return body;
};
const refused = (path: string) => request(gateway.url).get(`/log/${path}`).expect(404);

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** Computes the root of RFC 6962 from the hashes of leaves. */
function treeRoot(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) return sha256();
  if (leaves.length === 1) return first;
  let left = 1;
  while (left * 2 < leaves.length) left *= 2;
  return sha256(Buffer.of(1), treeRoot(leaves.slice(0, left)), treeRoot(leaves.slice(left)));
}

/** Computes the root of a map from the bits of its keys. */
function mapRoot(leaves: readonly (readonly [key: Buffer, value: Buffer])[], bit = 0): Buffer {
  const [first] = leaves;
  if (first === undefined) return sha256();
  if (leaves.length === 1) return sha256(...first);
  const isOne = ([key]: readonly [Buffer, Buffer]): boolean => ((key[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
  const [zeros, ones] = [leaves.filter((leaf) => !isOne(leaf)), leaves.filter(isOne)];
  if (zeros.length === 0 || ones.length === 0) return mapRoot(leaves, bit + 1);
  return sha256(mapRoot(zeros, bit + 1), mapRoot(ones, bit + 1), Buffer.of(bit));
}

/** Parses a bundle as C2SP tlog-tiles describes it: each entry after its length as a big-endian uint16. */
function entriesIn(bundle: Buffer): string[] {
  const entries: string[] = [];
  for (let at = 0; at < bundle.length;) {
    const end = at + 2 + bundle.readUInt16BE(at);
    expect(end).toBeLessThanOrEqual(bundle.length);
    entries.push(bundle.toString('utf8', at + 2, end));
    at = end;
  }
  return entries;
}

const name = (number: number): string => (number < 1_000 ? String(number).padStart(3, '0') : 'too many');

/**
 * Rebuilds the log and its map from public files alone: each leaf, the root of the checkpoint, and each root of the map. Returns
 * the public entries.
 */
async function rebuild(served = gateway): Promise<Record<string, unknown>[]> {
  const { body: keys } = await request(served.url).get('/log/keys').expect(200);
  const note = (await file('checkpoint', served)).toString();
  const { size, root } = parseCheckpoint((await openNote(note, [createVerifier(vkey)])).text);
  const hashes: Buffer[] = [];
  const entries: Record<string, unknown>[] = [];
  const indexes = new Map<string, number[]>();
  const leaves = (): [Buffer, Buffer][] =>
    [...indexes].map(([key, list]) => {
      const values = list.map((index) => {
        const place = Buffer.alloc(8);
        place.writeBigUInt64BE(BigInt(index));
        return sha256(Buffer.of(0), place);
      });
      return [Buffer.from(key, 'base64url'), treeRoot(values)];
    });
  const add = (ofEntry: unknown, index: number): void => {
    for (const key of Array.isArray(ofEntry) ? ofEntry : []) indexes.set(key, [...(indexes.get(key) ?? []), index]);
  };
  const addAll = (ofEntries: unknown, from: unknown): void => {
    for (const [place, ofEntry] of (Array.isArray(ofEntries) ? ofEntries : []).entries())
      add(ofEntry, Number(from) + place);
  };
  for (let first = 0; first < size; first += 256) {
    const width = Math.min(256, size - first);
    const path = `${name(first / 256)}${width === 256 ? '' : `.p/${width}`}`;
    const tile = await file(`tile/0/${path}`, served);
    if (first < keys.map_starts_at) {
      for (let place = 0; place < width; place++) hashes.push(tile.subarray(32 * place, 32 * (place + 1)));
      continue;
    }
    const texts = entriesIn(await file(`tile/entries/${path}`, served));
    expect(texts).toHaveLength(width);
    for (const [place, text] of texts.entries()) {
      const leaf = sha256(Buffer.of(0), Buffer.from(text));
      expect(leaf).toEqual(tile.subarray(32 * place, 32 * (place + 1)));
      hashes.push(leaf);
      const entry: Record<string, unknown> = JSON.parse(text);
      entries.push(entry);
      if (entry['type'] === 'map.root') {
        expect(entry).toMatchObject({ covers: first + place, map_root: mapRoot(leaves()).toString('base64url') });
      } else if (entry['type'] === 'map.backfill') addAll(entry['entries'], entry['from']);
      else add(entry['keys'], first + place);
    }
  }
  expect(treeRoot(hashes)).toEqual(Buffer.from(root));
  expect(entries.at(-1)).toMatchObject({ type: 'map.root' });
  return entries;
}

it('anyone can rebuild the log and its map from public files', async () => {
  const grant = {
    grantee_tenant_id: 'bank',
    subject_type: 'organization',
    subject_id: SUBJECT,
    scopes: ['read_latest'],
  };
  await write();
  const { body } = await gateway.as('alice', 'post', `${ACME}/grants`).send(grant).expect(201);
  await publish();
  await write();
  await gateway.as('alice', 'post', `${ACME}/grants/${body.grant_id}/revoke`).expect(200);
  await addFacts(300);
  const size = await publish();
  const entries = await rebuild();
  expect(entries).toHaveLength(size);
  const text = JSON.stringify(entries);
  for (const secret of [SUBJECT, 'acme', 'bank', body.grant_id]) expect(text).not.toContain(secret);
});

it('the log serves the same entries after an erasure', async () => {
  const size = await publish();
  const path = `tile/entries/${name(Math.floor(size / 256))}.p/${size % 256}`;
  const before = [await file('tile/entries/000'), await file(path)];
  const erasing = `${ACME}/subjects/organization/${SUBJECT}`;
  const { body } = await gateway
    .as('alice', 'post', `${erasing}/erasure`)
    .send({ versions: [1], reason: 'Letter', reference: 'R-1' })
    .expect(201);
  await gateway.as('admin', 'post', `${erasing}/erasures/${body.erasure_id}/confirm`).expect(200);
  const other = await startGateway({}, gateway);
  try {
    for (const [at, one] of ['tile/entries/000', path].entries()) {
      const { body: again } = await request(other.url).get(`/log/${one}`).responseType('blob').expect(200);
      expect(again).toEqual(before[at]);
    }
  } finally {
    await other.close();
  }
  await publish();
  await rebuild();
});

it('/log/keys names the VRF key and the index from which entries are public', async () => {
  const { body } = await request(gateway.url).get('/log/keys').expect(200);
  expect(body).toMatchObject({ vrf_key: TEST_VRF_KEY, map_starts_at: 0, policy: null });
});

it('the log reads the entries of a bundle once, in a few statements', async () => {
  await addFacts(20);
  const size = await publish();
  const index = Math.floor(size / 256);
  gateway.sent.length = 0;
  const wide = await file(`tile/entries/${name(index)}.p/${size % 256}`);
  const reads = gateway.sent.filter((statement) => statement !== 'log_checkpoint_newest');
  expect(reads.length).toBeLessThanOrEqual(6);
  expect(reads.filter((statement) => statement === 'public_entries')).toHaveLength(1);
  gateway.sent.length = 0;
  const narrow = await file(`tile/entries/${name(index)}.p/${(size % 256) - 7}`);
  expect(wide.subarray(0, narrow.length)).toEqual(narrow);
  expect(gateway.sent).not.toContain('public_entries');
});

it('the log serves unpublished entries with no-store', async () => {
  const size = await publish();
  await write();
  const { size: integrated } = await publishLog(gateway.databaseUrl, TEST_VRF_SECRET, false);
  const [index, width] = [Math.floor(size / 256), integrated % 256 || 256];
  const suffix = width === 256 ? '' : `.p/${width}`;
  for (const path of [`entries/${name(index)}${suffix}`, `0/${name(index)}${suffix}`]) {
    const { headers } = await request(gateway.url).get(`/log/tile/${path}`).expect(200);
    expect(headers['cache-control']).toBe('no-store');
  }
  expect((await file('checkpoint')).toString().split('\n')[1]).toBe(String(size));
  expect(await publish()).toBe(integrated);
});

it('the log returns 404 for an unknown bundle, and 500 if it does not match the tree', async () => {
  await addFacts(3);
  const size = await publish();
  const [index, width] = [Math.floor(size / 256), size % 256];
  for (const path of [`${name(index)}.p/${width + 1}`, name(index), name(index + 1), '0', 'x000/001']) {
    const { text, headers } = await refused(`tile/entries/${path}`);
    expect([headers['content-type'], headers['cache-control']]).toEqual(['text/plain; charset=utf-8', 'no-store']);
    expect(text).toMatch(/^The log has no such/);
  }
  await superuser.query(`SET session_replication_role = replica`);
  await superuser.query(
    `UPDATE owner_changes SET principal_id = 'somebody' WHERE owner_change_id = (SELECT max(owner_change_id) FROM owner_changes)`,
  );
  await superuser.query(`RESET session_replication_role`);
  await request(gateway.url)
    .get(`/log/tile/entries/${name(index)}.p/${width}`)
    .expect(500);
});

it('an older log serves entries only from the start of its map', async () => {
  const older = await startGateway();
  try {
    const before = await older.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' });
    expect(before.status).toBe(201);
    const { size } = await publishLog(older.databaseUrl);
    const { text: without } = await request(older.url).get(`/log/tile/entries/000.p/${size}`).expect(404);
    expect(without).toMatch(/^Entries are not public\./);
    await publishLog(older.databaseUrl, TEST_VRF_SECRET);
    const { body } = await request(older.url).get('/log/keys').expect(200);
    expect(body).toMatchObject({ vrf_key: TEST_VRF_KEY, map_starts_at: 256 });
    const { text } = await request(older.url).get('/log/tile/entries/000').expect(404);
    expect(text).toMatch(/^Entries are public from bundle 1 on, which begins at log index 256\./);
    const types = (await rebuild(older)).map(({ type }) => type);
    expect(types).toEqual(['map.backfill', 'map.root']);
  } finally {
    await older.close();
  }
});
