import { KEYED_ENTRY_VERSION, keyedLeafText, leafTextOfBody, logEntryText, mapBackfillText } from '@iss/domain';
import { formatMapRootEntry } from '@iss/map';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type LoggedFact, loggedFactOf, type LoggedRow } from '../log/log-facts';
import { EntryKeys, type KeyStart } from './entry-keys';
import { countsIn, prefixesIn } from './map-read.store';

/** The parts of the leaf of an entry in a log with a map. */
type PublicEntry = { readonly logIndex: number } & (
  | { readonly type: 'fact'; readonly fact: LoggedFact; readonly salt: Uint8Array; readonly keys: readonly KeyStart[] }
  /** An erased version: only the SHA-256 of its text is left. */
  | { readonly type: 'erased'; readonly bodyHash: Uint8Array; readonly keys: readonly KeyStart[] }
  /** The map over all entries before this one. */
  | { readonly type: 'root'; readonly root: Uint8Array }
  /** The keys of the entries from `from` on. */
  | { readonly type: 'backfill'; readonly from: number; readonly keys: readonly (readonly KeyStart[])[] }
);

interface Row extends LoggedRow {
  logIndex: number;
  salt: Buffer | null;
  bodyHash: Buffer | null;
  prefixes: Buffer | null;
  mapRoot: Buffer | null;
  backfillFrom: number | null;
  keyCounts: Buffer | null;
}

const READ = statement<{ from: number; to: number }, Row>('public_entries');

/** Reads the entries of a log with a map, whose leaves are public texts. */
export class PublicEntryStore {
  private readonly keys: EntryKeys;

  constructor(private readonly sql: Pick<Sql, 'run'>) {
    this.keys = new EntryKeys(sql);
  }

  /**
   * Makes the public text of each entry from the log index `from` up to `to`, without `to`. The leaf of the entry is its hash. The text
   * reveals nothing about the fact, and does not change if the fact is erased. Throws if the parts of an entry are missing.
   */
  async leafTexts(from: number, to: number): Promise<Iterable<string>> {
    const entries = (await this.sql.run(READ, { from, to })).map(entryOf);
    return leafTexts(entries, await this.keys.wholeKeys(entries.flatMap(keyStarts)));
  }
}

function keyStarts(entry: PublicEntry): readonly KeyStart[] {
  return entry.type === 'root' ? [] : entry.keys.flat();
}

/** Yields the text of each leaf. `keys` has the keys of all entries, in their order. */
function* leafTexts(entries: readonly PublicEntry[], keys: readonly Uint8Array[]): Generator<string, void> {
  let used = 0;
  const take = ({ length }: readonly KeyStart[]): Uint8Array[] => keys.slice(used, (used += length));
  for (const entry of entries) {
    switch (entry.type) {
      case 'root':
        yield formatMapRootEntry({ covers: entry.logIndex, root: entry.root });
        break;
      case 'backfill':
        yield mapBackfillText(entry.from, entry.keys.map(take));
        break;
      case 'erased':
        yield leafTextOfBody(entry.bodyHash, take(entry.keys));
        break;
      case 'fact':
        yield keyedLeafText(logEntryText(entry.fact, entry.salt, KEYED_ENTRY_VERSION), take(entry.keys));
        break;
    }
  }
}

function entryOf(row: Row): PublicEntry {
  const { logIndex, salt, bodyHash, mapRoot, backfillFrom } = row;
  if (mapRoot !== null) return { type: 'root', logIndex, root: mapRoot };
  const prefixes = prefixesIn(row.prefixes ?? Buffer.alloc(0));
  if (backfillFrom !== null) {
    const counts = countsIn(row.keyCounts ?? Buffer.alloc(0));
    const keys = counts.map((count, at) => startsAt(prefixes.splice(0, count), backfillFrom + at));
    return { type: 'backfill', logIndex, from: backfillFrom, keys };
  }
  const keys = startsAt(prefixes, logIndex);
  if (bodyHash !== null) return { type: 'erased', logIndex, bodyHash, keys };
  const fact = loggedFactOf(row);
  if (fact === null || salt === null) throw new Error(`the leaf of log entry ${logIndex} cannot be rebuilt`);
  return { type: 'fact', logIndex, fact, salt, keys };
}

function startsAt(prefixes: readonly Uint8Array[], logIndex: number): KeyStart[] {
  return prefixes.map((prefix) => ({ prefix, logIndex }));
}
