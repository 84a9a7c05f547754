/**
 * A place in the order of a list: the sort key of the last row that was read. It is PostgreSQL's own text if a JavaScript value
 * would lose digits.
 */
export type PagePosition = readonly (string | number)[];

export interface PageRequest {
  /** The maximum number of items, ≥ 1. */
  limit: number;
  /** Null for the first page. */
  after: PagePosition | null;
}

export interface Page<Item> {
  items: Item[];
  /** The start of the next page; null on the last one. */
  next: PagePosition | null;
}

/** The maximum size of a page in bytes, unless its only item is larger. It may cut a page short (contract, "Lists"). */
export const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Builds a page from rows that were read with `limit + 1`: an extra row means that there is a next page. For rows of
 * `fitting` (lists.sql), `found` is the number of rows before the size limit.
 */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  positionOf: (row: Row) => PagePosition,
  found = rows.length,
): Page<Item> {
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  return {
    items: pageRows.map(toItem),
    next: found > pageRows.length && last !== undefined ? positionOf(last) : null,
  };
}

/** A row of a list that also has the caller's access facts. If the list is empty, its only row has the item null. */
export interface ListRow<Facts, Item> {
  facts: Facts;
  item: Item | null;
  position: PagePosition;
  /** Set for rows of `fitting` (lists.sql). */
  found?: number | null;
}

/** Builds a page with {@link toPage}, and returns it with the facts. */
export function toList<Facts, Item>(
  rows: readonly ListRow<Facts, Item>[],
  limit: number,
): { facts: Facts; page: Page<Item> } {
  const [first] = rows;
  if (first === undefined) throw new Error('a list answered no row');
  const found = rows.flatMap(({ item, position }) => (item === null ? [] : [{ item, position }]));
  const page = toPage(
    found,
    limit,
    ({ item }) => item,
    ({ position }) => position,
    first.found ?? found.length,
  );
  return { facts: first.facts, page };
}

export interface Before {
  beforeTime: string | number;
  beforeId: string | number;
  rows: number;
}

/** Returns the parameters for a page of `newest_next` (lists.sql). The first page starts at the newest row. */
export function before({ limit, after }: PageRequest): Before {
  const [beforeTime = 'infinity', beforeId = '00000000-0000-0000-0000-000000000000'] = after ?? [];
  return { beforeTime, beforeId, rows: limit + 1 };
}
