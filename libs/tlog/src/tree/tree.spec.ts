import fc from 'fast-check';
import { createHash } from 'node:crypto';
import {
  appendLeaves,
  EMPTY_EDGE,
  emptyRoot,
  leafHash,
  nodeHash,
  perfectSubtrees,
  readConsistencyProof,
  readInclusionProof,
  readRightEdge,
  readRoot,
  rootOfEdge,
  rootOfLeaves,
  TlogError,
  verifyConsistency,
  verifyInclusion,
  type HashReader,
  type RightEdge,
  type TreeHead,
} from '../index';
import { naiveTree, pathShape, proofShape } from '../testing/naive-tree';
import { refusal, refusalOf } from '../testing/refusal';
import { IS_FULL } from '../../../../tools/testing/runs';

const LARGEST = IS_FULL ? 300 : 70;
/** Up to this size, the tests try all wrong proofs. */
const MOST = IS_FULL ? 24 : 12;
const tree = naiveTree(LARGEST);
const roots = Array.from({ length: LARGEST + 1 }, (_, size) => tree.root(0, size));
const head = (size: number): TreeHead => ({ size, root: roots[size]! });
const readTree: HashReader = (nodes) =>
  Promise.resolve(nodes.map(({ level, index }) => tree.root(index * 2 ** level, (index + 1) * 2 ** level)));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A test calls this thousands of times, so it avoids Jest's bookkeeping. */
function mustRefuse(verify: () => void): void {
  const code = refusal(verify);
  if (code !== 'proof_refused') throw new Error(`It was refused as ${code}.`);
}

describe('hashes', () => {
  // The vectors of Certificate Transparency's tests: transparency-dev/merkle (Apache-2.0), rfc6962/rfc6962_test.go.
  test('match Certificate Transparency for an empty tree, an empty leaf and a leaf', () => {
    expect(hex(emptyRoot())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(hex(leafHash(''))).toBe('6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d');
    expect(hex(leafHash('L123456'))).toBe('395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56');
  });

  test('of a text are those of its UTF-8 bytes', () => {
    const text = '{"a":"é — 😀"}';
    expect(hex(leafHash(text))).toBe(hex(leafHash(Buffer.from(text))));
    expect(refusal(() => leafHash('\ud800'))).toBe('malformed');
  });

  test('of a node require two hashes of 32 bytes', () => {
    expect(refusal(() => nodeHash(new Uint8Array(31), new Uint8Array(32)))).toBe('malformed');
    expect(refusal(() => nodeHash(new Uint8Array(32), new Uint8Array(33)))).toBe('malformed');
  });

  // transparency-dev/merkle (Apache-2.0), testonly/constants.go, and certificate-transparency-go before it.
  test('match the eight trees of Certificate Transparency', () => {
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
    const expected = [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ];
    const leaves = inputs.map((input) => leafHash(Buffer.from(input, 'hex')));
    expect(leaves.map((_, index) => hex(rootOfLeaves(leaves.slice(0, index + 1))))).toEqual(expected);
  });
});

describe('appendLeaves', () => {
  test('returns the root of every size, leaf by leaf and at once', () => {
    let edge: RightEdge = EMPTY_EDGE;
    expect(hex(rootOfEdge(edge))).toBe(hex(roots[0]!));
    for (let size = 1; size <= LARGEST; size++) {
      const grown = appendLeaves(edge, [tree.leaves[size - 1]!]);
      edge = grown.edge;
      expect(hex(grown.root)).toBe(hex(roots[size]!));
      expect(hex(rootOfEdge(edge))).toBe(hex(roots[size]!));
      expect(hex(rootOfLeaves(tree.leaves.slice(0, size)))).toBe(hex(roots[size]!));
      expect(edge.hashes.length).toBe(perfectSubtrees({ from: 0, to: size }).length);
    }
  });

  test('returns the same root for batches of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(90), { maxLength: 12 }), (batches) => {
        let edge: RightEdge = EMPTY_EDGE;
        for (const batch of batches) {
          const leaves = tree.leaves.slice(edge.size, edge.size + batch);
          const grown = appendLeaves(edge, leaves);
          edge = grown.edge;
          expect(hex(grown.root)).toBe(hex(roots[edge.size]!));
        }
      }),
    );
  });

  test('is exact up to 2^53 - 1 leaves', () => {
    const size = 2 ** 53 - 3;
    const hashes = perfectSubtrees({ from: 0, to: size }).map(({ level }) => leafHash(`subtree of ${level}`));
    const { edge } = appendLeaves({ size, hashes }, [leafHash('one'), leafHash('two')]);
    expect(edge.size).toBe(2 ** 53 - 1);
    expect(edge.hashes.length).toBe(53);
    expect(refusal(() => appendLeaves(edge, [leafHash('three')]))).toBe('out_of_range');
  });

  test('refuses an edge of another size and a leaf that is not a hash', () => {
    expect(refusal(() => appendLeaves({ size: 3, hashes: [roots[1]!] }, []))).toBe('malformed');
    expect(refusal(() => appendLeaves({ size: 1, hashes: [new Uint8Array(5)] }, []))).toBe('malformed');
    expect(refusal(() => appendLeaves({ size: 0.5, hashes: [] }, []))).toBe('out_of_range');
    expect(refusal(() => appendLeaves(EMPTY_EDGE, [new Uint8Array(31)]))).toBe('malformed');
    expect(refusal(() => rootOfEdge({ size: 2, hashes: [] }))).toBe('malformed');
    expect(refusal(() => rootOfEdge({ size: 2, hashes: [roots[1]!, roots[1]!] }))).toBe('malformed');
  });
});

describe('reading a tree', () => {
  test('returns the root and the edge of every size', async () => {
    for (let size = 0; size <= LARGEST; size++) {
      expect(hex(await readRoot(size, readTree))).toBe(hex(roots[size]!));
      const edge = await readRightEdge(size, readTree);
      expect(hex(rootOfEdge(edge))).toBe(hex(roots[size]!));
    }
  });

  test('calls the reader once per proof and checks its answer', async () => {
    let calls = 0;
    const counted: HashReader = async (nodes) => {
      calls++;
      return readTree(nodes);
    };
    await readInclusionProof(5, 11, counted);
    await readConsistencyProof(5, 11, counted);
    expect(calls).toBe(2);
    expect(await refusalOf(readInclusionProof(5, 11, () => Promise.resolve([])))).toBe('unreadable');
    const extra: HashReader = async (nodes) => [...(await readTree(nodes)), new Uint8Array(32)];
    expect(await refusalOf(readInclusionProof(5, 11, extra))).toBe('unreadable');
    const short: HashReader = (nodes) => Promise.resolve(nodes.map(() => new Uint8Array(31)));
    expect(await refusalOf(readInclusionProof(5, 11, short))).toBe('malformed');
  });

  test('refuses sizes and indexes out of range', async () => {
    expect(await refusalOf(readInclusionProof(0, 0, readTree))).toBe('out_of_range');
    expect(await refusalOf(readInclusionProof(4, 4, readTree))).toBe('out_of_range');
    expect(await refusalOf(readInclusionProof(-1, 4, readTree))).toBe('out_of_range');
    expect(await refusalOf(readInclusionProof(NaN, 4, readTree))).toBe('out_of_range');
    expect(await refusalOf(readConsistencyProof(5, 4, readTree))).toBe('out_of_range');
    expect(await refusalOf(readRoot(2 ** 53, readTree))).toBe('out_of_range');
    expect(await refusalOf(readRoot(1.5, readTree))).toBe('out_of_range');
  });
});

describe('inclusion proofs', () => {
  test('are those of RFC 6962 and verify, for every leaf and size', async () => {
    for (let size = 1; size <= LARGEST; size++) {
      for (let index = 0; index < size; index++) {
        const proof = await readInclusionProof(index, size, readTree);
        // The hashes are compared by reference first, because the naive tree returns each hash once.
        const expected = tree.path(index, 0, size);
        if (proof.length !== expected.length || proof.some((hash, at) => !expected[at]!.equals(hash))) {
          throw new Error(`The proof of leaf ${index} of ${size} is not RFC 6962's.`);
        }
        verifyInclusion(tree.leaves[index]!, index, head(size), proof);
      }
    }
  });

  const anyLeaf = fc
    .integer({ min: 1, max: LARGEST })
    .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }));

  test('are refused with any flipped bit', () => {
    fc.assert(
      fc.property(anyLeaf, fc.nat(), fc.nat(255), ({ size, index }, which, bit) => {
        const proof = tree.path(index, 0, size);
        const hashes = [tree.leaves[index]!, roots[size]!, ...proof].map((hash) => Buffer.from(hash));
        hashes[which % hashes.length]![bit >> 3]! ^= 1 << (bit & 7);
        const [leaf, root, ...changed] = hashes;
        mustRefuse(() => verifyInclusion(leaf!, index, { size, root: root! }, changed));
      }),
    );
  });

  test('are refused if they are truncated, extended or swapped', () => {
    for (let size = 1; size <= (IS_FULL ? 40 : 17); size++) {
      for (let index = 0; index < size; index++) {
        const proof = tree.path(index, 0, size);
        const others = [
          ...proof.map((_, at) => proof.filter((_hash, other) => other !== at)),
          ...[...proof, 0].map((_, at) => proof.toSpliced(at, 0, roots[size]!)),
          ...[...proof, 0].map((_, at) => proof.toSpliced(at, 0, tree.leaves[index]!)),
          ...proof.slice(1).map((_, at) => proof.with(at, proof[at + 1]!).with(at + 1, proof[at]!)),
        ];
        for (const other of others) {
          mustRefuse(() => verifyInclusion(tree.leaves[index]!, index, head(size), other));
        }
      }
    }
  });

  test('are refused for another index, size or leaf', () => {
    for (let size = 2; size <= MOST; size++) {
      for (let index = 0; index < size; index++) {
        const proof = tree.path(index, 0, size);
        const leaf = tree.leaves[index]!;
        for (let other = 0; other < size; other++) {
          if (other === index) continue;
          mustRefuse(() => verifyInclusion(leaf, other, head(size), proof));
          mustRefuse(() => verifyInclusion(tree.leaves[other]!, index, head(size), proof));
        }
        for (let other = index + 1; other <= MOST; other++) {
          if (other === size) continue;
          mustRefuse(() => verifyInclusion(leaf, index, head(other), proof));
        }
      }
    }
  });

  test('are refused for a wrong index or size, unless the path has the same shape', () => {
    for (let size = 1; size <= 12; size++) {
      for (let leaf = 0; leaf < size; leaf++) {
        const proof = tree.path(leaf, 0, size);
        for (let stated = 1; stated <= 12; stated++) {
          for (let index = 0; index < stated; index++) {
            const verify = (): void =>
              verifyInclusion(tree.leaves[leaf]!, index, { size: stated, root: roots[size]! }, proof);
            if (pathShape(index, stated) === pathShape(leaf, size)) verify();
            else mustRefuse(verify);
          }
        }
      }
    }
  });

  test('are refused with an invalid index, size or hash', () => {
    expect(refusal(() => verifyInclusion(roots[1]!, 1, head(1), []))).toBe('out_of_range');
    expect(refusal(() => verifyInclusion(roots[1]!, 0, head(0), []))).toBe('out_of_range');
    expect(refusal(() => verifyInclusion(roots[1]!, -1, head(1), []))).toBe('out_of_range');
    expect(refusal(() => verifyInclusion(new Uint8Array(31), 0, head(1), []))).toBe('malformed');
    expect(refusal(() => verifyInclusion(roots[1]!, 0, { size: 1, root: new Uint8Array(0) }, []))).toBe('malformed');
    expect(refusal(() => verifyInclusion(roots[1]!, 0, head(2), [new Uint8Array(64)]))).toBe('malformed');
  });
});

describe('consistency proofs', () => {
  test('are those of RFC 6962 and verify, for every pair of sizes', async () => {
    for (let newer = 1; newer <= LARGEST; newer++) {
      for (let older = 1; older <= newer; older++) {
        const proof = await readConsistencyProof(older, newer, readTree);
        const expected = tree.proof(older, newer);
        if (proof.length !== expected.length || proof.some((hash, at) => !expected[at]!.equals(hash))) {
          throw new Error(`The proof from ${older} to ${newer} is not RFC 6962's.`);
        }
        verifyConsistency(head(older), head(newer), proof);
      }
    }
  });

  test('are empty from the tree without leaves', async () => {
    for (const size of [0, 1, 2, LARGEST]) {
      expect(await readConsistencyProof(0, size, readTree)).toEqual([]);
      verifyConsistency(head(0), head(size), []);
      mustRefuse(() => verifyConsistency(head(0), head(size), [roots[1]!]));
      mustRefuse(() => verifyConsistency({ size: 0, root: roots[1]! }, head(size), []));
    }
    mustRefuse(() => verifyConsistency(head(0), { size: 0, root: roots[1]! }, []));
  });

  test('are refused for two roots of one size', () => {
    mustRefuse(() => verifyConsistency(head(7), { size: 7, root: roots[8]! }, []));
    mustRefuse(() => verifyConsistency(head(7), head(7), [roots[7]!]));
    expect(refusal(() => verifyConsistency(head(8), head(7), []))).toBe('out_of_range');
  });

  const anyPair = fc
    .integer({ min: 2, max: LARGEST })
    .chain((newer) => fc.record({ newer: fc.constant(newer), older: fc.integer({ min: 1, max: newer - 1 }) }));

  test('are refused with any flipped bit', () => {
    fc.assert(
      fc.property(anyPair, fc.nat(), fc.nat(255), ({ older, newer }, which, bit) => {
        const hashes = [roots[older]!, roots[newer]!, ...tree.proof(older, newer)].map((hash) => Buffer.from(hash));
        hashes[which % hashes.length]![bit >> 3]! ^= 1 << (bit & 7);
        const [from, to, ...proof] = hashes;
        mustRefuse(() => verifyConsistency({ size: older, root: from! }, { size: newer, root: to! }, proof));
      }),
    );
  });

  test('are refused for wrong sizes, unless the proof has the same shape', () => {
    for (let older = 1; older <= 13; older++) {
      for (let newer = older + 1; newer <= 13; newer++) {
        for (let from = 1; from <= 13; from++) {
          for (let to = from + 1; to <= 13; to++) {
            const verify = (): void =>
              verifyConsistency(
                { size: from, root: roots[older]! },
                { size: to, root: roots[newer]! },
                tree.proof(older, newer),
              );
            if (proofShape(from, to) === proofShape(older, newer)) verify();
            else mustRefuse(verify);
          }
        }
      }
    }
  });

  test('are refused if they are truncated, extended, swapped or of other sizes', () => {
    for (let newer = 2; newer <= MOST; newer++) {
      for (let older = 1; older < newer; older++) {
        const proof = tree.proof(older, newer);
        const others = [
          [],
          ...proof.map((_, at) => proof.filter((_hash, other) => other !== at)),
          ...[...proof, 0].map((_, at) => proof.toSpliced(at, 0, roots[older]!)),
          ...[...proof, 0].map((_, at) => proof.toSpliced(at, 0, roots[newer]!)),
          ...proof.slice(1).map((_, at) => proof.with(at, proof[at + 1]!).with(at + 1, proof[at]!)),
        ];
        for (const other of others) {
          mustRefuse(() => verifyConsistency(head(older), head(newer), other));
        }
        for (let size = 1; size <= MOST; size++) {
          if (size !== older && size <= newer) {
            mustRefuse(() => verifyConsistency(head(size), head(newer), proof));
          }
          if (size !== newer && size >= older) {
            mustRefuse(() => verifyConsistency(head(older), head(size), proof));
          }
        }
      }
    }
  });
});

// If all leaves of a tree are equal, all perfect subtrees of the same height have the same hash, so a tree of 2^50
// leaves needs no storage.
const levels = [createHash('sha256').update('same').digest()];
for (let level = 1; level <= 53; level++) levels.push(Buffer.from(nodeHash(levels[level - 1]!, levels[level - 1]!)));

test('appendLeaves completes perfect trees of up to 2^52 leaves', () => {
  for (let level = 1; level <= 52; level++) {
    const size = 2 ** level - 1;
    const hashes = perfectSubtrees({ from: 0, to: size }).map((node) => levels[node.level]!);
    const { edge, root, added } = appendLeaves({ size, hashes }, [levels[0]!]);
    expect(edge.hashes.map(hex)).toEqual([hex(levels[level]!)]);
    expect(hex(root)).toBe(hex(levels[level]!));
    expect(added.map((part) => hex(part.hashes))).toEqual(
      Array.from({ length: Math.floor(level / 8) + 1 }, (_, tile) => hex(levels[8 * tile]!)),
    );
  }
});

test('proofs verify for sizes up to 2^53 - 1', async () => {
  const readSame: HashReader = (nodes) => Promise.resolve(nodes.map(({ level }) => levels[level]!));
  const anySize = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  await fc.assert(
    fc.asyncProperty(anySize, anySize, fc.nat(), async (one, other, leaf) => {
      const [older, newer] = one < other ? [one, other] : [other, one];
      const to = { size: newer, root: await readRoot(newer, readSame) };
      const from = { size: older, root: await readRoot(older, readSame) };
      const index = (older + leaf) % newer;
      verifyInclusion(levels[0]!, index, to, await readInclusionProof(index, newer, readSame));
      verifyConsistency(from, to, await readConsistencyProof(older, newer, readSame));
      if (older === newer) return;
      expect(() => verifyConsistency(from, { size: newer - 1, root: to.root }, [])).toThrow(TlogError);
    }),
  );
});
