import { insertKeys, MapError, type NewKey, readPaths } from '@iss/map';
import { appendLeaves, equalBytes, leafHash, rootOfEdge, toHex, type TreeHead } from '@iss/tlog';
import { Failure } from '../command';
import type { Audited, MapFile } from './map-file';
import { parsePublicEntry } from './public-entry';
import type { Entries, PublicLog } from './public-log';
import { AuditRefusal } from './refusal';

/** Keys that are inserted together. */
const BATCH = 16_384;

/** A key that two entries carry: the operator logged one number of a stream twice. */
export interface DoubledKey {
  /** Hexadecimal. */
  readonly key: string;
  readonly logIndexes: readonly number[];
}

/** Rebuilds the map of one log from its public entries, and compares each root that the log contains with its own. */
export class MapAudit {
  constructor(
    private readonly origin: string,
    private readonly log: Pick<PublicLog, 'mapStartsAt' | 'rightEdge' | 'entries'>,
    private readonly file: MapFile,
    private readonly onDoubled: (doubled: DoubledKey) => void,
  ) {}

  /**
   * Audits all entries of a signed checkpoint. Reads only those that are new since the last audit. Not concurrently.
   *
   * @throws AuditRefusal if the map is wrong or incomplete; Failure if the entries cannot be read, or the checkpoint is older than the last audit
   */
  async audit(head: TreeHead): Promise<void> {
    if (head.size === 0) return;
    const known = this.file.audited() ?? (await this.begin(head.size));
    if (head.size < known.edge.size) {
      throw new Failure(`The audit is at ${known.edge.size} entries. Send a checkpoint of at least this size.`);
    }
    const audited = await this.file.atomically(() => this.continue(known, head));
    if (!audited.endsWithRoot) {
      throw new AuditRefusal(`The last of ${head.size} entries is not the root of the map.`);
    }
    if (audited.backfilledTo !== audited.startsAt) {
      throw new AuditRefusal(
        `The entries ${audited.backfilledTo} to ${audited.startsAt - 1} have no keys. Log their map.backfill entries first.`,
      );
    }
  }

  private async begin(size: number): Promise<Audited> {
    const startsAt = await this.log.mapStartsAt();
    if (startsAt === null) {
      throw new AuditRefusal('The log has no map. Switch it on, or remove this witness from the quorum.');
    }
    if (startsAt >= size) throw new AuditRefusal(`The map begins at entry ${startsAt}, after the end of the log.`);
    const edge = await this.log.rightEdge(startsAt);
    return { startsAt, edge, backfilledTo: 0, endsWithRoot: false };
  }

  private async continue(known: Audited, head: TreeHead): Promise<Audited> {
    const rebuilding = new Rebuilding(known, this.file, this.onDoubled);
    for await (const entries of this.log.entries(known.edge.size, head.size)) await rebuilding.add(entries);
    const { audited, refusal } = await rebuilding.finish();
    if (!equalBytes(rootOfEdge(audited.edge), head.root)) {
      throw new AuditRefusal(`The public entries do not lead to the root of the checkpoint of ${head.size} entries.`);
    }
    if (refusal !== null) throw refusal;
    this.file.keep(this.origin, audited);
    return audited;
  }
}

/** The map while entries are added. */
class Rebuilding {
  private added: NewKey[] = [];
  private root: Uint8Array | undefined;
  private refusal: AuditRefusal | null = null;

  constructor(
    private state: Audited,
    private readonly file: MapFile,
    private readonly onDoubled: (doubled: DoubledKey) => void,
  ) {}

  async add({ from, entries }: Entries): Promise<void> {
    const { edge } = appendLeaves(
      this.state.edge,
      entries.map((entry) => leafHash(entry)),
    );
    await this.unlessRefused(async () => {
      for (const [place, entry] of entries.entries()) await this.addEntry(entry, from + place);
    });
    this.state = { ...this.state, edge };
  }

  /** Inserts the remaining keys. The refusal counts only if the entries are those that the log signed. */
  async finish(): Promise<{ audited: Audited; refusal: AuditRefusal | null }> {
    await this.unlessRefused(() => this.insert());
    return { audited: this.state, refusal: this.refusal };
  }

  private async unlessRefused(work: () => Promise<unknown>): Promise<void> {
    if (this.refusal !== null) return;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AuditRefusal)) throw error;
      this.refusal = error;
    }
  }

  private async addEntry(bytes: Uint8Array, logIndex: number): Promise<void> {
    const entry = parsePublicEntry(bytes, logIndex);
    if (entry.kind === 'fact') this.addKeys(entry.keys, logIndex, logIndex);
    else if (entry.kind === 'backfill') this.backfill(entry.from, entry.entries, logIndex);
    else await this.compare(entry.covers, entry.root, logIndex);
    this.state = { ...this.state, endsWithRoot: entry.kind === 'root' };
    if (this.added.length >= BATCH) await this.insert();
  }

  private addKeys(keys: readonly Uint8Array[], logIndex: number, statedAt: number): void {
    if (new Set(keys.map(toHex)).size < keys.length) throw new AuditRefusal(`Entry ${statedAt} names a key twice.`);
    for (const key of keys) this.added.push({ key, logIndex });
  }

  private backfill(from: number, entries: readonly (readonly Uint8Array[])[], logIndex: number): void {
    const { startsAt, backfilledTo } = this.state;
    const to = from + entries.length;
    const which = `Entry ${logIndex} gives keys to the entries ${from} to ${to - 1}`;
    if (from < backfilledTo) throw new AuditRefusal(`${which}, but those before ${backfilledTo} have keys already.`);
    if (from > backfilledTo) throw new AuditRefusal(`${which} and leaves out those from ${backfilledTo} on.`);
    if (to > startsAt) throw new AuditRefusal(`${which}, but those from ${startsAt} on carry their own keys.`);
    entries.forEach((keys, place) => this.addKeys(keys, from + place, logIndex));
    this.state = { ...this.state, backfilledTo: to };
  }

  private async compare(covers: number, root: Uint8Array, logIndex: number): Promise<void> {
    if (covers !== logIndex) {
      throw new AuditRefusal(
        `The root of the map in entry ${logIndex} covers ${covers} entries instead of ${logIndex}.`,
      );
    }
    const own = await this.insert();
    if (equalBytes(own, root)) return;
    throw new AuditRefusal(
      `The root of the map in entry ${logIndex} is ${toHex(root)}, but the keys of the public entries lead to ${toHex(own)}.`,
    );
  }

  /** Inserts the waiting keys and returns the root. */
  private async insert(): Promise<Uint8Array> {
    const { added } = this;
    if (this.root !== undefined && added.length === 0) return this.root;
    this.added = [];
    try {
      const change = await insertKeys(added, this.file);
      this.file.apply(change);
      this.root = change.root;
      if (change.added < added.length) await this.tellDoubled(added);
      return change.root;
    } catch (error) {
      throw error instanceof MapError ? new AuditRefusal(`The keys cannot be in one map: ${error.message}`) : error;
    }
  }

  private async tellDoubled(added: readonly NewKey[]): Promise<void> {
    const keys = [...new Map(added.map(({ key }) => [toHex(key), key]))];
    const paths = await readPaths(
      keys.map(([, key]) => key),
      this.file,
    );
    paths.forEach(({ logIndexes }, at) => {
      const [key = ''] = keys[at] ?? [];
      if (logIndexes.length > 1) this.onDoubled({ key, logIndexes });
    });
  }
}
