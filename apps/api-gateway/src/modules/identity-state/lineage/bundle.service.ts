import { logEntryText, type Reader, type SubjectRef } from '@iss/domain';
import { LogEntryStore, type LogKey, type SnapshotRecord } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Asker } from '../../../work/asker';
import { LogTreeService, notLoggedYet } from '../../../log/log-tree.service';
import { LogWaiting } from '../../../log/log-waiting';
import { SnapshotListService } from './snapshot-list.service';

/** A snapshot with the proof that it is in the log. */
export interface ProvedSnapshot {
  snapshot: SnapshotRecord;
  entry: string;
  logIndex: number;
  inclusion: readonly Uint8Array[];
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
      const newest = async () => (await this.entries.ofVersions(subject, head, head))[0] ?? null;
      const { checkpoint } = await this.waiting.published(newest, WAIT_SECONDS);
      const { headVersion, snapshots } = await this.lists.export(reader, subject, null, 'bundle');
      if (headVersion !== head) continue;
      const { origin, note, size } = checkpoint;
      const proved = this.prove(subject, snapshots, headVersion, size);
      return { origin, keys: await this.tree.keys(), checkpoint: note, headVersion, snapshots: proved };
    }
    throw notLoggedYet('The subject was changed again each time that its newest version had been published.');
  }

  private async *prove(
    subject: SubjectRef,
    snapshots: AsyncIterable<SnapshotRecord>,
    headVersion: number,
    size: number,
  ): AsyncGenerator<ProvedSnapshot, void> {
    let entries: Awaited<ReturnType<LogEntryStore['ofVersions']>> = [];
    for await (const snapshot of snapshots) {
      const version = snapshot.snapshotVersion;
      if (entries.length === 0) {
        entries = await this.entries.ofVersions(subject, version, Math.min(version + BATCH - 1, headVersion));
      }
      const entry = entries.shift();
      if (entry?.fact.type !== 'snapshot.created' || entry.fact.snapshotVersion !== version) {
        throw new Error(`version ${version} has no entry in the log`);
      }
      const { logIndex, fact, salt } = entry;
      const inclusion = await this.tree.inclusion(logIndex, size);
      yield { snapshot, entry: logEntryText(fact, salt), logIndex, inclusion };
    }
  }
}
