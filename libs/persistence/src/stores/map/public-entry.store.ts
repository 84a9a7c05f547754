import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { type LoggedFact, loggedFactOf, type LoggedRow } from '../log/log-facts';
import { countsIn, prefixesIn } from './map-read.store';

/** The first bytes of a key, and a log index that the key leads to. */
export interface KeyStart {
  readonly prefix: Uint8Array;
  readonly logIndex: number;
}

/** The parts of the leaf of an entry in a log with a map. */
export type PublicEntry = { readonly logIndex: number } & (
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
  constructor(private readonly sql: Pick<Sql, 'run'>) {}

  /** Returns the entries from the log index `from` up to `to`, without `to`. Throws if the parts of one are missing. */
  async read(from: number, to: number): Promise<PublicEntry[]> {
    return (await this.sql.run(READ, { from, to })).map(entryOf);
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
