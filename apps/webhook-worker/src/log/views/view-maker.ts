import { join } from 'node:path';
import { type PreparedViews, type VersionWithoutView, ViewStore } from '@iss/persistence';
import { partsOf } from '@iss/platform';
import { Injectable } from '@nestjs/common';
import { ThreadPool } from '../../thread-pool';
import { type CommittedVersion, commitVersions } from './commit-versions';

/** The compiled file that a thread runs. The path is correct from `src` and from `dist`. */
const THREAD_FILE = join(__dirname, '../../../dist/log/views/view-thread.js');

/** Bytes of text that one round reads: they take a fraction of a second. */
const MAX_BYTES = 4 << 20;
/** Characters that are committed to at once: they take some milliseconds. Longer texts go to threads. */
const FEW = 32_768;
/** Characters per order of a thread, unless one text is longer. */
const ORDER = 262_144;

/** Commits to the views of versions that wait for their log entries. */
@Injectable()
export class ViewMaker {
  private readonly threads = new ThreadPool<readonly VersionWithoutView[], readonly CommittedVersion[]>(
    THREAD_FILE,
    'views',
  );

  constructor(private readonly store: ViewStore) {}

  /** Makes the views of versions among the next `limit` waiting facts. Other processes may store others first. */
  async prepare(limit: number): Promise<PreparedViews> {
    const { versions, ...read } = await this.store.missing(limit, MAX_BYTES);
    const views = [];
    const unfit = new Set<string>();
    for (const { snapshotId, secret, hash } of await this.commit(versions)) {
      if (hash === null) unfit.add(snapshotId);
      else views.push({ snapshotId, secret: Buffer.from(secret), hash: Buffer.from(hash, 'hex') });
    }
    return { ...read, views, unfit };
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.threads.close();
  }

  /** Makes views. The hash is null for a text that is no envelope. */
  async commit(versions: readonly VersionWithoutView[]): Promise<readonly CommittedVersion[]> {
    const orders = partsOf(versions, ({ text }) => text.length, ORDER);
    const [only] = orders;
    if (only === undefined) return [];
    if (orders.length === 1 && lengthOf(only) <= FEW) return commitVersions(only);
    return (await Promise.all(orders.map((order) => this.threads.run(order)))).flat();
  }
}

function lengthOf(versions: readonly VersionWithoutView[]): number {
  return versions.reduce((sum, { text }) => sum + text.length, 0);
}
