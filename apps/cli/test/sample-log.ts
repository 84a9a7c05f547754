import {
  appendLeaves,
  createSigner,
  EMPTY_EDGE,
  formatAddCheckpoint,
  formatCheckpoint,
  generateKeys,
  leafHash,
  readConsistencyProof,
  type RightEdge,
  rootOfEdge,
  type Signer,
  signNote,
  type TileReader,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';

/**
 * A separate log in memory, with all sizes that it ever had. Logs with the same name and different entries are forks of
 * each other.
 */
export class SampleLog {
  private readonly tiles = new Map<string, Buffer>();
  private readonly roots: Uint8Array[] = [rootOfEdge(EMPTY_EDGE)];
  private edge: RightEdge = EMPTY_EDGE;

  private constructor(readonly signer: Signer) {}

  static async open(origin: string): Promise<SampleLog> {
    return new SampleLog(await createSigner((await generateKeys(origin, 'ed25519')).signingKey));
  }

  get origin(): string {
    return this.signer.key.name;
  }

  get size(): number {
    return this.edge.size;
  }

  /** Another history with the same name and key. */
  fork(): SampleLog {
    return new SampleLog(this.signer);
  }

  grow(size: number, word = 'entry'): this {
    while (this.size < size) {
      const { edge, added } = appendLeaves(this.edge, [leafHash(`${word} ${this.size}`)]);
      for (const { level, index, hashes } of added) {
        const name = `${level}/${index}`;
        this.tiles.set(name, Buffer.concat([this.tiles.get(name) ?? Buffer.alloc(0), hashes]));
      }
      this.edge = edge;
      this.roots.push(rootOfEdge(edge));
    }
    return this;
  }

  head(size = this.size) {
    return { size, root: this.roots[size] ?? new Uint8Array(32) };
  }

  note(size = this.size, extensionLines: string[] = []): Promise<string> {
    const text = formatCheckpoint({ origin: this.origin, ...this.head(size), extensionLines });
    return signNote({ text }, [this.signer], 0);
  }

  proof(from: number, to: number): Promise<Uint8Array[]> {
    return from === 0 ? Promise.resolve([]) : readConsistencyProof(from, to, tileHashReader(to, this.read));
  }

  /** Returns the body of a request for a cosignature, with an honest proof. */
  async request(oldSize: number, size = this.size): Promise<string> {
    const consistency = oldSize > size ? [] : await this.proof(oldSize, size);
    return formatAddCheckpoint({ oldSize, consistency, note: await this.note(size) });
  }

  private readonly read: TileReader = async (tiles) =>
    tiles.map(
      ({ level, index, width }) =>
        new TileHashes((this.tiles.get(`${level}/${index}`) ?? Buffer.alloc(0)).subarray(0, 32 * width)),
    );
}
