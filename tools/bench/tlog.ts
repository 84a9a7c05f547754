// `node tools/run.mjs bench/tlog`: measures the speed of the log's library on this processor.
import type { RightEdge, TileHashesAdded } from '@iss/tlog';

const {
  appendLeaves,
  EMPTY_EDGE,
  leafHash,
  readInclusionProof,
  rootOfLeaves,
  TileHashes,
  tileHashReader,
  verifyInclusion,
} = await import('@iss/tlog');

const LEAVES = 1_000_000;
const PROOFS = 10_000;

/** Prints the processor time of the work, in total and per item. */
async function measure<T>(what: string, items: number, work: () => T | Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  const microseconds = user + system;
  console.log(`${what}: ${(microseconds / 1000).toFixed(0)} ms, ${(microseconds / items).toFixed(2)} µs each`);
  return result;
}

const tiles = new Map<string, Buffer>();
function store(added: readonly TileHashesAdded[]): void {
  for (const { level, index, hashes } of added) {
    const name = `${level}/${index}`;
    tiles.set(name, Buffer.concat([tiles.get(name) ?? Buffer.alloc(0), hashes]));
  }
}

const leaves = await measure(`${LEAVES} leaf hashes of texts of 300 characters`, LEAVES, () =>
  Array.from({ length: LEAVES }, (_, index) => leafHash(String(index).padEnd(300, 'x'))),
);
await measure(`root over ${LEAVES} leaf hashes`, LEAVES, () => rootOfLeaves(leaves));

let edge: RightEdge = EMPTY_EDGE;
let root = new Uint8Array(32);
for (const batch of [1000, 1]) {
  const count = batch === 1 ? 10_000 : LEAVES;
  edge = EMPTY_EDGE;
  if (batch === 1) edge = appendLeaves(EMPTY_EDGE, leaves.slice(0, LEAVES - count)).edge;
  await measure(`${count} leaves appended in batches of ${batch}, with their tiles`, count, () => {
    while (edge.size < LEAVES) {
      const grown = appendLeaves(edge, leaves.slice(edge.size, edge.size + batch));
      edge = grown.edge;
      root = new Uint8Array(grown.root);
      if (batch > 1) store(grown.added);
    }
  });
}

const indexes = Array.from({ length: PROOFS }, (_, at) => (at * 7919) % LEAVES);
const fresh = tileHashReader(LEAVES, (asked) =>
  Promise.resolve(asked.map(({ level, index }) => new TileHashes(tiles.get(`${level}/${index}`)!))),
);
const kept = new Map<string, InstanceType<typeof TileHashes>>();
const keeping = tileHashReader(LEAVES, (asked) =>
  Promise.resolve(
    asked.map(({ level, index }) => {
      const name = `${level}/${index}`;
      const known = kept.get(name) ?? new TileHashes(tiles.get(name)!);
      kept.set(name, known);
      return known;
    }),
  ),
);
const proofs = await measure(`${PROOFS} inclusion proofs from tiles, none of them kept`, PROOFS, async () => {
  const made: Uint8Array[][] = [];
  for (const index of indexes) made.push(await readInclusionProof(index, LEAVES, fresh));
  return made;
});
for (const time of ['first', 'second']) {
  await measure(`${PROOFS} inclusion proofs from tiles that are kept, the ${time} time`, PROOFS, async () => {
    for (const index of indexes) await readInclusionProof(index, LEAVES, keeping);
  });
}
await measure(`${PROOFS} inclusion proofs verified`, PROOFS, () =>
  proofs.forEach((proof, at) => verifyInclusion(leaves[indexes[at]!]!, indexes[at]!, { size: LEAVES, root }, proof)),
);
