import { findKeys } from '@iss/map';
import { type KeyStart, MapReadStore } from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** How often keys are read. An attempt fails if a bucket is split between its statements. */
const MAX_TRIES = 5;

type Keys = readonly Uint8Array[];

/** Reads the keys in the leaves of log entries. */
@Injectable()
export class EntryKeys {
  constructor(@Inject(MapReadStore) private readonly map: Pick<MapReadStore, 'ownKeyPrefixes' | 'tiles' | 'buckets'>) {}

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
