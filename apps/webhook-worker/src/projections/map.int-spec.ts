import { createHash } from 'node:crypto';
import { KEYED_ENTRY_VERSION, keyedLeafText, logEntryText } from '@iss/domain';
import { type Database, LogCheckpointStore, LogIntegrationStore, MapReadStore, openDatabase } from '@iss/persistence';
import { createLogger, type LogSettings } from '@iss/platform';
import { generateKeys, leafHash, parseCheckpoint, parseNote, rootOfLeaves } from '@iss/tlog';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { TEST_VRF_SECRET, vrfSecretOf } from '../../../../tools/testing/vrf-key';
import { waitFor } from '../../../../tools/testing/wait-for';
import { type LogWorker, startLogWorker } from '../../test/log-worker';
import { growTreeAndMap } from '../log/grow-tree';
import { type MapKeys, openMapKeys } from '../log/map-keys';

const ORIGIN = 'log.example/test';

let created: TestDatabase;
let database: Database;
let superuser: Client;
let log: LogSettings;
let keys: MapKeys;
const services: LogWorker[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, poolSize: 6, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  const { signingKey } = await generateKeys(ORIGIN, 'ed25519');
  log = {
    ...{ origin: ORIGIN, signingKeys: [signingKey], pqSigningKey: undefined, checkpointFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000, policyFile: undefined },
  };
  const opened = await openMapKeys(ORIGIN, TEST_VRF_SECRET);
  if (opened === null) throw new Error('there is a key');
  keys = opened;
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
  await keys.close();
  await superuser.end();
  await database.close();
  await created.drop();
});

async function start(key = TEST_VRF_SECRET): Promise<LogWorker> {
  const logger = createLogger({ name: 'test', level: 'silent' });
  const service = await startLogWorker(database.sql, { log, vrfKey: key }, new Registry(), logger);
  services.push(service);
  return service;
}

async function addFacts(count: number, tenant = 'acme'): Promise<void> {
  await superuser.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT $2, 'owner-' || n FROM generate_series(1, $1) n`,
    [count, tenant],
  );
}

const treeSize = async (): Promise<number> => (await new LogIntegrationStore(database.sql).tree()).size;
const newest = async (): Promise<{ size: number; root: Uint8Array }> => {
  const checkpoint = await new LogCheckpointStore(database.sql).newest();
  return parseCheckpoint(parseNote(checkpoint?.note ?? '').text);
};
/** Waits until every fact is in a published tree. */
async function settled(facts: number): Promise<{ size: number; root: Uint8Array }> {
  const isDone = async (): Promise<boolean> => {
    const { rows } = await superuser.query('SELECT FROM log_entries WHERE entry_type = 4');
    return (
      rows.length === facts && ((await new LogCheckpointStore(database.sql).newest())?.size ?? 0) === (await treeSize())
    );
  };
  await waitFor(isDone, { what: `${facts} published facts` });
  return newest();
}

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** Computes the root of a map from the bits of its keys, as the design describes it. */
function naiveRoot(leaves: [key: string, value: Uint8Array][], bit = 0): Buffer {
  if (leaves.length === 0) return sha256();
  const [[hex, value] = ['', new Uint8Array()]] = leaves;
  if (leaves.length === 1) return sha256(Buffer.from(hex, 'hex'), value);
  const isOne = ([key]: [string, Uint8Array]): boolean =>
    ((Buffer.from(key, 'hex')[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
  const [zeros, ones] = [leaves.filter((leaf) => !isOne(leaf)), leaves.filter(isOne)];
  if (zeros.length === 0 || ones.length === 0) return naiveRoot(leaves, bit + 1);
  return sha256(naiveRoot(zeros, bit + 1), naiveRoot(ones, bit + 1), Buffer.of(bit));
}

/**
 * Recomputes all leaves, keys and roots from the facts in the tables, and compares them with the tree, the roots in the log and
 * each published checkpoint.
 */
async function expectSound(): Promise<void> {
  const { rows } = await superuser.query(
    `SELECT e.log_index::int AS index, e.entry_type AS type, e.salt, e.map_root AS root, e.key_prefixes AS prefixes,
            c.tenant_id AS "tenantId", c.principal_id AS "principalId", c.changed_at AS "changedAt"
       FROM log_entries e LEFT JOIN owner_changes c USING (owner_change_id) ORDER BY e.log_index`,
  );
  const numbers = new Map<string, number>();
  const leaves: [string, Uint8Array][] = [];
  const texts = rows.map(({ index, type, salt, root, prefixes, tenantId, principalId, changedAt }, place) => {
    expect(index).toBe(place);
    if (type === 9) {
      const expected = naiveRoot(leaves);
      expect(root).toEqual(expected);
      return `{"covers":${index},"map_root":"${expected.toString('base64url')}","map_version":"iss_map_v1","type":"map.root"}`;
    }
    expect(type).toBe(4);
    const number = (numbers.get(tenantId) ?? 0) + 1;
    numbers.set(tenantId, number);
    const key = keys.keyOf(`o/${tenantId}`, number);
    expect(prefixes).toEqual(Buffer.from(key.subarray(0, 7)));
    const place64 = Buffer.alloc(8);
    place64.writeBigUInt64BE(BigInt(index));
    leaves.push([Buffer.from(key).toString('hex'), sha256(Buffer.of(0), place64)]);
    const fact = { type: 'tenant.owner_changed', tenantId, principalId, fromPrincipalId: null, changedAt } as const;
    return keyedLeafText(logEntryText(fact, salt, KEYED_ENTRY_VERSION), [key]);
  });
  const hashes = texts.map((text) => leafHash(text));
  const tree = await new LogIntegrationStore(database.sql).tree();
  expect(tree).toEqual({ size: hashes.length, root: Buffer.from(rootOfLeaves(hashes)) });
  expect(await new MapReadStore(database.sql).state()).toMatchObject({
    keyCount: leaves.length,
    root: naiveRoot(leaves),
  });
  const checkpoints = await superuser.query('SELECT note FROM log_checkpoints WHERE size > 0');
  expect(checkpoints.rows.length).toBeGreaterThan(0);
  for (const { note } of checkpoints.rows) {
    const { size, root } = parseCheckpoint(parseNote(note).text);
    expect(rows[size - 1]?.type).toBe(9);
    expect(Buffer.from(root)).toEqual(Buffer.from(rootOfLeaves(hashes.slice(0, size))));
  }
}

it('assigns keys to each entry and ends each published tree with the root of the map', async () => {
  await start();
  await addFacts(3);
  await settled(3);
  await addFacts(60, 'bank');
  const { size } = await settled(63);
  await expectSound();
  // Nothing is new, so a further round adds no root.
  const store = new LogIntegrationStore(database.sql);
  const again = await waitFor(() => store.integrate(10, growTreeAndMap(keys), keys), { what: 'the tree' });
  expect(again).toMatchObject({ integrated: 0, isWhole: true, tree: { size } });
});

it('builds one map with several workers', async () => {
  await Promise.all([start(), start(), start()]);
  let facts = 0;
  for (const count of [1, 120, 5, 200]) {
    await addFacts(count, `tenant-${count % 3}`);
    facts += count;
    await settled(facts);
  }
  await expectSound();
});

it('publishes no tree that ends within a round, and completes the round after a crash', async () => {
  await addFacts(5);
  const store = new LogIntegrationStore(database.sql);
  const round = await store.integrate(3, growTreeAndMap(keys), keys);
  expect(round).toMatchObject({ integrated: 3, isWhole: false, hasMap: true });
  expect(await store.integrate(2, growTreeAndMap(keys), keys)).toMatchObject({ integrated: 2, isWhole: false });
  await start();
  expect(await settled(5)).toMatchObject({ size: 6 });
  await expectSound();
});

it('is not extended by a worker without the key or with another key', async () => {
  const first = await start();
  await addFacts(2);
  await settled(2);
  await first.stop();
  const size = await treeSize();
  const [without, other] = [await start(''), await start(vrfSecretOf(2))];
  await addFacts(1);
  await waitFor(() => without.status().reason === 'no_vrf_key' && other.status().reason === 'unknown_vrf_key');
  expect(await treeSize()).toBe(size);
  await start();
  await settled(3);
  await expectSound();
});
