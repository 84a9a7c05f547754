import type { MapChange, RowReader, MapTableRow } from '../index';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Stores rows as two tables do, and counts what is read. */
export class MemoryRows implements RowReader {
  readonly tileRows = new Map<string, MapTableRow>();
  readonly bucketRows = new Map<string, MapTableRow>();
  rowsRead = 0;
  calls = 0;

  tiles(paths: readonly Uint8Array[]): Promise<MapTableRow[]> {
    return this.read(this.tileRows, paths);
  }

  buckets(paths: readonly Uint8Array[]): Promise<MapTableRow[]> {
    return this.read(this.bucketRows, paths);
  }

  apply({ tiles, buckets, deletedBuckets }: MapChange): void {
    for (const path of deletedBuckets) this.bucketRows.delete(hex(path));
    for (const row of tiles) this.tileRows.set(hex(row.path), row);
    for (const row of buckets) this.bucketRows.set(hex(row.path), row);
  }

  /** Bytes of all rows: contents and paths. */
  get bytes(): number {
    return [...this.tileRows.values(), ...this.bucketRows.values()].reduce(
      (sum, { path, content }) => sum + path.length + content.length,
      0,
    );
  }

  private read(rows: ReadonlyMap<string, MapTableRow>, paths: readonly Uint8Array[]): Promise<MapTableRow[]> {
    this.calls++;
    this.rowsRead += paths.length;
    return Promise.resolve(paths.flatMap((path) => rows.get(hex(path)) ?? []));
  }
}
