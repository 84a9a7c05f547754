import type { LogCheckpointStore, LogIntegrationStore, LogTree, LogTileStore } from '@iss/persistence';
import {
  type Checkpoint,
  createVerifier,
  equalBytes,
  formatCheckpoint,
  formatNote,
  formatPolicy,
  formatSignatureLines,
  isQuorum,
  openNote,
  parseCheckpoint,
  parseNote,
  readConsistencyProof,
  readRoot,
  signNote,
  tileHashReader,
  type TileReader,
  TileHashes,
  type Verifier,
  verifyCheckpoint,
} from '@iss/tlog';
import type { LogSettings, Warn } from '@iss/platform';
import { CheckpointFile } from './checkpoint-file';
import type { LogIdentity } from './log-identity';
import { type Cosignatures, type Judge, type WitnessOutcome, Witnesses } from './witnesses';

/** Nothing is signed because the database contradicts what was signed before. */
export class LogRolledBack extends Error {
  override readonly name = 'LogRolledBack';
}

/** Nothing is signed because the log continues under another origin, and the tree of this one is final. */
export class LogOriginEnded extends Error {
  override readonly name = 'LogOriginEnded';
}

/** Nothing is signed because keys of this worker are not announced. */
export class LogKeyUnknown extends Error {
  override readonly name = 'LogKeyUnknown';

  constructor(readonly vkeys: readonly string[]) {
    super(`These keys must not sign the log because they are not announced: ${vkeys.join(', ')}`);
  }
}

/** The stores that hold the log. */
export interface LogStores {
  readonly integration: Pick<LogIntegrationStore, 'tree'>;
  readonly checkpoints: Omit<LogCheckpointStore, 'ofSize' | 'thin' | 'lagMs'>;
  readonly tiles: Pick<LogTileStore, 'read'>;
}

/** The last checkpoint that this process signed. */
interface Signed {
  readonly checkpoint: Checkpoint;
  readonly note: string;
  readonly signedAtMs: number;
  /** The tree contains everything that was committed before this time. */
  readonly completeAt: Date;
  readonly cosignatures: Cosignatures;
  /** The number of cosignatures with which it is published; null: not published. */
  publishedWith: number | null;
}

/**
 * Signs checkpoints of the tree, collects cosignatures, and publishes checkpoints that satisfy the policy. Never
 * contradicts an earlier signature: every newest checkpoint that is known outside the database must belong to this very
 * tree.
 */
export class CheckpointPublisher {
  /** Checkpoints that the next one must continue. */
  private known: Checkpoint[] = [];
  private signed: Signed | null = null;

  private constructor(
    private readonly identity: LogIdentity,
    private readonly settings: LogSettings,
    private readonly stores: LogStores,
    private readonly file: CheckpointFile | null,
    private readonly witnesses: Witnesses | null,
    /** The policy that this worker's policy replaced; null if there was none, or the same. */
    readonly replacedPolicy: string | null,
  ) {}

  /**
   * Throws {@link LogKeyUnknown} if a key is not announced. Throws if no key of the log signed the checkpoint in
   * `LOG_CHECKPOINT_FILE`.
   */
  static async open(
    identity: LogIdentity,
    settings: LogSettings,
    stores: LogStores,
    count: (witness: string, answer: WitnessOutcome) => void,
    warn: Warn,
  ): Promise<CheckpointPublisher> {
    const { origin, policy } = identity;
    const { checkpoints } = stores;
    const vkeys = identity.signers.map(({ verifierKey }) => verifierKey);
    await requireAnnounced(checkpoints, vkeys);
    const former = (await checkpoints.keys()).map(({ vkey }) => createVerifier(vkey));
    const verifiers = [...identity.verifiers, ...former];
    const file = settings.checkpointFile === undefined ? null : new CheckpointFile(settings.checkpointFile);
    const witnesses = policy === null ? null : new Witnesses(policy, origin, verifiers, count, warn);
    const text = policy === null ? null : formatPolicy(policy);
    const published = await checkpoints.policy();
    const replaced = published === text ? null : published;
    const publisher = new CheckpointPublisher(identity, settings, stores, file, witnesses, replaced);
    await publisher.recall(verifiers, await publisher.requireOrigin());
    await checkpoints.useKeys(vkeys);
    await checkpoints.usePolicy(text);
    return publisher;
  }

  /**
   * Returns the former origins of the log. Throws {@link LogOriginEnded} if the log was restarted under another origin.
   */
  private async requireOrigin(): Promise<string[]> {
    const restarts = await this.stores.checkpoints.restarts();
    const last = restarts.at(-1);
    if (last !== undefined && last.origin !== this.identity.origin)
      throw new LogOriginEnded(
        `The log was restarted as ${last.origin}. The origin ${this.identity.origin} has ended.`,
      );
    return restarts.map(({ previousOrigin }) => previousOrigin);
  }

  /**
   * Reads the last signed checkpoints, by these keys or earlier ones, from the file, the database and the witnesses.
   * Ignores checkpoints of former origins, because they belong to another tree.
   */
  private async recall(verifiers: readonly Verifier[], former: readonly string[]): Promise<void> {
    const notes = [await this.file?.read(), (await this.stores.checkpoints.newest())?.note];
    for (const note of notes) {
      if (note === null || note === undefined) continue;
      const { origin, size } = parseCheckpoint(parseNote(note).text);
      if (former.includes(origin) || (await this.isMarked(note, size))) continue;
      this.known.push(parseCheckpoint((await openNote(note, verifiers)).text));
    }
    this.known.push(...((await this.witnesses?.newest()) ?? []));
  }

  /**
   * Returns whether an operator marked the note as signed by mistake. Either copy of the note may have additional
   * cosignatures.
   */
  private async isMarked(note: string, size: number): Promise<boolean> {
    const marked = (await this.stores.checkpoints.marked(size)).map(parseNote);
    const { text, signatures } = parseNote(note);
    const lines = signatures.map((signature) => formatSignatureLines([signature]));
    return marked.some(
      (one) =>
        one.text === text && one.signatures.some((signature) => lines.includes(formatSignatureLines([signature]))),
    );
  }

  /**
   * Signs the tree if it has grown or the last checkpoint is too old, asks witnesses for missing cosignatures, and
   * publishes if the policy is satisfied. The tree contains everything that was committed before `completeAt`. Returns
   * whether the newest checkpoint is published. Throws {@link LogRolledBack} if the tree contradicts earlier
   * checkpoints, {@link LogOriginEnded} and {@link LogKeyUnknown}.
   */
  async publish(tree: LogTree, completeAt: Date): Promise<boolean> {
    await this.requireKeys(tree);
    if (this.isDue(tree)) await this.sign(tree, completeAt);
    else if (this.known.length > 1) await this.requireSameTree(tree);
    const { signed } = this;
    if (signed === null) return true;
    if (this.witnesses !== null) {
      await this.witnesses.collect(this.submissionOf(signed), signed.cosignatures, this.judge);
      if (this.witnesses.refuse)
        throw new LogRolledBack('The witnesses that the quorum needs say that they saw another log.');
    }
    return (await this.publishSigned(signed)) || this.isSuperseded(signed);
  }

  /** Throws {@link LogKeyUnknown} unless the tree announces every key that signs it. */
  private async requireKeys({ size }: LogTree): Promise<void> {
    const vkeys = this.identity.signers.map(({ verifierKey }) => verifierKey);
    const unknown = await this.stores.checkpoints.unannounced(vkeys, size);
    if (unknown.length > 0) throw new LogKeyUnknown(unknown);
  }

  /** Aborts requests to witnesses. */
  close(): void {
    this.witnesses?.close();
  }

  private isDue(tree: LogTree): boolean {
    if (this.signed === null) return true;
    // While these witnesses refuse, the worker signs nothing more, and sends them the last signed checkpoint again.
    if (this.witnesses?.refuse === true) return false;
    const isOld = performance.now() - this.signed.signedAtMs > this.settings.checkpointMaxAgeMs;
    return this.signed.checkpoint.size !== tree.size || isOld;
  }

  private async sign(tree: LogTree, completeAt: Date): Promise<void> {
    const { origin, signers } = this.identity;
    await this.requireOrigin();
    await this.requireSameTree(tree);
    const before = [...this.known];
    if (before.some(({ size }) => size > tree.size)) return;
    const checkpoint = { origin, size: tree.size, root: new Uint8Array(tree.root), extensionLines: [] };
    const note = await signNote({ text: formatCheckpoint(checkpoint) }, signers, Math.floor(Date.now() / 1000));
    await this.file?.write(note);
    // Checkpoints that witnesses have shown meanwhile stay, to be compared with the tree.
    this.known = [...this.known.filter((one) => !before.includes(one)), checkpoint];
    const signedAtMs = performance.now();
    this.signed = { checkpoint, note, signedAtMs, completeAt, cosignatures: new Map(), publishedWith: null };
  }

  private async publishSigned(signed: Signed): Promise<boolean> {
    const { policy } = this.identity;
    const { checkpoint, completeAt, cosignatures } = signed;
    const count = cosignatures.size;
    if (policy !== null && !isQuorum(policy, new Set(cosignatures.keys()))) return false;
    if (signed.publishedWith !== null && count <= signed.publishedWith) return true;
    const { text, signatures } = parseNote(signed.note);
    const note = formatNote({ text, signatures: [...signatures, ...cosignatures.values()] });
    if (policy !== null) await verifyCheckpoint(note, policy);
    const { origin, size } = checkpoint;
    await this.stores.checkpoints.publish({ origin, size, note, completeAt });
    signed.publishedWith = count;
    return true;
  }

  /** Returns whether another worker has published a larger checkpoint. */
  private async isSuperseded({ checkpoint }: Signed): Promise<boolean> {
    return ((await this.stores.checkpoints.newest())?.size ?? -1) > checkpoint.size;
  }

  private submissionOf({ checkpoint, note }: Signed) {
    const { size } = checkpoint;
    const proofFrom = (from: number) => readConsistencyProof(from, size, tileHashReader(size, this.readTiles));
    return { checkpoint, note, proofFrom };
  }

  /**
   * Judges the claim of a witness that it saw a larger or a different log. If it shows a checkpoint that the log
   * signed, the tree is compared with that. A claim without proof may be a lie: it counts only if there is no quorum
   * without that witness.
   */
  private readonly judge: Judge = async (claim, shown) => {
    const tree = await this.stores.integration.tree();
    if (shown !== null) {
      this.known.push(shown);
      await this.requireSameTree(tree);
      return false;
    }
    return claim.kind === 'contradicted' || claim.size > tree.size;
  };

  /**
   * Throws {@link LogRolledBack} unless the tree continues all known checkpoints. A contradicting checkpoint stays
   * known, so that each later call throws too.
   */
  private async requireSameTree(given: LogTree): Promise<void> {
    const checked = [...this.known].sort((one, other) => one.size - other.size);
    for (const known of checked) {
      // Another process may have signed a newer tree than the given one.
      const { size } = known.size > given.size ? await this.stores.integration.tree() : given;
      if (known.size > size)
        throw new LogRolledBack(`A checkpoint of ${known.size} entries was signed, but the database has only ${size}.`);
      const root = await readRoot(known.size, tileHashReader(known.size, this.readTiles));
      if (!equalBytes(root, known.root))
        throw new LogRolledBack(`The database's first ${known.size} entries differ from those that were signed.`);
    }
    const older = checked.slice(0, -1);
    this.known = this.known.filter((one) => !older.includes(one));
  }

  private readonly readTiles: TileReader = async (tiles) =>
    (await this.stores.tiles.read(tiles)).map((hashes) => new TileHashes(hashes));
}

/** Throws {@link LogKeyUnknown} unless all keys are announced. The first worker of a new log announces its own keys. */
async function requireAnnounced(checkpoints: LogStores['checkpoints'], vkeys: readonly string[]): Promise<void> {
  const unknown = await checkpoints.unannounced(vkeys, Number.MAX_SAFE_INTEGER);
  if (unknown.length > 0 && !(await checkpoints.announceFirst(vkeys))) throw new LogKeyUnknown(unknown);
}
