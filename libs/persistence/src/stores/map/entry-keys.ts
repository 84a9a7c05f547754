import { findKeys } from '@iss/map';
import type { Sql } from '../../sql/sql';
import { MapReadStore } from './map-read.store';

/** The first bytes of a key, and a log index that the key leads to. */
export interface KeyStart {
  readonly prefix: Uint8Array;
  readonly logIndex: number;
}

/** How often keys are read. An attempt fails if a bucket is split between its statements. */
const MAX_TRIES = 5;

type Keys = readonly Uint8Array[];

/** Reads the keys in the leaves of log entries. */
export class EntryKeys {
  private readonly map: MapReadStore;

  constructor(sql: Pick<Sql, 'run'>) {
    this.map = new MapReadStore(sql);
  }

  /**
   * Returns the keys of each entry, in their order. Null for an entry whose leaf contains none, also if a
   * `map.backfill` entry gave it keys. Runs one statement in a log without a map, and a few for all entries in a log
   * with a map.
   */
  async keysOf(logIndexes: readonly number[]): Promise<(Keys | null)[]> {
    if (logIndexes.length === 0) return [];
    const prefixes = await this.map.ownKeyPrefixes(logIndexes);
    const wanted = [...prefixes].flatMap(([logIndex, ofEntry]) => ofEntry.map((prefix) => ({ prefix, logIndex })));
    const keys = wanted.length === 0 ? [] : await this.wholeKeys(wanted);
    const found = new Map([...prefixes].map(([logIndex, { length }]) => [logIndex, keys.splice(0, length)]));
    return logIndexes.map((logIndex) => found.get(logIndex) ?? null);
  }

  /** Returns whole keys by their starts, in their order. Throws if the map lacks one. */
  async wholeKeys(wanted: readonly KeyStart[]): Promise<Uint8Array[]> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const keys = (await findKeys(wanted, this.map)).filter((key) => key !== undefined);
      if (keys.length === wanted.length) return keys;
    }
    throw new Error('the map lacks keys of entries of the log');
  }
}
