import fc from 'fast-check';
import {
  appendLeaves,
  createSigner,
  createVerifier,
  decideAddCheckpoint,
  EMPTY_EDGE,
  emptyRoot,
  encodeBase64,
  formatAddCheckpoint,
  formatCheckpoint,
  formatSignatureLines,
  formatTreeSize,
  generateKeys,
  leafHash,
  openNote,
  parseAddCheckpoint,
  parseTreeSize,
  readConsistencyProof,
  refuseUnauthentic,
  rootOfLeaves,
  signNote,
  tileHashReader,
  verifyConsistency,
  witnessedCheckpointPath,
  type ParsedAddCheckpoint,
  type Signer,
  type TreeHead,
} from '../index';
import { MemoryTiles } from '../testing/memory-tiles';
import { refusal } from '../testing/refusal';

const ORIGIN = 'log.example/one';
const leaves = Array.from({ length: 200 }, (_, index) => leafHash(`leaf ${index}`));
const otherLeaves = leaves.map((leaf, index) => (index === 3 ? leafHash('another') : leaf));
const tiles = new MemoryTiles();
tiles.add(appendLeaves(EMPTY_EDGE, leaves).added);
const head = (size: number, of = leaves): TreeHead => ({ size, root: rootOfLeaves(of.slice(0, size)) });
let log: Signer;

beforeAll(async () => {
  log = await createSigner((await generateKeys(ORIGIN, 'ed25519')).signingKey);
});

const proofOf = async (from: number, to: number): Promise<Uint8Array[]> =>
  readConsistencyProof(from, to, tileHashReader(to, tiles.read));
const noteOf = async (tree: TreeHead, origin = ORIGIN, signer = log): Promise<string> =>
  signNote({ text: formatCheckpoint({ origin, ...tree, extensionLines: [] }) }, [signer], 0);
async function request(
  oldSize: number,
  tree: TreeHead,
  consistency: readonly Uint8Array[],
): Promise<ParsedAddCheckpoint> {
  return parseAddCheckpoint(formatAddCheckpoint({ oldSize, consistency, note: await noteOf(tree) }));
}

describe('add-checkpoint requests', () => {
  // The example of C2SP tlog-witness. Its second signature is by another key.
  const EXAMPLE = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
`;

  test('parse and format the example of C2SP', () => {
    const parsed = parseAddCheckpoint(EXAMPLE);
    expect(parsed).toMatchObject({
      oldSize: 20_852_014,
      checkpoint: { origin: 'example.com/behind-the-sofa', size: 20_852_163 },
    });
    expect(parsed.consistency).toHaveLength(4);
    expect(formatAddCheckpoint(parsed)).toBe(EXAMPLE);
  });

  test('parse and format with 63 hashes', () => {
    const consistency = Array<Uint8Array>(63).fill(new Uint8Array(32));
    const body = formatAddCheckpoint({ ...parseAddCheckpoint(EXAMPLE), consistency });
    expect(parseAddCheckpoint(body).consistency).toEqual(consistency);
  });

  test('parse and format without a proof', async () => {
    const note = await noteOf(head(1));
    expect(formatAddCheckpoint({ oldSize: 0, consistency: [], note })).toBe(`old 0\n\n${note}`);
    expect(parseAddCheckpoint(`old 0\n\n${note}`).consistency).toEqual([]);
  });

  test.each([
    ['', ''],
    ['old 20852014', 'old 020852014'],
    ['old 20852014', 'old -1'],
    ['old 20852014', 'old'],
    ['old 20852014', 'old '],
    ['old 20852014', 'Old 1'],
    ['old 20852014\n', ''],
    ['old 20852014\n', '\nold 20852014\n'],
    ['PlRN', 'PlR'],
    ['PlRN', '    '],
    ['kaw=\n', 'kaw=\r\n'],
    ['Kj/0=\n\n', 'Kj/0=\n'],
    ['old 20852014\n', `old 20852014\n${'PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n'.repeat(60)}`],
    ['\n20852163\n', '\n020852163\n'],
    ['\n— ', '\n- '],
    ['\n\n—', '\n—'],
  ])('are refused if they are malformed: %#', (from, to) => {
    const body = from === '' ? '' : EXAMPLE.replace(from, to);
    expect(refusal(() => parseAddCheckpoint(body))).toBe('malformed');
  });

  test('refuse malformed and too large tree sizes', () => {
    expect(formatTreeSize(20_852_163)).toBe('20852163\n');
    expect(parseTreeSize('20852163\n')).toBe(20_852_163);
    for (const body of ['', '\n', '1', '01\n', '1\n\n', ' 1\n', '-1\n']) {
      expect(refusal(() => parseTreeSize(body))).toBe('malformed');
    }
    expect(refusal(() => parseTreeSize('9007199254740992\n'))).toBe('out_of_range');
    expect(refusal(() => parseAddCheckpoint(EXAMPLE.replace('20852014', '9223372036854775807')))).toBe('out_of_range');
  });

  test('lead to a checkpoint at witnessedCheckpointPath', () => {
    expect(witnessedCheckpointPath('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/checkpoint',
    );
    expect(refusal(() => witnessedCheckpointPath(''))).toBe('malformed');
    expect(refusal(() => witnessedCheckpointPath('\ud800'))).toBe('malformed');
  });
});

describe('refuseUnauthentic', () => {
  const keys = (origin: string) => (origin === ORIGIN ? [createVerifier(log.verifierKey)] : []);

  test('returns 404 for an unknown log', async () => {
    const other = await createSigner((await generateKeys('log.example/two', 'ed25519')).signingKey);
    const note = await noteOf(head(4), 'log.example/two', other);
    expect(await refuseUnauthentic(parseAddCheckpoint(`old 9\n\n${note}`), keys)).toMatchObject({ status: 404 });
  });

  test('returns 403 for a foreign or invalid signature, even next to a valid one of the same key', async () => {
    const good = await noteOf(head(4));
    const line = good.slice(good.indexOf('— '));
    const badLine = (await noteOf(head(5))).replace(/^[^—]*/, '');
    const stranger = await createSigner((await generateKeys(ORIGIN, 'ed25519')).signingKey);
    const notes = [
      await noteOf(head(4), ORIGIN, stranger),
      good.replace(line, badLine),
      good + badLine,
      good.replace(line, badLine + line),
    ];
    for (const note of notes) {
      expect(await refuseUnauthentic(parseAddCheckpoint(`old 9\n\n${note}`), keys)).toMatchObject({ status: 403 });
    }
    expect(await refuseUnauthentic(parseAddCheckpoint(`old 9\n\n${good}`), keys)).toBeNull();
  });
});

describe('decideAddCheckpoint', () => {
  const decide = async (
    oldSize: number,
    tree: TreeHead,
    consistency: readonly Uint8Array[],
    last: TreeHead | null,
  ): Promise<unknown> => decideAddCheckpoint(await request(oldSize, tree, consistency), last);

  test('returns 200 for the first checkpoint, the same one again, and a newer one', async () => {
    expect(await decide(0, head(7), [], null)).toMatchObject({ status: 200, checkpoint: { size: 7 } });
    expect(await decide(0, head(0), [], null)).toMatchObject({ status: 200 });
    expect(await decide(0, head(7), [], head(0))).toMatchObject({ status: 200 });
    expect(await decide(7, head(7), [], head(7))).toMatchObject({ status: 200 });
    expect(await decide(7, head(9), await proofOf(7, 9), head(7))).toMatchObject({ status: 200 });
  });

  test('returns 400 first if the old size is above the size of the checkpoint', async () => {
    expect(await decide(8, head(7), [], head(8))).toMatchObject({ status: 400 });
    expect(await decide(8, head(7), [], head(5))).toMatchObject({ status: 400 });
    expect(await decide(8, head(7, otherLeaves), [leaves[0]!], null)).toMatchObject({ status: 400 });
  });

  test('returns 409 with the known size before it checks the proof', async () => {
    expect(await decide(0, head(9), [], head(7))).toEqual({ status: 409, size: 7 });
    expect(await decide(7, head(9), await proofOf(7, 9), null)).toEqual({ status: 409, size: 0 });
    expect(await decide(6, head(9, otherLeaves), [leaves[0]!], head(7))).toEqual({ status: 409, size: 7 });
    // The checkpoint is older than the one that the witness has.
    expect(await decide(3, head(5), await proofOf(3, 5), head(7))).toEqual({ status: 409, size: 7 });
  });

  test('returns 422 for another root, an invalid proof or an unexpected proof', async () => {
    expect(await decide(0, { size: 0, root: leaves[0]! }, [], null)).toMatchObject({ status: 422 });
    expect(await decide(0, { size: 0, root: emptyRoot() }, [leaves[0]!], null)).toMatchObject({ status: 422 });
    expect(await decide(0, head(7), [leaves[0]!], null)).toMatchObject({ status: 422 });
    expect(await decide(7, head(7, otherLeaves), [], head(7))).toMatchObject({ status: 422 });
    expect(await decide(7, head(7), [leaves[0]!], head(7))).toMatchObject({ status: 422 });
    expect(await decide(7, head(9), [], head(7))).toMatchObject({ status: 422 });
    expect(await decide(7, head(9, otherLeaves), await proofOf(7, 9), head(7))).toMatchObject({ status: 422 });
  });

  test('never accepts an older tree or a second history', async () => {
    const step = fc.record({
      oldSize: fc.oneof(fc.nat(40), fc.constant(-1)),
      size: fc.nat(40),
      forked: fc.boolean(),
      proof: fc.constantFrom('right', 'none', 'cut'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        let last: TreeHead | null = null;
        const cosigned: TreeHead[] = [];
        for (const { oldSize: asked, size, forked, proof } of steps) {
          // -1 means the size that the log knows.
          const oldSize: number = asked < 0 ? (last?.size ?? 0) : asked;
          const tree = head(size, forked ? otherLeaves : leaves);
          const right = oldSize <= size ? await proofOf(oldSize, size) : [];
          const consistency = { right, none: [], cut: right.slice(1) }[proof];
          const decision = decideAddCheckpoint(await request(oldSize, tree, consistency), last);
          const known: number = last?.size ?? 0;
          if (oldSize > size) expect(decision.status).toBe(400);
          else if (oldSize !== known) expect(decision).toEqual({ status: 409, size: known });
          else expect([200, 422]).toContain(decision.status);
          if (decision.status !== 200) continue;
          expect(size).toBeGreaterThanOrEqual(known);
          last = tree;
          cosigned.push(tree);
        }
        // Both checkpoints are from one history, which is compared with the two existing checkpoints.
        const isOf = (of: readonly Uint8Array[]): boolean =>
          cosigned.every(({ size, root }) => encodeBase64(root) === encodeBase64(rootOfLeaves(of.slice(0, size))));
        expect(isOf(leaves) || isOf(otherLeaves)).toBe(true);
      }),
    );
  });

  test('accepts checkpoints whose cosignature verifies after it is appended', async () => {
    const witness = await createSigner((await generateKeys('witness.example/w', 'ed25519-cosignature')).signingKey);
    const { note, checkpoint } = await request(0, head(7), []);
    const { text } = await openNote(note, [createVerifier(log.verifierKey)]);
    const answer = formatSignatureLines([await witness.sign(text, 1_700_000_000)]);
    const { verified } = await openNote(note + answer, [createVerifier(witness.verifierKey)]);
    expect(verified).toMatchObject([{ name: 'witness.example/w', time: 1_700_000_000 }]);
    verifyConsistency(checkpoint, head(9), await proofOf(7, 9));
  });
});
