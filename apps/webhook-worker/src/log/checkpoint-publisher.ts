import { LogCheckpointStore, type LogTree, LogTileStore } from '@iss/persistence';
import {
  type Checkpoint,
  createSigner,
  createVerifier,
  equalBytes,
  formatCheckpoint,
  openNote,
  parseCheckpoint,
  readRoot,
  type Signer,
  signNote,
  tileHashReader,
  type TileReader,
  TileHashes,
} from '@iss/tlog';
import type { LogSettings } from '@iss/platform';
import { CheckpointFile } from './checkpoint-file';

/** Why nothing is signed: what was signed before is not what the database has. */
export class LogRolledBack extends Error {
  override readonly name = 'LogRolledBack';
}

/**
 * Signs and publishes checkpoints of the tree. Never signs what contradicts what was signed before: the newest checkpoint
 * that is known outside of the database must be one of this very tree.
 */
export class CheckpointPublisher {
  private known: Checkpoint | null = null;
  private publishedAtMs = 0;

  private constructor(
    private readonly settings: LogSettings,
    private readonly signers: readonly Signer[],
    private readonly file: CheckpointFile | null,
    private readonly checkpoints: LogCheckpointStore,
    private readonly tiles: LogTileStore,
  ) {}

  /** Throws when the checkpoint in `LOG_CHECKPOINT_FILE` is none that these keys signed. */
  static async open(
    settings: LogSettings,
    checkpoints: LogCheckpointStore,
    tiles: LogTileStore,
  ): Promise<CheckpointPublisher> {
    const signers = await Promise.all(settings.signingKeys.map((key) => createSigner(key)));
    const file = settings.checkpointFile === undefined ? null : new CheckpointFile(settings.checkpointFile);
    const publisher = new CheckpointPublisher(settings, signers, file, checkpoints, tiles);
    await publisher.recall();
    await checkpoints.useKeys(signers.map(({ verifierKey }) => verifierKey));
    return publisher;
  }

  /** What was signed last, by these keys or those before them: from the file, and from the database where that is newer. */
  private async recall(): Promise<void> {
    const keys = [
      ...this.signers.map(({ key }) => key),
      ...(await this.checkpoints.keys()).map(({ vkey }) => vkey),
    ].map((key) => createVerifier(key));
    const notes = [await this.file?.read(), (await this.checkpoints.newest())?.note];
    for (const note of notes) {
      if (note === null || note === undefined) continue;
      const checkpoint = parseCheckpoint((await openNote(note, keys)).text);
      if (this.known === null || checkpoint.size > this.known.size) this.known = checkpoint;
    }
  }

  /**
   * Publishes a checkpoint of the tree if it has grown, or if the last one is too old. Throws {@link LogRolledBack} when
   * the tree is none that the last checkpoint was of.
   */
  async publish(tree: LogTree): Promise<boolean> {
    const { origin, checkpointMaxAgeMs } = this.settings;
    const isOld = performance.now() - this.publishedAtMs > checkpointMaxAgeMs || this.publishedAtMs === 0;
    if (this.known !== null && this.known.size === tree.size && !isOld) return false;
    await this.requireSameTree(tree);
    const checkpoint = { origin, size: tree.size, root: new Uint8Array(tree.root), extensionLines: [] };
    const note = await signNote({ text: formatCheckpoint(checkpoint) }, this.signers, Math.floor(Date.now() / 1000));
    await this.file?.write(note);
    this.known = checkpoint;
    await this.checkpoints.publish({ origin, size: tree.size, note });
    this.publishedAtMs = performance.now();
    return true;
  }

  private async requireSameTree(tree: LogTree): Promise<void> {
    const { known } = this;
    if (known === null) return;
    if (known.size > tree.size)
      throw new LogRolledBack(`A checkpoint of ${known.size} entries was signed, and the database has ${tree.size}.`);
    const root = await readRoot(known.size, tileHashReader(known.size, this.readTiles));
    if (!equalBytes(root, known.root))
      throw new LogRolledBack(`The database's first ${known.size} entries are not those that were signed.`);
  }

  private readonly readTiles: TileReader = async (tiles) =>
    (await this.tiles.read(tiles)).map((hashes) => new TileHashes(hashes));
}
