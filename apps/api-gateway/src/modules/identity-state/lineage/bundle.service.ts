import {
  type DomainError,
  KEYED_ENTRY_VERSION,
  LOG_ENTRY_VERSION,
  logEntryText,
  type Reader,
  type SubjectRef,
} from '@iss/domain';
import { versionStream } from '@iss/map';
import {
  EntryKeys,
  type LogCheckpoint,
  type LogEntry,
  LogEntryStore,
  type LogKey,
  MapReadStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Asker } from '../../../runtime/asker';
import { LogTreeService, notLoggedYet } from '../../../log/log-tree.service';
import { LogWaiting } from '../../../log/log-waiting';
import { PublishedMap } from '../../../log/map/published-map';
import type { ShownSnapshot } from '../snapshot/shown-snapshots';
import { type SnapshotBatches, SnapshotListService } from './snapshot-list.service';

/** The index of an entry in the log, and its inclusion proof. */
export interface LoggedPlace {
  logIndex: number;
  /** JSON text: an array of hashes in base64. */
  inclusion: string;
}

/** An entry, and its keys in the map if its leaf contains them. In a log without a map, `keys` is undefined. */
export interface KeyedEntry {
  entry: LogEntry;
  keys: readonly Uint8Array[] | null | undefined;
}

/** An entry with the proof that it is in the log. */
export interface ProvedEntry extends LoggedPlace, KeyedEntry {}

/**
 * A snapshot with the proof that it is in the log. For an erased one: its leaf hash, and the proof of the erasure, or
 * only the erasure's log index if an earlier snapshot has that proof.
 */
export interface ProvedSnapshot extends LoggedPlace {
  snapshot: ShownSnapshot;
  logged: KeyedEntry | { leaf: Uint8Array; erased: ProvedEntry | { logIndex: number } };
  /** The entry of the view of a partial snapshot; null if `logged` names the view. */
  view: ProvedEntry | null;
}

/** A subject's whole lineage. Each version is proved against one checkpoint. */
export interface Bundle {
  origin: string;
  keys: readonly LogKey[];
  /** The signed note. */
  checkpoint: string;
  headVersion: number;
  /** The proof by the map that the last version is the newest, as JSON. Null if the checkpoint has no map. */
  complete: string | null;
  /** Ascending. Batches are read when they are taken. */
  batches: AsyncIterable<readonly ProvedSnapshot[]>;
}

/** How long to wait for the newest version to be logged, because a bundle always contains it. */
const WAIT_SECONDS = 10;
/** A subject may get another version during that wait. */
const MAX_TRIES = 3;
/** Entries per read. */
const BATCH = 256;

/** Exports lineages that contain their own proofs. */
@Injectable()
export class BundleService {
  constructor(
    private readonly lists: SnapshotListService,
    private readonly waiting: LogWaiting,
    private readonly tree: LogTreeService,
    private readonly entries: LogEntryStore,
    private readonly keys: EntryKeys,
    private readonly mapRows: MapReadStore,
    private readonly map: PublishedMap,
  ) {}

  /** Throws like reading the lineage does, and `not_logged_yet` if the newest version is not published in time. */
  async bundle(reader: Reader & Asker, subject: SubjectRef): Promise<Bundle> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      // Snapshots are read only after the wait, so that a waiting request holds none in memory.
      const head = await this.lists.headVersion(reader, subject);
      const { checkpoint } = await this.waiting.published(reader, () => this.newest(subject, head), WAIT_SECONDS);
      const { headVersion, batches } = await this.lists.export(reader, subject, null, 'bundle');
      if (headVersion !== head) continue;
      const hasMap = (await this.mapRows.state()) !== null;
      const complete = hasMap ? await this.complete(reader, subject, headVersion, checkpoint) : null;
      if (complete === undefined) continue;
      const { origin, note, size } = checkpoint;
      const proved = this.prove(reader, subject, batches, { headVersion, size, hasMap });
      return { origin, keys: await this.tree.keys(), checkpoint: note, headVersion, complete, batches: proved };
    }
    throw notLoggedYet('The subject kept changing while its newest version was being published. Try again.');
  }

  /**
   * Proves that this version is the newest one. Returns null while old entries have no keys, so that the checkpoint has no
   * map. Returns undefined if the map says otherwise.
   */
  private async complete(
    reader: Asker,
    { subjectType, subjectId }: SubjectRef,
    headVersion: number,
    checkpoint: LogCheckpoint,
  ): Promise<string | null | undefined> {
    if ((await this.mapRows.rootAt(checkpoint.size - 1)) === null) return null;
    await this.map.require();
    const stream = versionStream(subjectType, subjectId);
    const { number, text } = await this.map.newest(reader, checkpoint, { stream, guess: headVersion });
    return number === headVersion ? text : undefined;
  }

  /**
   * Returns the later of the two entries that the bundle needs: that of the newest version and that of the last
   * erasure. Returns null until both are logged.
   */
  private async newest(subject: SubjectRef, head: number): Promise<LogEntry | null> {
    const [last = null] = await this.entries.ofVersions(subject, head, head);
    const erasure = await this.entries.ofNewestErasure(subject);
    if (last === null || erasure === null) return null;
    return erasure !== undefined && erasure.logIndex > last.logIndex ? erasure : last;
  }

  private async *prove(
    asker: Asker,
    subject: SubjectRef,
    batches: SnapshotBatches,
    { headVersion, size, hasMap }: { headVersion: number; size: number; hasMap: boolean },
  ): AsyncGenerator<readonly ProvedSnapshot[], void> {
    let entries: KeyedEntry[] = [];
    let inclusions: string[] = [];
    const erasures = new Map<string, { logIndex: number }>();
    for await (const batch of batches) {
      const proved: ProvedSnapshot[] = [];
      for (const snapshot of batch) {
        const version = snapshot.snapshotVersion;
        if (entries.length === 0) {
          const read = await this.entries.ofVersions(subject, version, Math.min(version + BATCH - 1, headVersion));
          entries = await this.withKeys(read, hasMap);
          const indexes = read.map(({ logIndex }) => logIndex);
          inclusions = await this.tree.inclusions(asker, indexes, size);
        }
        const keyed = entries.shift();
        const inclusion = inclusions.shift();
        const entry = keyed?.entry;
        if (
          keyed === undefined ||
          entry?.fact.type !== 'snapshot.created' ||
          entry.fact.snapshotVersion !== version ||
          inclusion === undefined
        ) {
          throw new Error(`version ${version} has no entry in the log`);
        }
        const { logIndex } = entry;
        const { erasure } = snapshot;
        if (erasure === null) {
          const view = snapshot.partial !== null && entry.fact.viewHash === null;
          const ofView = view ? await this.ofView(asker, subject, version, { size, hasMap }) : null;
          proved.push({ snapshot, logIndex, inclusion, logged: keyed, view: ofView });
          continue;
        }
        const { erasureId } = erasure;
        const erased = erasures.get(erasureId) ?? (await this.erasure(asker, erasureId, size, hasMap));
        erasures.set(erasureId, { logIndex: erased.logIndex });
        const leaf = await this.tree.leaf(logIndex, size);
        proved.push({ snapshot, logIndex, inclusion, logged: { leaf, erased }, view: null });
      }
      yield proved;
    }
  }

  /** Proves the view of a version that an earlier release logged. The first partial read of the version logs its view. */
  private async ofView(
    asker: Asker,
    subject: SubjectRef,
    version: number,
    tree: { size: number; hasMap: boolean },
  ): Promise<ProvedEntry> {
    const entry = (await this.entries.ofViews(subject, version, version)).get(version);
    if (entry === undefined || entry.logIndex >= tree.size)
      throw notLoggedYet(`The view of version ${version} is not in the published log yet. Try again.`);
    return this.proveEntry(asker, entry, tree.size, tree.hasMap);
  }

  private async erasure(asker: Asker, erasureId: string, size: number, hasMap: boolean): Promise<ProvedEntry> {
    const entry = await this.entries.ofErasure(erasureId);
    if (entry === null || entry.logIndex >= size) throw erasedMeanwhile();
    return this.proveEntry(asker, entry, size, hasMap);
  }

  private async proveEntry(asker: Asker, entry: LogEntry, size: number, hasMap: boolean): Promise<ProvedEntry> {
    const { logIndex } = entry;
    const [inclusion = ''] = await this.tree.inclusions(asker, [logIndex], size);
    const [keyed = { entry, keys: undefined }] = await this.withKeys([entry], hasMap);
    return { logIndex, inclusion, ...keyed };
  }

  private async withKeys(entries: readonly LogEntry[], hasMap: boolean): Promise<KeyedEntry[]> {
    const keys = hasMap ? await this.keys.keysOf(entries.map(({ logIndex }) => logIndex)) : [];
    return entries.map((entry, place) => ({ entry, keys: keys[place] }));
  }
}

/** Returns the text of an entry as it was hashed. Throws `not_logged_yet` if its version was erased meanwhile. */
export function entryText({ entry: { fact, salt }, keys }: KeyedEntry): string {
  if (salt === null) throw erasedMeanwhile();
  return logEntryText(fact, salt, keys ? KEYED_ENTRY_VERSION : LOG_ENTRY_VERSION);
}

/**
 * Creates the error for an erasure during the export. A started stream ends unfinished. Its lines so far are valid, and
 * the next export has the rest.
 */
function erasedMeanwhile(): DomainError {
  return notLoggedYet('A version was erased while the bundle was built. Try again.');
}
