import type { Replica } from '../../replica';
import { ANY_BYTES } from '../../sql/coalescer';
import { statement } from '../../sql/statement';
import type { StoredRow, StoredText } from './snapshot-record';

/** The largest text that the primary returns with the access facts. Asking a replica for a smaller one would take longer. */
const SMALL_BYTES = 16 * 1024;

const TEXTS = statement<
  { ids: readonly string[] },
  { snapshotId: string; envelopeHash: string | null; envelope: StoredText | null }
>('snapshot_texts_copied');

const isLeftOut = (snapshot: StoredRow | null): snapshot is StoredRow =>
  snapshot !== null && snapshot.envelope === null && snapshot.erasure === null;

/**
 * Reads large texts of snapshots from a replica. The primary has named them with their hashes to a reader with the right. The
 * replica's text is accepted only with the same hash.
 */
export class CopiedTexts {
  constructor(private readonly replica: Replica | null) {}

  /** The largest text to request from the primary, in bytes. */
  get maxBytes(): number {
    return this.replica?.isThere === true ? SMALL_BYTES : ANY_BYTES;
  }

  /**
   * Returns the snapshots in their order with the missing texts added. Returns null if the primary must be asked for all of them,
   * with {@link ANY_BYTES}.
   */
  async complete(whose: string, snapshots: readonly (StoredRow | null)[]): Promise<(StoredRow | null)[] | null> {
    const ids = snapshots.filter(isLeftOut).map(({ snapshotId }) => snapshotId);
    if (ids.length === 0) return [...snapshots];
    const rows = (await this.replica?.run(whose, TEXTS, { ids })) ?? null;
    if (rows === null) return null;
    const found = new Map(rows.map((row) => [row.snapshotId, row]));
    const texts = snapshots.map((snapshot) => {
      if (!isLeftOut(snapshot)) return { snapshot, outcome: 'answered' } as const;
      const { envelope = null, envelopeHash = null } = found.get(snapshot.snapshotId) ?? {};
      if (envelope === null) return { snapshot, outcome: 'behind' } as const;
      const isSame = envelopeHash !== null && envelopeHash === snapshot.envelopeHash;
      return { snapshot: { ...snapshot, envelope }, outcome: isSame ? 'answered' : 'differs' } as const;
    });
    const { outcome } = texts.find((text) => text.outcome !== 'answered') ?? { outcome: 'answered' as const };
    this.replica?.count(outcome);
    return outcome === 'answered' ? texts.map(({ snapshot }) => snapshot) : null;
  }
}
