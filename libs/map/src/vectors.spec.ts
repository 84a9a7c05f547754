import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  accessStream,
  auditStream,
  disclosureStream,
  encodeBase64url,
  erasureStream,
  formatMapRootEntry,
  formatVrfPublicKey,
  formatVrfSecretKey,
  granteeStream,
  grantorStream,
  grantStream,
  insertKeys,
  keyOfOutput,
  ladderNumbers,
  formatLevels,
  ownerStream,
  parseLevels,
  parseVrfPublicKey,
  readPath,
  verifyPath,
  valueOf,
  versionStream,
  vrfInput,
  vrfKeysFromRandom,
  vrfProve,
  vrfVerify,
} from './index';
import { MemoryRows } from './testing/memory-rows';
import { nobleGroup } from './vrf/noble-group';
import { loadSodiumGroup } from './vrf/sodium-group';

const FILE = join(__dirname, '../../../docs/reference/map-vectors.json');
const ORIGIN = 'log.example/iss';
const STREAM = versionStream('company', 'acme');

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64');

/** Three versions of one subject among 20 other keys, looked up by the ladder of the third. */
async function makeVectors() {
  const group = await loadSodiumGroup();
  const keys = vrfKeysFromRandom(group, createHash('sha512').update('iss map vectors').digest());
  const prove = (number: number) => vrfProve(group, keys, vrfInput(ORIGIN, STREAM, number));
  const others = Array.from({ length: 20 }, (_, at) => ({
    key: createHash('sha256').update(`key ${at}`).digest(),
    logIndex: 10 + at,
  }));
  const versions = [1, 2, 3].map((number) => ({ key: keyOfOutput(prove(number).output), logIndex: number }));
  const rows = new MemoryRows();
  const change = await insertKeys([...versions, ...others], rows);
  rows.apply(change);
  const lookUps = await Promise.all(
    ladderNumbers(3).map(async (number) => {
      const { output, proof } = prove(number);
      const { leaf, levels, logIndexes } = await readPath(keyOfOutput(output), rows);
      return {
        number,
        vrf_proof: base64(proof),
        vrf_output: base64(output),
        log_indexes: logIndexes,
        path: base64(formatLevels(levels)),
        other: logIndexes.length > 0 || leaf === null ? null : { key: base64(leaf.key), value: base64(leaf.value) },
      };
    }),
  );
  return {
    origin: ORIGIN,
    vrf_secret_key: formatVrfSecretKey(keys.secretKey),
    vrf_public_key: formatVrfPublicKey(keys.publicKey),
    streams: {
      v: versionStream('a/b', 'c%d'),
      g: grantStream('grant'),
      a: accessStream('type', 'id'),
      p: granteeStream('bank', 'type', 'id'),
      w: grantorStream('tenant'),
      o: ownerStream('tenant'),
      e: erasureStream('type', 'id'),
      d: auditStream('tenant'),
      r: disclosureStream('type', 'id'),
    },
    values: [[0], [7], [7, 8], [1, 2, 2 ** 40]].map((indexes) => ({
      log_indexes: indexes,
      value: base64(valueOf(indexes)),
    })),
    ladders: [0, 1, 2, 3, 7, 8, 100].map((newest) => ({ newest, numbers: ladderNumbers(newest) })),
    map: {
      keys: [...versions, ...others].map(({ key, logIndex }) => ({ key: base64(key), log_indexes: [logIndex] })),
      root: base64(change.root),
      map_root_entry: formatMapRootEntry({ covers: 40, root: change.root }),
      stream: STREAM,
      look_ups: lookUps,
    },
  };
}

test('the published vectors equal those that the library creates', async () => {
  const text = `${JSON.stringify(await makeVectors(), null, 2)}\n`;
  if (process.env.UPDATE_VECTORS === 'true') {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, text);
  }
  expect(readFileSync(FILE, 'utf8')).toBe(text);
});

test('the other implementation of the VRF accepts the published look-ups', () => {
  const vectors: Awaited<ReturnType<typeof makeVectors>> = JSON.parse(readFileSync(FILE, 'utf8'));
  const publicKey = parseVrfPublicKey(vectors.vrf_public_key);
  const root = bytesOf(vectors.map.root);
  expect(vectors.map.map_root_entry).toContain(encodeBase64url(root));
  for (const lookUp of vectors.map.look_ups) {
    const input = vrfInput(ORIGIN, STREAM, lookUp.number);
    const output = vrfVerify(nobleGroup, publicKey, input, bytesOf(lookUp.vrf_proof));
    expect(base64(output)).toBe(lookUp.vrf_output);
    const key = keyOfOutput(output);
    const levels = parseLevels(bytesOf(lookUp.path));
    const value = lookUp.log_indexes.length > 0 ? valueOf(lookUp.log_indexes) : null;
    const leaf =
      lookUp.other === null
        ? { key, value: value ?? new Uint8Array(32) }
        : { key: bytesOf(lookUp.other.key), value: bytesOf(lookUp.other.value) };
    expect(() => verifyPath(root, key, value, { leaf, levels })).not.toThrow();
  }
});
