import type { SubjectRef } from '@iss/domain';
import { type ListRow, type Page, type PagePosition, type PageRequest, toList } from '../../sql/page';

/** The time range of a list; null for no bound. */
export interface TimeBounds {
  from: Date | null;
  /** Inclusive, to the millisecond. */
  to: Date | null;
}

/** No bounds. */
export const ANY_TIME: TimeBounds = { from: null, to: null };

/** A subject that filters a list, as parameters; null for any. */
export type NamedKey = { readonly [Name in keyof SubjectRef]: string | null };

export function namedKey(subject: SubjectRef | null): NamedKey {
  return subject ?? { subjectType: null, subjectId: null };
}

/** The parameters that each list of {@link newestRecords} takes. */
export interface RecordPage {
  from: Date | null;
  beforeTime: string | number | Date;
  beforeId: string | number;
  rows: number;
}

/** Returns the parameters of a page. It starts before the last record of the previous page, at `to`, or at the newest record. */
export function recordPage(
  { from, to }: TimeBounds,
  { limit, after }: PageRequest,
  firstId: number | string = 0,
): RecordPage {
  const end = to === null ? 'infinity' : new Date(to.getTime() + 1);
  const [beforeTime = end, beforeId = firstId] = after ?? [];
  return { from, beforeTime, beforeId, rows: limit + 1 };
}

/** Smaller than every id of a list by UUID. */
export const FIRST_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * The maximum number of records that one page examines. With a filter, a page may end there, short or empty, and the next page
 * continues.
 */
const LOOKED_AT = 1_001;

/** A scope that is the first columns of an index, with the values of its rows. Time and id follow in the index. */
export interface KeyedScope {
  /** The first one must be an expression. */
  keys: readonly string[];
  values: readonly string[];
  /** A condition for every listed row. */
  and: string;
}

/** Fragments of a statement that lists records, in the order of the index of their scope. */
export interface RecordList {
  /** Returns a `FROM` item: a page of a scope, filtered by `isWanted`. The scope is a condition that names an index, or a key. */
  page: (scope: string | KeyedScope, isWanted?: string) => string;
  /** Returns the columns of a {@link RecordRow} that follow facts and item. The scope must be that of the page. */
  position: (scope: string | KeyedScope) => string;
  order: string;
}

export interface RecordRow<Facts, Item> extends ListRow<Facts, Item> {
  /** In the first row: the last examined record, if the page is short although there may be more. */
  lookedTo: PagePosition | null;
}

/**
 * Returns the fragments of a list of rows `alias` of `table`, newest first, with the parameters of {@link recordPage}. Every list
 * with filters uses it. It follows the index of one scope: a tenant, a subject, or a pair of tenants. A filter with an index of
 * its own selects another scope, and every other filter tests the rows.
 */
export function newestRecords(
  table: string,
  alias: string,
  at: string,
  id: string,
  idType: 'bigint' | 'uuid' = 'bigint',
): RecordList {
  const [time, key] = [`${alias}.${at}`, `${alias}.${id}`];
  const orderBy = (columns: readonly string[]): string =>
    `ORDER BY ${columns.map((column) => `${column} DESC`).join(', ')}`;
  const order = orderBy([time, key]);
  const place = `ARRAY[${time}::text, ${key}::text]`;
  const [before, from] = [
    `:beforeTime::timestamptz, :beforeId::${idType}`,
    `coalesce(:from::timestamptz, '-infinity')`,
  ];
  const keysOf = (scope: string | KeyedScope): readonly string[] => (typeof scope === 'string' ? [] : scope.keys);
  const examined = (scope: string | KeyedScope): string =>
    typeof scope === 'string'
      ? `${table} ${alias}
                 WHERE ${scope} AND (${time}, ${key}) < (${before}) AND ${time} >= ${from}
                 ${order}`
      : // Comparisons that start with an expression match no other index, regardless of statistics.
        `${table} ${alias}
                 WHERE (${scope.keys.join(', ')}, ${time}, ${key}) < (${scope.values.join(', ')}, ${before})
                   AND (${scope.keys.join(', ')}, ${time}) >= (${scope.values.join(', ')}, ${from}) AND ${scope.and}
                 ${orderBy([...scope.keys, time, key])}`;
  return {
    page: (scope, isWanted = 'true') => {
      // The planner recognizes the order of the index only by columns that the inner query returns.
      const keys = keysOf(scope).map((_, index) => `${alias}.listed_key_${index}`);
      const columns = [`${alias}.*`, ...keysOf(scope).map((name, index) => `${name} AS listed_key_${index}`)];
      return `(
    SELECT * FROM (SELECT ${columns.join(', ')} FROM ${examined(scope)} LIMIT ${LOOKED_AT}) ${alias}
     WHERE ${isWanted} ${orderBy([...keys, time, key])} LIMIT :rows)`;
    },
    position: (scope) => `${place} AS position,
       CASE WHEN count(*) OVER () < :rows AND row_number() OVER (${order}) = 1
            THEN (SELECT ${place} FROM ${examined(scope)} OFFSET ${LOOKED_AT - 1} LIMIT 1) END AS "lookedTo"`,
    order,
  };
}

/** Builds the page of a list of records, and returns it with the facts. */
export function toRecords<Facts, Item>(
  rows: readonly RecordRow<Facts, Item>[],
  limit: number,
): { facts: Facts; page: Page<Item> } {
  const { facts, page } = toList(rows, limit);
  return { facts, page: { ...page, next: page.next ?? rows[0]?.lookedTo ?? null } };
}
