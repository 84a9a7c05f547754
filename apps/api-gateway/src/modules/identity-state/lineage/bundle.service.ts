import { type DomainError, logEntryText, type Reader, type SubjectRef } from '@iss/domain';
import { type LogEntry, LogEntryStore, type LogKey, type SnapshotRecord } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Asker } from '../../../work/asker';
import { LogTreeService, notLoggedYet } from '../../../log/log-tree.service';
import { LogWaiting } from '../../../log/log-waiting';
import { SnapshotListService } from './snapshot-list.service';

/** Where in the log something stands, and the proof of it. */
interface Place {
  logIndex: number;
  inclusion: readonly Uint8Array[];
}

/** The entry of an erasure with the proof that it is in the log. */
interface ProvedErasure extends Place {
  erasureId: string;
  entry: string;
}

/** A snapshot with the proof that it is in the log; of one that was erased its hash there, and the entry that says so. */
export interface ProvedSnapshot extends Place {
  snapshot: SnapshotRecord;
  logged: { entry: string } | { leaf: Uint8Array; erased: ProvedErasure };
}

/** A subject's whole lineage, each version proved against one checkpoint. */
export interface Bundle {
  origin: string;
  keys: readonly LogKey[];
  /** The signed note. */
  checkpoint: string;
  headVersion: number;
  /** Ascending, read while they are taken. */
  snapshots: AsyncIterable<ProvedSnapshot>;
}

/** The newest version is waited for, since a bundle never leaves it out. */
const WAIT_SECONDS = 10;
/** A subject may get another version while its newest one is waited for. */
const MAX_TRIES = 3;
/** Entries read at once. */
const BATCH = 256;

/** Exports that prove themselves. */
@Injectable()
export class BundleService {
  constructor(
    private readonly lists: SnapshotListService,
    private readonly waiting: LogWaiting,
    private readonly tree: LogTreeService,
    private readonly entries: LogEntryStore,
  ) {}

  /** Throws as reading the lineage does, and `not_logged_yet` where the newest version is not published in time. */
  async bundle(reader: Reader & Asker, subject: SubjectRef): Promise<Bundle> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      // Whoever waits holds no snapshots meanwhile.
      const head = await this.lists.headVersion(reader, subject);
      const { checkpoint } = await this.waiting.published(() => this.newest(subject, head), WAIT_SECONDS);
      const { headVersion, snapshots } = await this.lists.export(reader, subject, null, 'bundle');
      if (headVersion !== head) continue;
      const { origin, note, size } = checkpoint;
      const proved = this.prove(subject, snapshots, headVersion, size);
      return { origin, keys: await this.tree.keys(), checkpoint: note, headVersion, snapshots: proved };
    }
    throw notLoggedYet('The subject was changed again each time that its newest version had been published.');
  }

  /** The later one of what the bundle needs, its last version's entry and that of the last erasure; null until both are there. */
  private async newest(subject: SubjectRef, head: number): Promise<LogEntry | null> {
    const [last = null] = await this.entries.ofVersions(subject, head, head);
    const erasure = await this.entries.ofNewestErasure(subject);
    if (last === null || erasure === null) return null;
    return erasure !== undefined && erasure.logIndex > last.logIndex ? erasure : last;
  }

  private async *prove(
    subject: SubjectRef,
    snapshots: AsyncIterable<SnapshotRecord>,
    headVersion: number,
    size: number,
  ): AsyncGenerator<ProvedSnapshot, void> {
    let entries: Awaited<ReturnType<LogEntryStore['ofVersions']>> = [];
    let erased: ProvedErasure | null = null;
    for await (const snapshot of snapshots) {
      const version = snapshot.snapshotVersion;
      if (entries.length === 0) {
        entries = await this.entries.ofVersions(subject, version, Math.min(version + BATCH - 1, headVersion));
      }
      const entry = entries.shift();
      if (entry?.fact.type !== 'snapshot.created' || entry.fact.snapshotVersion !== version) {
        throw new Error(`version ${version} has no entry in the log`);
      }
      const { logIndex } = entry;
      const inclusion = await this.tree.inclusion(logIndex, size);
      const { erasure } = snapshot;
      if (erasure === null) {
        yield { snapshot, logIndex, inclusion, logged: { entry: textOf(entry) } };
        continue;
      }
      if (erased?.erasureId !== erasure.erasureId) erased = await this.erasure(erasure.erasureId, size);
      yield { snapshot, logIndex, inclusion, logged: { leaf: await this.tree.leaf(logIndex, size), erased } };
    }
  }

  private async erasure(erasureId: string, size: number): Promise<ProvedErasure> {
    const found = await this.entries.ofErasure(erasureId);
    if (found === null || found.logIndex >= size) throw erasedMeanwhile();
    const { logIndex } = found;
    return { erasureId, logIndex, entry: textOf(found), inclusion: await this.tree.inclusion(logIndex, size) };
  }
}

function textOf({ fact, salt }: LogEntry): string {
  if (salt === null) throw erasedMeanwhile();
  return logEntryText(fact, salt);
}

/** A stream that has begun ends unfinished: what it said so far holds, and the next one says the rest. */
function erasedMeanwhile(): DomainError {
  return notLoggedYet('A version was erased while the bundle was made.');
}
