import { randomBytes } from 'node:crypto';
import { DomainError, type PartialView, VIEW_SECRET_BYTES, type ViewToDisclose, type Visible } from '@iss/domain';
import { openSnapshot, SnapshotListStore, type SnapshotRecord, ViewStore } from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Charged } from '../../../runtime/asker';
import { Work } from '../../../runtime/work';

/** The members that a partial answer has instead of the whole version. */
export interface PartialContent {
  /** The JSON Pointers at and below which the reader may see values. */
  paths: readonly string[];
  /** Null if no content is shown, and for a version without a hash, which cannot be committed to. */
  view: Pick<PartialView, 'payload' | 'disclosures'> | null;
  /** In lists: false if the reader sees the same as in the previous version. */
  isChanged?: boolean;
  /** The whole version, to verify it. It must not be shown. */
  whole: SnapshotRecord;
}

/** A version as a reader may see it. Only this may be written into an answer. */
export interface ShownSnapshot extends SnapshotRecord {
  /** Null if the reader may see everything. */
  partial: PartialContent | null;
}

/** Shows all of a version, to a reader who may see everything. */
export function showWhole(snapshot: SnapshotRecord): ShownSnapshot {
  return { ...snapshot, partial: null };
}

type WantedParts = Pick<ViewToDisclose, 'visible' | 'intoArrays'>;

/** A version that is hidden in part, with the hash of what is shown. */
interface Pruned {
  shown: ShownSnapshot & { partial: PartialContent };
  /** Null for an erased version. */
  contentHash: string | null;
}

/** Prunes versions to what their reader may see, and commits to the views of versions that have none. */
@Injectable()
export class ShownSnapshots {
  constructor(
    private readonly views: ViewStore,
    private readonly lineage: SnapshotListStore,
    private readonly work: Work,
  ) {}

  /** Returns what the reader may see of a version. */
  async show(asker: Charged, snapshot: SnapshotRecord, visible: Visible): Promise<ShownSnapshot> {
    if (visible === null) return showWhole(snapshot);
    const [pruned] = await this.prune(asker, [snapshot], visible);
    if (pruned === undefined) throw new Error('a version was not pruned');
    return pruned.shown;
  }

  /**
   * Yields what the reader may see of consecutive versions in either order. Partial ones say whether they differ from the
   * previous version.
   */
  async *showAll(
    asker: Charged,
    batches: AsyncIterable<readonly SnapshotRecord[]> | Iterable<readonly SnapshotRecord[]>,
    visible: Visible,
  ): AsyncGenerator<readonly ShownSnapshot[], void> {
    let before: Pruned | undefined;
    for await (const batch of batches) {
      if (visible === null) {
        yield batch.map(showWhole);
        continue;
      }
      const pruned = await this.prune(asker, batch, visible);
      const known = new Map([...(before === undefined ? [] : [before]), ...pruned].map((one) => [versionOf(one), one]));
      for (const one of pruned) {
        const previous = known.get(versionOf(one) - 1) ?? (await this.previous(asker, one.shown, visible));
        if (one.contentHash !== null) one.shown.partial.isChanged = one.contentHash !== previous?.contentHash;
      }
      before = pruned.at(-1);
      yield pruned.map(({ shown }) => shown);
    }
  }

  /** Returns the view of a version that has a hash, with the disclosures of these paths. `secret` is null if it has no view yet. */
  async viewOf(
    asker: Charged,
    snapshot: SnapshotRecord,
    secret: Buffer | null,
    wanted: WantedParts,
  ): Promise<PartialView> {
    return secret === null ? this.commit(asker, snapshot, wanted) : this.disclose(asker, snapshot, wanted, secret);
  }

  private async previous(asker: Charged, { partial, ...snapshot }: ShownSnapshot, visible: readonly string[]) {
    if (partial === null || snapshot.snapshotVersion === 1) return undefined;
    const rows = await this.lineage.below(snapshot, snapshot.snapshotVersion, 1);
    const [previous] = await this.prune(asker, rows.map(openSnapshot), visible);
    return previous;
  }

  private async prune(
    asker: Charged,
    snapshots: readonly SnapshotRecord[],
    visible: readonly string[],
  ): Promise<Pruned[]> {
    const sealed = snapshots.filter(({ envelope, envelopeHash }) => envelope !== null && envelopeHash !== null);
    const stored = await this.views.find(sealed.map(({ snapshotId }) => snapshotId));
    const pruned: Pruned[] = [];
    for (const whole of snapshots) {
      if (whole.envelope === null) {
        pruned.push({ shown: { ...whole, partial: { paths: visible, view: null, whole } }, contentHash: null });
        continue;
      }
      const secret = stored.get(whole.snapshotId)?.secret;
      const view =
        secret === undefined
          ? await this.commit(asker, whole, { visible })
          : await this.disclose(asker, whole, { visible }, intact(secret));
      const { envelope, contentHash, payload, disclosures } = view;
      const partial = {
        paths: visible,
        view: whole.envelopeHash === null ? null : { payload, disclosures },
        whole,
      };
      pruned.push({ shown: { ...whole, envelope, partial }, contentHash });
    }
    return pruned;
  }

  /** Commits to the view of a version that has none. Another process may do so at the same time. */
  private async commit(asker: Charged, whole: SnapshotRecord, wanted: WantedParts): Promise<PartialView> {
    const secret = randomBytes(VIEW_SECRET_BYTES);
    const view = await this.disclose(asker, whole, wanted, secret);
    const { snapshotId, envelopeHash } = whole;
    if (envelopeHash === null) return view;
    const stored = await this.views.commit([{ snapshotId, secret, hash: Buffer.from(view.hash, 'hex') }]);
    const kept = intact(stored.get(snapshotId)?.secret ?? null);
    return kept.equals(secret) ? view : this.disclose(asker, whole, wanted, kept);
  }

  private async disclose(
    asker: Charged,
    { envelope, envelopeHash, prevHash }: SnapshotRecord,
    wanted: WantedParts,
    secret: Buffer,
  ): Promise<PartialView> {
    const source = { text: envelope ?? '', envelopeHash: envelopeHash ?? '', prevHash, secret };
    return this.work.run(asker, 'disclose_view', { ...source, ...wanted });
  }
}

function versionOf({ shown }: Pruned): number {
  return shown.snapshotVersion;
}

function intact(secret: Buffer | null): Buffer {
  if (secret !== null) return secret;
  throw new DomainError('unavailable', 'The version was erased during this request. Send it again.');
}
