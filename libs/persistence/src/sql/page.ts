/** A place in the order of a list: the sort key of the last row that was read, in PostgreSQL's own text where a JavaScript value would lose digits. */
export type Position = readonly (string | number)[];

export interface PageRequest {
  /** Items at most, ≥ 1. */
  limit: number;
  /** Null for the first page. */
  after: Position | null;
}

export interface Page<Item> {
  items: Item[];
  /** Where the next page begins; null after the last one. */
  next: Position | null;
}

/** The page from rows that were read with `limit + 1`, so that one too many says that there is more. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  positionOf: (row: Row) => Position,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    next: rows.length > limit && last !== undefined ? positionOf(last) : null,
  };
}
