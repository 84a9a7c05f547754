import { createHash } from 'node:crypto';
import { encodeBase64, leafHash, type TreeHead } from '@iss/tlog';
import fc from 'fast-check';
import { runs } from '../../../tools/testing/runs';
import {
  accessStream,
  formatMapProof,
  formatMapRootEntry,
  granteeStream,
  insertKeys,
  ladderNumbers,
  type LookUp,
  mapKey,
  type MapProof,
  type MapTrust,
  newestOfLadder,
  parseMapProof,
  parseMapRootEntry,
  readPaths,
  verifyAbsence,
  verifyMapRoot,
  verifyNewest,
  versionStream,
  vrfInput,
  vrfKeysFromRandom,
  vrfProve,
} from './index';
import { requireAscending } from './look-up';
import { MemoryRows } from './testing/memory-rows';
import { refusal } from './testing/refusal';
import type { VrfGroup } from './vrf/group';
import { loadSodiumGroup } from './vrf/sodium-group';

const ORIGIN = 'log.example/iss';
const STREAM = versionStream('company', 'acme');
/** Version 2 of this stream was logged before version 1. */
const IMPORTED = versionStream('company', 'imported');
/** Version n of `STREAM` is log entry 10 n. */
const COVERS = 1_000;
/** Versions of the last entry before the root, and of the root itself, which has none. */
const [LAST, LATE] = [versionStream('company', 'last'), versionStream('company', 'late')];

let group: VrfGroup;
let trust: MapTrust;
let sound: MapProof;
let keys: ReturnType<typeof vrfKeysFromRandom>;
const rows = new MemoryRows();

/** A log whose other leaves are one made-up sibling: the inclusion proof has that one hash. */
function logOf(entry: string): { tree: TreeHead; inclusion: Uint8Array[] } {
  let hash: Uint8Array = leafHash(entry);
  const inclusion: Uint8Array[] = [];
  // The last of 1,001 leaves has a sibling on its left for each bit of 1,000.
  for (let level = 0; level < 6; level++) {
    const left = createHash('sha256').update(`left ${level}`).digest();
    inclusion.push(left);
    hash = createHash('sha256').update(Buffer.of(1)).update(left).update(hash).digest();
  }
  return { tree: { size: COVERS + 1, root: hash }, inclusion };
}

async function proofOf(numbers: readonly number[], stream = STREAM): Promise<MapProof> {
  const proved = numbers.map((number) => vrfProve(group, keys, vrfInput(ORIGIN, stream, number)));
  const paths = await readPaths(
    proved.map(({ output }) => output.slice(0, 32)),
    rows,
  );
  const lookUps = paths.map(({ leaf, levels, logIndexes }, at): LookUp => {
    const other = logIndexes.length > 0 ? null : leaf;
    return { number: numbers[at]!, vrfProof: proved[at]!.proof, logIndexes, levels, other };
  });
  return { ...sound, lookUps };
}

beforeAll(async () => {
  group = await loadSodiumGroup();
  keys = vrfKeysFromRandom(group, Buffer.alloc(64, 5));
  const mine = [1, 2, 3, 4, 5].map((number) => ({
    key: mapKey(group, keys, vrfInput(ORIGIN, STREAM, number)),
    logIndex: 10 * number,
  }));
  const others = Array.from({ length: 300 }, (_, at) => ({
    key: createHash('sha256').update(`other ${at}`).digest(),
    logIndex: 100 + at,
  }));
  const doubled = [7, 8].map((logIndex) => ({
    key: mapKey(group, keys, vrfInput(ORIGIN, accessStream('company', 'acme'), 1)),
    logIndex,
  }));
  const imported = [20, 10].map((logIndex, at) => ({
    key: mapKey(group, keys, vrfInput(ORIGIN, IMPORTED, at + 1)),
    logIndex,
  }));
  const atEnd = [LAST, LATE].map((stream, at) => ({
    key: mapKey(group, keys, vrfInput(ORIGIN, stream, 1)),
    logIndex: COVERS - 1 + at,
  }));
  const change = await insertKeys([...mine, ...others, ...doubled, ...imported, ...atEnd], rows);
  rows.apply(change);
  const entry = formatMapRootEntry({ covers: COVERS, root: change.root });
  const { tree, inclusion } = logOf(entry);
  trust = { group, publicKey: keys.publicKey, origin: ORIGIN, tree };
  sound = { checkpoint: 'note', mapRoot: { logIndex: COVERS, entry, inclusion }, lookUps: [] };
  sound = await proofOf(ladderNumbers(5));
});

describe('ladders', () => {
  it('contain the newest number, the next one, and few others', () => {
    expect([0, 1, 2, 5, 8].map(ladderNumbers)).toEqual([
      [1],
      [1, 2],
      [1, 2, 4, 3],
      [1, 2, 4, 8, 6, 5],
      [1, 2, 4, 8, 16, 12, 10, 9],
    ]);
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), (newest) => {
        const numbers = ladderNumbers(newest);
        expect(numbers).toEqual(expect.arrayContaining(newest === 0 ? [1] : [newest, newest + 1]));
        const rungs = numbers.map((number) => ({ number, isPresent: number <= newest }));
        expect(newestOfLadder(rungs)).toBe(newest);
        for (const other of [rungs.slice(1), rungs.slice(0, -1), [...rungs, rungs[0]!]]) {
          expect(refusal(() => newestOfLadder(other))).toBe('ladder_refused');
        }
      }),
      { numRuns: 200 },
    );
  });

  it('refuse numbers out of range', () => {
    const rungs = Array.from({ length: 64 }, (_, at) => ({ number: 2 ** at, isPresent: true }));
    expect(refusal(() => newestOfLadder(rungs))).toBe('ladder_refused');
    for (const newest of [-1, 1.5, 2 ** 31]) expect(refusal(() => ladderNumbers(newest))).toBe('out_of_range');
  });
});

describe('a proof of the newest number', () => {
  it('is accepted, also as of an earlier size', async () => {
    expect(verifyNewest(trust, STREAM, sound)).toMatchObject({ number: 5, head: { logIndex: 50 } });
    const older = await proofOf(ladderNumbers(3));
    expect(verifyNewest(trust, STREAM, older, 40)).toMatchObject({ number: 3, head: { logIndex: 30 } });
    expect(refusal(() => verifyNewest(trust, STREAM, older, 41))).toBe('ladder_refused');
    expect(refusal(() => verifyNewest(trust, STREAM, older))).toBe('ladder_refused');
    expect(refusal(() => verifyNewest(trust, STREAM, sound, COVERS + 2))).toBe('out_of_range');
  });

  it('is accepted for versions logged out of order, but not as of a size', async () => {
    const proof = await proofOf(ladderNumbers(2), IMPORTED);
    expect(verifyNewest(trust, IMPORTED, proof)).toMatchObject({ number: 2, head: { logIndex: 10 } });
    expect(refusal(() => verifyNewest(trust, IMPORTED, proof, COVERS))).toBe('ladder_refused');
  });

  it('proves that a stream is empty', async () => {
    const stream = granteeStream('bank', 'company', 'acme');
    const proof = await proofOf([1], stream);
    expect(verifyNewest(trust, stream, proof)).toEqual({ number: 0, head: null });
    expect(() => verifyAbsence(trust, stream, 1, proof)).not.toThrow();
    expect(refusal(() => verifyAbsence(trust, stream, 2, proof))).toBe('ladder_refused');
    expect(refusal(() => verifyAbsence(trust, STREAM, 1, proof))).toBe('vrf_refused');
  });

  it('is refused if the newest version is hidden', async () => {
    // A ladder to 4 asks for 5 too, which is there.
    const four = await proofOf(ladderNumbers(4));
    expect(verifyNewest(trust, STREAM, four).number).toBe(5);
    expect(refusal(() => verifyAbsence(trust, STREAM, 5, four))).toBe('ladder_refused');
    const hidden = {
      ...four,
      lookUps: four.lookUps.map((lookUp) => (lookUp.number === 5 ? { ...lookUp, logIndexes: [] } : lookUp)),
    };
    expect(refusal(() => verifyNewest(trust, STREAM, hidden))).toBe('path_refused');
    const elsewhere = { ...four, lookUps: [...four.lookUps.slice(0, -1), sound.lookUps[3]!] };
    expect(refusal(() => verifyNewest(trust, STREAM, elsewhere))).toBe('ladder_refused');
  });

  it('is refused for another stream, origin, key or tree', () => {
    const other = { ...trust, publicKey: vrfKeysFromRandom(group, Buffer.alloc(64, 6)).publicKey };
    expect(refusal(() => verifyNewest(other, STREAM, sound))).toBe('vrf_refused');
    expect(refusal(() => verifyNewest({ ...trust, origin: 'x' }, STREAM, sound))).toBe('vrf_refused');
    expect(refusal(() => verifyNewest(trust, versionStream('company', 'acmf'), sound))).toBe('vrf_refused');
    const { size, root } = trust.tree;
    const grown = { ...trust, tree: { size: size + 1, root } };
    expect(refusal(() => verifyNewest(grown, STREAM, sound))).toBe('root_refused');
    const forged = { ...trust, tree: { size, root: Buffer.alloc(32) } };
    expect(refusal(() => verifyNewest(forged, STREAM, sound))).toBe('proof_refused');
  });

  it('is refused if an entry of the map is not before its root', async () => {
    const last = await proofOf(ladderNumbers(1), LAST);
    expect(verifyNewest(trust, LAST, last)).toMatchObject({ number: 1, head: { logIndex: COVERS - 1 } });
    const late = await proofOf(ladderNumbers(1), LATE);
    expect(refusal(() => verifyNewest(trust, LATE, late))).toBe('malformed');
  });

  it('is refused if the look-up of a present key has another leaf', () => {
    const other = { key: Buffer.alloc(32), value: Buffer.alloc(32) };
    const lookUps = sound.lookUps.map((lookUp) => (lookUp.number === 5 ? { ...lookUp, other } : lookUp));
    expect(refusal(() => verifyNewest(trust, STREAM, { ...sound, lookUps }))).toBe('path_refused');
  });

  it('is refused if one number is in two entries', async () => {
    const stream = accessStream('company', 'acme');
    const proof = await proofOf([1, 2], stream);
    expect(proof.lookUps[0]!.logIndexes).toEqual([7, 8]);
    expect(refusal(() => verifyNewest(trust, stream, proof))).toBe('doubled');
  });

  it('is refused if the root covers another number of entries', () => {
    const entry = formatMapRootEntry({ ...parseMapRootEntry(sound.mapRoot.entry), covers: COVERS - 1 });
    expect(refusal(() => verifyMapRoot(trust.tree, { mapRoot: { ...sound.mapRoot, entry } }))).toBe('root_refused');
    expect(refusal(() => verifyMapRoot(trust.tree, { mapRoot: { ...sound.mapRoot, logIndex: 1 } }))).toBe(
      'root_refused',
    );
  });
});

describe('a map proof as JSON', () => {
  it('is parsed to what was formatted', () => {
    expect(formatMapProof(parseMapProof(formatMapProof(sound)))).toEqual(formatMapProof(sound));
    expect(verifyNewest(trust, STREAM, parseMapProof(formatMapProof(sound))).number).toBe(5);
  });

  it('is refused if a character outside of the checkpoint is changed', () => {
    const text = JSON.stringify(formatMapProof({ ...sound, lookUps: sound.lookUps }));
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom('A', '1', '"', '}', 'null', ''), (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1);
        let json: unknown;
        try {
          json = JSON.parse(changed);
        } catch {
          return;
        }
        if (changed === text || changed.replace(/"checkpoint":"[^"]*"/, '') === text.replace('"checkpoint":"note"', ''))
          return;
        expect([
          'malformed',
          'vrf_refused',
          'path_refused',
          'root_refused',
          'ladder_refused',
          'proof_refused',
        ]).toContain(refusal(() => verifyNewest(trust, STREAM, parseMapProof(json))));
      }),
      { numRuns: runs(600) },
    );
  });

  it('is refused in any other form', () => {
    const json = formatMapProof(sound);
    const [first] = json.look_ups;
    for (const other of [
      null,
      [],
      'x',
      { ...json, more: 1 },
      { ...json, checkpoint: undefined },
      { checkpoint: 'x', map_root: json.map_root },
      { ...json, look_ups: Array.from({ length: 65 }, () => first) },
      { ...json, look_ups: [{ ...first, number: 0 }] },
      { ...json, look_ups: [{ ...first, number: 1.5 }] },
      { ...json, look_ups: [{ ...first, vrf_proof: 'AAAA' }] },
      { ...json, look_ups: [{ ...first, path: 'AAAA' }] },
      { ...json, look_ups: [{ ...first, path: encodeBase64(Buffer.alloc(66)) }] },
      { ...json, look_ups: [{ ...first, other: { key: 'AAAA', value: 'AAAA' } }] },
      { ...json, map_root: { ...json.map_root, log_index: -1 } },
      { ...json, map_root: { ...json.map_root, inclusion: ['x'] } },
    ]) {
      expect(refusal(() => parseMapProof(other))).toBe('malformed');
    }
    fc.assert(
      fc.property(fc.anything(), (any) => {
        expect(refusal(() => parseMapProof(any))).toBe('malformed');
      }),
    );
  });

  it('is refused with a root entry that is not canonical', () => {
    const { entry } = sound.mapRoot;
    for (const text of [
      '',
      ` ${entry}`,
      entry.replace('"covers":', '"covers":0'),
      entry.replace('v1', 'v2'),
      `${entry} `,
    ]) {
      expect(refusal(() => parseMapRootEntry(text))).toBe('malformed');
    }
  });
});

test('streams of different types or ids have different names', () => {
  const part = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F', '\n'), maxLength: 4 });
  fc.assert(
    fc.property(fc.tuple(part, part), fc.tuple(part, part), ([type, id], [otherType, otherId]) => {
      const isSame = type === otherType && id === otherId;
      expect(versionStream(type, id) === versionStream(otherType, otherId)).toBe(isSame);
      expect(versionStream(type, id)).not.toContain('\n');
    }),
    { numRuns: 500 },
  );
  expect(refusal(() => vrfInput(ORIGIN, 'v/a\nb', 1))).toBe('malformed');
  expect(refusal(() => vrfInput(ORIGIN, STREAM, 0))).toBe('out_of_range');
});

it('refuses an older size for numbers that were not logged one after the other', () => {
  const ascending = (...indexes: [number, number][]) => refusal(() => requireAscending(new Map(indexes)));
  expect(() =>
    requireAscending(
      new Map([
        [2, 7],
        [1, 3],
        [4, 9],
      ]),
    ),
  ).not.toThrow();
  expect([ascending([1, 3], [2, 2]), ascending([1, 3], [2, 3])]).toEqual(['ladder_refused', 'ladder_refused']);
});
