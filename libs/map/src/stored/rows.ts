/** A row of the table of tiles or of buckets. `path` is its primary key. */
export interface MapTableRow {
  readonly path: Uint8Array;
  readonly content: Uint8Array;
}

/** Reads rows by primary key. Missing rows are left out; the order is free. */
export interface RowReader {
  tiles(paths: readonly Uint8Array[]): Promise<readonly MapTableRow[]>;
  buckets(paths: readonly Uint8Array[]): Promise<readonly MapTableRow[]>;
}

/** Returns the path of a region: its length in bits, then the bits that its keys share, padded with zeros. */
export function regionPath(key: Uint8Array, bits: number): Uint8Array {
  const path = new Uint8Array(1 + Math.ceil(bits / 8));
  path[0] = bits;
  path.set(key.subarray(0, path.length - 1), 1);
  const last = path.length - 1;
  if (bits % 8 !== 0) path[last] = (path[last] ?? 0) & (0xff << (8 - (bits % 8)));
  return path;
}

/** Returns a path as the name of a row in memory. */
export function rowName(path: Uint8Array): string {
  let name = '';
  for (let at = 0; at < path.length; at++) name += String.fromCharCode(path[at] ?? 0);
  return name;
}

/** Returns each path once. */
export function distinctPaths(paths: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(paths.map((path) => [rowName(path), path])).values()];
}
