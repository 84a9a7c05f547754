import { formatEntryBundle, parseEntryBundlePath, parseTilePath, TILE_WIDTH } from '@iss/tlog';
import type { MapOperator, Published } from '../../../../tools/testing/map-operator';
import type { LogServer } from './log-server';

/** Changes to the files that a mirror or the log itself serves. */
export interface Served {
  /** The log index from which entries are public. */
  readonly startsAt?: number | null;
  /** Entries to serve instead of those of the log. */
  readonly texts?: readonly string[];
}

/** Publishes the operator's log with the root of its map, which stays in the log. */
export async function publishOn(operator: MapOperator, ...lie: Parameters<MapOperator['publish']>): Promise<Published> {
  const published = await operator.publish(...lie);
  operator.addText(published.rootEntry);
  return published;
}

/** Serves the public files of a published log. Returns the list of requested paths, which grows. */
export function servePublished(server: LogServer, published: Published, served: Served = {}): string[] {
  const { startsAt = 0, texts = published.texts } = served;
  const asked: string[] = [];
  const read = (path: string): string | Uint8Array | null => {
    asked.push(path);
    if (path === 'keys') return JSON.stringify({ map_starts_at: startsAt });
    if (path.startsWith('tile/entries/')) {
      const { index, width } = parseEntryBundlePath(path);
      const from = index * TILE_WIDTH;
      const isPublic = startsAt !== null && from >= startsAt && from + width <= texts.length;
      return isPublic ? formatEntryBundle(texts.slice(from, from + width).map((text) => Buffer.from(text))) : null;
    }
    return path.startsWith('tile/') ? published.log.tile(parseTilePath(path)) : null;
  };
  server.show({ checkpoint: published.note, consistency: (from, to) => published.log.consistency(from, to), read });
  return asked;
}
