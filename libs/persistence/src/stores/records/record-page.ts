import { type ListRow, type Page, type PagePosition, type PageRequest, toList } from '../../sql/page';

/** Which records are asked for by their time; null: no bound. */
export interface TimeBounds {
  from: Date | null;
  /** This millisecond included. */
  to: Date | null;
}

/** The parameters of a list of {@link newestRecords}, beside its own. */
export interface RecordPage {
  from: Date | null;
  beforeTime: string | number | Date;
  beforeId: string | number;
  rows: number;
}

/** Where a page begins: before the last record that was shown, or behind `to`, or at the newest. */
export function recordPage({ from, to }: TimeBounds, { limit, after }: PageRequest): RecordPage {
  const end = to === null ? 'infinity' : new Date(to.getTime() + 1);
  const [beforeTime = end, beforeId = 0] = after ?? [];
  return { from, beforeTime, beforeId, rows: limit + 1 };
}

/** Records that one page looks at: with a filter it may end, short or empty, after so many, and the next one goes on there. */
const LOOKED_AT = 1_000;

/** Fragments of a statement that lists records, in the order of the index of whose they are. */
interface RecordList {
  /** `FROM` item: a page of what `isListed` names, by an index that begins with it, of which `isWanted` holds. */
  page: (isListed: string, isWanted?: string) => string;
  /** Columns of a {@link RecordRow} beside facts and item; `isListed` as the page has it. */
  position: (isListed: string) => string;
  order: string;
}

export interface RecordRow<Facts, Item> extends ListRow<Facts, Item> {
  /** In the first row: the last record that was looked at, where the page is short although there may be more. */
  lookedTo: PagePosition | null;
}

/** Of records `alias` in `table`, newest first, with the parameters of {@link recordPage}. */
export function newestRecords(table: string, alias: string, at: string, id: string): RecordList {
  const [time, key] = [`${alias}.${at}`, `${alias}.${id}`];
  const order = `ORDER BY ${time} DESC, ${key} DESC`;
  const place = `ARRAY[${time}::text, ${key}::text]`;
  const looked = (isListed: string): string => `${table} ${alias}
                 WHERE ${isListed} AND (${time}, ${key}) < (:beforeTime::timestamptz, :beforeId::bigint)
                   AND ${time} >= coalesce(:from::timestamptz, '-infinity')
                 ${order}`;
  return {
    page: (isListed, isWanted = 'true') => `(
    SELECT * FROM (SELECT * FROM ${looked(isListed)} LIMIT ${LOOKED_AT}) ${alias}
     WHERE ${isWanted} ${order} LIMIT :rows)`,
    position: (isListed) => `${place} AS position,
       CASE WHEN count(*) OVER () < :rows AND row_number() OVER (${order}) = 1
            THEN (SELECT ${place} FROM ${looked(isListed)} OFFSET ${LOOKED_AT - 1} LIMIT 1) END AS "lookedTo"`,
    order,
  };
}

/** The page of a list of records, and the facts. */
export function toRecords<Facts, Item>(
  rows: readonly RecordRow<Facts, Item>[],
  limit: number,
): { facts: Facts; page: Page<Item> } {
  const { facts, page } = toList(rows, limit);
  return { facts, page: { ...page, next: page.next ?? rows[0]?.lookedTo ?? null } };
}
