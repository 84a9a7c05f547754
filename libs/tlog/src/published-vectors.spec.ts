import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVerifier, openNote, TlogError, verifyConsistency, verifyInclusion } from './index';

// These vectors are in a folder beside the repository: testdata/ of transparency-dev/merkle (Apache-2.0), and
// cmd/litewitness/testdata/mldsa.txt of FiloSottile/torchwood (ISC).
const shared = join(__dirname, '../../../../shared/vectors');
const merkle = join(shared, 'merkle');
const litewitness = join(shared, 'torchwood/mldsa.txt');
for (const path of [merkle, litewitness]) {
  if (!existsSync(path)) process.stdout.write(`The vectors ${path} are absent: their tests are skipped.\n`);
}

interface InclusionVector {
  leafIdx: number;
  treeSize: number;
  root: string | null;
  leafHash: string | null;
  proof: string[] | null;
  wantErr: boolean;
}
interface ConsistencyVector {
  size1: number;
  size2: number;
  root1: string | null;
  root2: string | null;
  proof: string[] | null;
  wantErr: boolean;
}

const bytes = (base64: string | null): Uint8Array => Buffer.from(base64 ?? '', 'base64');
const files = (folder: string): string[] =>
  readdirSync(join(merkle, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(merkle, folder, name));

/** Returns whether a verification refuses. Any other error fails the test. */
function isRefused(verify: () => void): boolean {
  try {
    verify();
    return false;
  } catch (error) {
    if (error instanceof TlogError) return true;
    throw error;
  }
}

(existsSync(merkle) ? describe : describe.skip)('the proofs of transparency-dev/merkle', () => {
  test('verifyInclusion accepts and refuses them as published', () => {
    const names = files('inclusion');
    expect(names.length).toBeGreaterThan(90);
    for (const name of names) {
      const vector: InclusionVector = JSON.parse(readFileSync(name, 'utf8'));
      const tree = { size: vector.treeSize, root: bytes(vector.root) };
      const proof = (vector.proof ?? []).map(bytes);
      const refused = isRefused(() => verifyInclusion(bytes(vector.leafHash), vector.leafIdx, tree, proof));
      expect([name, refused]).toEqual([name, vector.wantErr]);
    }
  });

  test('verifyConsistency accepts and refuses them as published', () => {
    const names = files('consistency');
    expect(names.length).toBeGreaterThan(90);
    for (const name of names) {
      const vector: ConsistencyVector = JSON.parse(readFileSync(name, 'utf8'));
      const [older, newer] = [bytes(vector.root1), bytes(vector.root2)];
      const proof = (vector.proof ?? []).map(bytes);
      const refused = isRefused(() =>
        verifyConsistency({ size: vector.size1, root: older }, { size: vector.size2, root: newer }, proof),
      );
      // The library refuses a value that is not a hash, even if both sizes and both roots are equal.
      expect([name, refused]).toEqual([name, vector.wantErr || older.length !== 32]);
    }
  });
});

(existsSync(litewitness) ? test : test.skip)(
  'openNote verifies the ML-DSA-44 checkpoint of the tests of litewitness',
  async () => {
    const script = readFileSync(litewitness, 'utf8');
    const vkey = / -key (\S+)/.exec(script)![1]!;
    const note = /old 0\n\n([^`]*)```/.exec(script)![1]!;
    const { verified } = await openNote(note, [createVerifier(vkey)]);
    expect(verified).toMatchObject([{ name: 'example.com/mldsa-log', time: 0 }]);
    await expect(openNote(note.replace('\n1\n', '\n2\n'), [createVerifier(vkey)])).rejects.toThrow(TlogError);
  },
);
