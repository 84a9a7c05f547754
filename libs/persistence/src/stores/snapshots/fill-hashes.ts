import { canonicalize, parseStoredJson } from '@iss/domain';
import { asOwner } from '../../owner';
import { statement } from '../../sql/statement';

export interface FilledHashes {
  /** The number of snapshots that got their `envelope_hash`. */
  hashes: number;
  /** The number of snapshots that got their `prev_hash`. */
  links: number;
  /** Ids of snapshots whose stored text is not canonical, so that its hash would never verify. */
  notCanonical: string[];
}

interface Unsealed {
  subjectKey: string;
  snapshotVersion: number;
  snapshotId: string;
  /** Null if the snapshot has its hash. */
  envelope: string | null;
}

const BATCH = 100;

const NEXT = statement<{ afterKey: string; afterVersion: number; rows: number }, Unsealed>('fill_hashes_next');

const FILL_HASHES = statement<{ snapshotIds: readonly string[] }>('fill_hashes_of_envelopes');

const FILL_LINKS = statement<{ snapshotIds: readonly string[] }>('fill_hashes_of_parents');

/**
 * Adds the `envelope_hash` of snapshots that were imported without one, and the `prev_hash` of their children, in small batches
 * (contract, "`envelope_hash` null"). Needs the owner of the tables; the trigger that refuses changes of snapshots allows these.
 * Repeating it changes nothing. Throws `unavailable` if the database cannot be reached.
 */
export async function fillHashes(databaseUrl: string): Promise<FilledHashes> {
  return asOwner(databaseUrl, async (sql) => {
    const filled: FilledHashes = { hashes: 0, links: 0, notCanonical: [] };
    let rows: Unsealed[] = [];
    do {
      const last = rows.at(-1);
      rows = await sql.run(NEXT, {
        afterKey: last?.subjectKey ?? '0',
        afterVersion: last?.snapshotVersion ?? 0,
        rows: BATCH,
      });
      const unhashed = rows.filter((row) => row.envelope !== null);
      const canonical = unhashed.filter((row) => row.envelope !== null && isCanonical(row.envelope));
      filled.notCanonical.push(...unhashed.filter((row) => !canonical.includes(row)).map((row) => row.snapshotId));
      // In this order parents precede their children, so their hashes exist when the links are added.
      const snapshotIds = (of: readonly Unsealed[]) => ({ snapshotIds: of.map((row) => row.snapshotId) });
      filled.hashes += (await sql.run(FILL_HASHES, snapshotIds(canonical))).length;
      filled.links += (await sql.run(FILL_LINKS, snapshotIds(rows))).length;
    } while (rows.length === BATCH);
    return filled;
  });
}

function isCanonical(text: string): boolean {
  try {
    return canonicalize(parseStoredJson(text)) === text;
  } catch {
    return false;
  }
}
