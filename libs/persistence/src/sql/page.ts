/** A place in the order of a list: the sort key of the last row that was read, in PostgreSQL's own text where a JavaScript value would lose digits. */
export type PagePosition = readonly (string | number)[];

export interface PageRequest {
  /** Items at most, ≥ 1. */
  limit: number;
  /** Null for the first page. */
  after: PagePosition | null;
}

export interface Page<Item> {
  items: Item[];
  /** Where the next page begins; null after the last one. */
  next: PagePosition | null;
}

/** Bytes of items after which a page ends, also where fewer are on it than were asked for (contract, "Lists"). */
export const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The first of some rows `alias` in an order, as many as fit into {@link PAGE_BYTES} and one at least, with the number of
 * all as `found`: for lists of which one page may hold more. `bytes` is the size of what may be large in a row; what does
 * not fit is not read.
 */
export function fitting(alias: string, rows: string, bytes: string, order: string): string {
  return `(
    SELECT * FROM (
      SELECT ${alias}.*, sum(${bytes}) OVER (${order}) AS bytes, row_number() OVER (${order}) AS place,
             count(*) OVER ()::int AS found
        FROM (${rows}) ${alias}
    ) ${alias} WHERE ${alias}.bytes <= ${PAGE_BYTES} OR ${alias}.place = 1
  )`;
}

/**
 * The page from rows that were read with `limit + 1`, so that one too many says that there is more; or from as many as
 * fit, of which `found` says how many were found.
 */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  positionOf: (row: Row) => PagePosition,
  found = rows.length,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    next: found > shown.length && last !== undefined ? positionOf(last) : null,
  };
}

/** A row of a list that says, in its first row, what the caller may do; its only row has no item where there is none. */
export interface ListRow<Facts, Item> {
  facts: Facts;
  item: Item | null;
  position: PagePosition;
  /** Where it is one of those that are {@link fitting}. */
  found?: number | null;
}

/** The page of a list that was read as {@link toPage} says, and the facts. */
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

/** Of a list of rows `alias`, newest first, with the parameters of {@link before}. */
export function newestFirst(alias: string, id: string): { next: string; order: string; position: string } {
  const order = `ORDER BY ${alias}.created_at DESC, ${alias}.${id} DESC`;
  return {
    /** The last condition of WHERE, and what follows it. */
    next: `(${alias}.created_at, ${alias}.${id}) < (:beforeTime::timestamptz, :beforeId::uuid)
     ${order} LIMIT :rows`,
    order,
    // The time as text, since a `Date` has no microseconds.
    position: `ARRAY[${alias}.created_at::text, ${alias}.${id}::text] AS position`,
  };
}

export interface Before {
  beforeTime: string | number;
  beforeId: string | number;
  rows: number;
}

/** Where a page of {@link newestFirst} begins: before the newest row if nowhere else. */
export function before({ limit, after }: PageRequest): Before {
  const [beforeTime = 'infinity', beforeId = '00000000-0000-0000-0000-000000000000'] = after ?? [];
  return { beforeTime, beforeId, rows: limit + 1 };
}
