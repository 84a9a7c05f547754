import {
  appendLeaves,
  createSigner,
  EMPTY_EDGE,
  encodeBase64,
  formatCheckpoint,
  generateKeys,
  HASH_SIZE,
  leafHash,
  parseNote,
  readConsistencyProof,
  readInclusionProof,
  readRoot,
  type Signer,
  signNote,
  type Tile,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';

export const ORIGIN = 'log.example/test';

/** Makes a log of these entries, with its key. */
export async function signedLog(entries: readonly string[], origin = ORIGIN, keys = generateKeys(origin, 'ed25519')) {
  const { signingKey, verifierKey } = await keys;
  const signer = await createSigner(signingKey);
  const tiles = new Map<string, Uint8Array>();
  const { added } = appendLeaves(
    EMPTY_EDGE,
    entries.map((entry) => leafHash(entry)),
  );
  for (const { level, index, hashes } of added) tiles.set(`${level}/${index}`, hashes);
  const kept = new Map<string, TileHashes>();
  const tile = (name: string): TileHashes => {
    const hashes = kept.get(name) ?? new TileHashes(tiles.get(name) ?? new Uint8Array(0));
    kept.set(name, hashes);
    return hashes;
  };
  const read = (size: number) =>
    tileHashReader(size, async (wanted) => wanted.map(({ level, index }) => tile(`${level}/${index}`)));
  const proofs = (hashes: readonly Uint8Array[]) => hashes.map((hash) => encodeBase64(hash));
  return {
    vkey: verifierKey,
    signer,
    checkpoint: async (size = entries.length, signers: readonly Signer[] = [signer]) => {
      const root = await readRoot(size, read(size));
      const text = formatCheckpoint({ origin, size, root, extensionLines: [] });
      return signNote({ text }, signers, Math.floor(Date.now() / 1000));
    },
    /** The hashes of a tile; empty if the log has none. */
    tile: ({ level, index, width }: Tile) =>
      (tiles.get(`${level}/${index}`) ?? new Uint8Array(0)).slice(0, HASH_SIZE * width),
    inclusion: async (index: number, size = entries.length) =>
      proofs(await readInclusionProof(index, size, read(size))),
    consistency: async (from: number, to = entries.length) => ({
      from,
      to,
      proof: proofs(await readConsistencyProof(from, to, read(to))),
    }),
  };
}

export type SignedLog = Awaited<ReturnType<typeof signedLog>>;

/** Makes a witness that cosigns any checkpoint, at any time. */
export async function witness(name: string) {
  const { signingKey, verifierKey } = await generateKeys(name, 'ed25519-cosignature');
  const signer = await createSigner(signingKey);
  return {
    line: `witness ${name} ${verifierKey}`,
    cosign: (note: string, atMs = Date.now()) => signNote(parseNote(note), [signer], Math.floor(atMs / 1000)),
  };
}
