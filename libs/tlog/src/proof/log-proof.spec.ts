import fc from 'fast-check';
import {
  appendLeaves,
  createSigner,
  EMPTY_EDGE,
  encodeBase64,
  formatCheckpoint,
  formatLogProof,
  generateKeys,
  leafHash,
  parseLogProof,
  parsePolicy,
  readInclusionProof,
  signNote,
  tileHashReader,
  verifyLogProof,
  type LogProof,
  type Policy,
} from '../index';
import { MemoryTiles } from '../testing/memory-tiles';
import { refusal, refusalOf } from '../testing/refusal';
import { IS_FULL } from '../../../../tools/testing/runs';

const ENTRIES = Array.from({ length: 600 }, (_, index) => JSON.stringify({ index, salt: `salt ${index}` }));
const ORIGIN = 'log.example/one';
let policy: Policy;
let proof: LogProof;

beforeAll(async () => {
  const tiles = new MemoryTiles();
  const { edge, root, added } = appendLeaves(EMPTY_EDGE, ENTRIES.map(leafHash));
  tiles.add(added);
  const log = await generateKeys(ORIGIN, 'ed25519');
  const witness = await generateKeys('witness.example/w', 'ed25519-cosignature');
  const text = formatCheckpoint({ origin: ORIGIN, size: edge.size, root, extensionLines: [] });
  const signers = [await createSigner(log.signingKey), await createSigner(witness.signingKey)];
  policy = parsePolicy(`log ${log.verifierKey}\nwitness w ${witness.verifierKey}\nquorum w\n`);
  proof = {
    extra: Buffer.from(ENTRIES[345]!),
    index: 345,
    inclusion: await readInclusionProof(345, edge.size, tileHashReader(edge.size, tiles.read)),
    checkpoint: await signNote({ text }, signers, 1_700_000_000),
  };
});

test('a formatted proof parses and verifies offline', async () => {
  const text = formatLogProof(proof);
  expect(text.split('\n').slice(0, 3)).toEqual([
    'c2sp.org/tlog-proof@v1',
    `extra ${encodeBase64(Buffer.from(ENTRIES[345]!))}`,
    'index 345',
  ]);
  const parsed = parseLogProof(text);
  expect(formatLogProof(parsed)).toBe(text);
  const verified = await verifyLogProof(parsed, leafHash(parsed.extra!), policy);
  expect(verified.checkpoint).toMatchObject({ origin: ORIGIN, size: 600 });
  expect(verified.cosignatures.map(({ witness }) => witness.name)).toEqual(['w']);
});

// transparency-dev/formats (Apache-2.0), proof/tlog_proof_test.go: the order of the lines, with and without extra data,
// and without hashes.
test('a proof without extra data or hashes parses to what was formatted', () => {
  for (const extra of [null, new Uint8Array(0), Uint8Array.of(0, 255)]) {
    for (const inclusion of [[], proof.inclusion]) {
      const one = { ...proof, extra, inclusion };
      expect(parseLogProof(formatLogProof(one))).toEqual(one);
    }
  }
  const text = formatLogProof({ ...proof, extra: null, index: 0, inclusion: [] });
  expect(text).toBe(`c2sp.org/tlog-proof@v1\nindex 0\n\n${proof.checkpoint}`);
});

test('a proof is refused with another entry, index, hashes or checkpoint', async () => {
  const leaf = leafHash(ENTRIES[345]!);
  const code = async (other: Partial<LogProof>, hash = leaf): Promise<string> =>
    refusalOf(verifyLogProof({ ...proof, ...other }, hash, policy));
  expect(await code({}, leafHash(ENTRIES[346]!))).toBe('proof_refused');
  expect(await code({ index: 344 })).toBe('proof_refused');
  expect(await code({ index: 600 })).toBe('out_of_range');
  expect(await code({ inclusion: proof.inclusion.slice(1) })).toBe('proof_refused');
  expect(await code({ inclusion: [...proof.inclusion, leaf] })).toBe('proof_refused');
  expect(await code({ inclusion: proof.inclusion.toReversed() })).toBe('proof_refused');
  expect(await code({ checkpoint: proof.checkpoint.replace('\n600\n', '\n601\n') })).toBe('bad_signature');
  const unsigned = `${proof.checkpoint.slice(0, proof.checkpoint.indexOf('— '))}— who.example AAAAAAA=\n`;
  expect(await code({ checkpoint: unsigned })).toBe('unsigned');
  const uncosigned = proof.checkpoint.slice(0, proof.checkpoint.indexOf('— witness'));
  expect(await code({ checkpoint: uncosigned })).toBe('no_quorum');
});

test('a proof is refused if any character is changed', async () => {
  const text = formatLogProof({ ...proof, extra: null });
  const leaf = leafHash(ENTRIES[345]!);
  for (let at = 0; at < text.length; at += IS_FULL ? 1 : 7) {
    for (const other of ['\n', 'A', '1', ' ']) {
      if (text[at] === other) continue;
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      const outcome = (async () => verifyLogProof(parseLogProof(changed), leaf, policy))();
      expect([
        'malformed',
        'out_of_range',
        'proof_refused',
        'bad_signature',
        'unsigned',
        'wrong_log',
        'no_quorum',
      ]).toContain(await refusalOf(outcome));
    }
  }
});

test('malformed proof files are refused', () => {
  const text = formatLogProof({ ...proof, extra: null });
  const hash = encodeBase64(proof.inclusion[0]!);
  const cases = [
    '',
    '\n\n',
    text.replace('@v1', '@v2'),
    text.replace('\n', '\r\n'),
    text.replace('index 345', 'index  345'),
    text.replace('index 345', 'index 0345'),
    text.replace('index 345', 'index -1'),
    text.replace('index 345', 'index x'),
    text.replace('index 345', 'Index 345'),
    text.replace('index 345\n', ''),
    text.replace('index', 'extra !!\nindex'),
    text.replace('index', 'extra QUI\nindex'),
    text.replace('index', 'extra\nindex'),
    text.replace('index', 'extra QUJD\nextra QUJD\nindex'),
    text.replace('index 345\n', `index 345\n${hash.slice(1)}\n`),
    text.replace('index 345\n', `index 345\n${encodeBase64(new Uint8Array(64))}\n`),
    text.replace('index 345\n', `index 345\n${`${hash}\n`.repeat(64)}`),
    text.replace('index 345\n', `index 345\n${'a'.repeat(65 * 1024)}\n`),
    text.replace('\n\n', '\n\n\n'),
    text.slice(0, text.indexOf('\n\n') + 2),
    text.slice(0, -1),
    `${text}\n`,
    `${text}x`,
    'x'.repeat(8_000_001),
  ];
  for (const other of cases)
    expect([other.slice(0, 200), refusal(() => parseLogProof(other))]).toEqual([other.slice(0, 200), 'malformed']);
  expect(refusal(() => parseLogProof(text.replace('index 345', 'index 9007199254740992')))).toBe('out_of_range');
  expect(refusal(() => formatLogProof({ ...proof, index: -1 }))).toBe('out_of_range');
  expect(refusal(() => formatLogProof({ ...proof, inclusion: [new Uint8Array(1)] }))).toBe('malformed');
  expect(refusal(() => formatLogProof({ ...proof, checkpoint: 'a' }))).toBe('malformed');
  expect(refusal(() => formatLogProof({ ...proof, inclusion: Array<Uint8Array>(64).fill(new Uint8Array(32)) }))).toBe(
    'malformed',
  );
});

test('a proof with extra data has at most 63 hashes', () => {
  const inclusion = Array<Uint8Array>(63).fill(new Uint8Array(32));
  const text = formatLogProof({ ...proof, inclusion });
  expect(parseLogProof(text).inclusion).toHaveLength(63);
  const longer = text.replace('\n\n', `\n${encodeBase64(new Uint8Array(32))}\n\n`);
  expect(refusal(() => parseLogProof(longer))).toBe('malformed');
});

test('a proof file has at most 8,000,000 characters', () => {
  const rest = formatLogProof({ ...proof, extra: new Uint8Array(0) }).length;
  const size = Math.floor((8_000_000 - rest) / 4) * 3;
  // Base64 grows by four characters at a time, so further digits of the index fill up the rest.
  const index = 10 ** ((8_000_000 - rest) % 4) * 345;
  const text = formatLogProof({ ...proof, extra: new Uint8Array(size), index });
  expect(text).toHaveLength(8_000_000);
  expect(parseLogProof(text).index).toBe(index);
  expect(refusal(() => parseLogProof(text.replace('index ', 'index 1')))).toBe('malformed');
});

test('parseLogProof and formatLogProof are inverse to each other', () => {
  const anyHash = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const anyProof = fc.record({
    extra: fc.option(fc.uint8Array({ maxLength: 100 })),
    index: fc.nat(Number.MAX_SAFE_INTEGER),
    inclusion: fc.array(anyHash, { maxLength: 63 }),
  });
  fc.assert(
    fc.property(anyProof, (one) => {
      const whole = { ...one, checkpoint: proof.checkpoint };
      expect(parseLogProof(formatLogProof(whole))).toEqual(whole);
    }),
  );
});
