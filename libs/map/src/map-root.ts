import { decodeBase64url, encodeBase64url } from './base64url';
import { MapError } from './errors';
import { MAP_VERSION } from './key';
import { KEY_SIZE } from './limits';

/** The root of the map over the log entries 0 to `covers`, itself the entry at that index. */
export interface MapRootEntry {
  readonly covers: number;
  readonly root: Uint8Array;
}

/** Writes the text of a `map.root` leaf (RFC 8785). */
export function formatMapRootEntry({ covers, root }: MapRootEntry): string {
  return `{"covers":${covers},"map_root":"${encodeBase64url(root)}","map_version":"${MAP_VERSION}","type":"map.root"}`;
}

/**
 * Parses the text of a `map.root` leaf. Only the canonical text is accepted.
 *
 * @throws MapError or TlogError `malformed`
 */
export function parseMapRootEntry(text: string): MapRootEntry {
  const [, covers, root] = /^\{"covers":(\d{1,16}),"map_root":"([\w-]{43})",/.exec(text) ?? [];
  if (covers !== undefined && root !== undefined) {
    const entry = { covers: Number(covers), root: decodeBase64url(root, 'root of the map') };
    const isSound = Number.isSafeInteger(entry.covers) && entry.root.length === KEY_SIZE;
    if (isSound && formatMapRootEntry(entry) === text) return entry;
  }
  throw new MapError('malformed', 'The entry is not the canonical text of a map.root entry.');
}
