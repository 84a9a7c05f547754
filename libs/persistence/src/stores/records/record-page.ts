import type { SubjectRef } from '@iss/domain';
import { type ListRow, type Page, type PagePosition, type PageRequest, toList } from '../../sql/page';

/** Which records are asked for by their time; null: no bound. */
export interface TimeBounds {
  from: Date | null;
  /** This millisecond included. */
  to: Date | null;
}

/** Where time does not bound a list. */
export const ANY_TIME: TimeBounds = { from: null, to: null };

/** A subject that a list is filtered by, as parameters; null: any. */
export type NamedKey = { readonly [Name in keyof SubjectRef]: string | null };

export function namedKey(subject: SubjectRef | null): NamedKey {
  return subject ?? { subjectType: null, subjectId: null };
}

/** The parameters of a list of {@link newestRecords}, beside its own. */
export interface RecordPage {
  from: Date | null;
  beforeTime: string | number | Date;
  beforeId: string | number;
  rows: number;
}

/** Where a page begins: before the last record that was shown, or behind `to`, or at the newest. */
export function recordPage(
  { from, to }: TimeBounds,
  { limit, after }: PageRequest,
  firstId: number | string = 0,
): RecordPage {
  const end = to === null ? 'infinity' : new Date(to.getTime() + 1);
  const [beforeTime = end, beforeId = firstId] = after ?? [];
  return { from, beforeTime, beforeId, rows: limit + 1 };
}

/** Less than every id of a list by UUID. */
export const FIRST_UUID = '00000000-0000-0000-0000-000000000000';

/** Records that one page looks at: with a filter it may end, short or empty, after so many, and the next one goes on there. */
const LOOKED_AT = 1_001;

/** The first columns of an index, and the values that the rows of a scope have there. Time and id follow in the index. */
export interface KeyedScope {
  /** The first one is an expression. */
  keys: readonly string[];
  values: readonly string[];
  /** Holds of each row that is listed. */
  and: string;
}

/** Fragments of a statement that lists records, in the order of the index of their scope. */
export interface RecordList {
  /** `FROM` item: a page of a scope, of which `isWanted` holds. The scope is a condition that names an index, or a key. */
  page: (scope: string | KeyedScope, isWanted?: string) => string;
  /** Columns of a {@link RecordRow} beside facts and item; the scope is the page's. */
  position: (scope: string | KeyedScope) => string;
  order: string;
}

export interface RecordRow<Facts, Item> extends ListRow<Facts, Item> {
  /** In the first row: the last record that was looked at, where the page is short although there may be more. */
  lookedTo: PagePosition | null;
}

/**
 * Lists rows `alias` of `table`, newest first, with the parameters of {@link recordPage}. Every list with filters is one of these. It follows
 * the index of one scope: a tenant, a subject, a pair of tenants. A filter with an index of its own selects another scope, and each other
 * filter tests the rows.
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
  const looked = (scope: string | KeyedScope): string =>
    typeof scope === 'string'
      ? `${table} ${alias}
                 WHERE ${scope} AND (${time}, ${key}) < (${before}) AND ${time} >= ${from}
                 ${order}`
      : // Comparisons that begin with an expression fit no other index, whatever statistics say of it.
        `${table} ${alias}
                 WHERE (${scope.keys.join(', ')}, ${time}, ${key}) < (${scope.values.join(', ')}, ${before})
                   AND (${scope.keys.join(', ')}, ${time}) >= (${scope.values.join(', ')}, ${from}) AND ${scope.and}
                 ${orderBy([...scope.keys, time, key])}`;
  return {
    page: (scope, isWanted = 'true') => {
      // The planner keeps the order of the index only by columns that the inner query returns.
      const keys = keysOf(scope).map((_, index) => `${alias}.listed_key_${index}`);
      const columns = [`${alias}.*`, ...keysOf(scope).map((name, index) => `${name} AS listed_key_${index}`)];
      return `(
    SELECT * FROM (SELECT ${columns.join(', ')} FROM ${looked(scope)} LIMIT ${LOOKED_AT}) ${alias}
     WHERE ${isWanted} ${orderBy([...keys, time, key])} LIMIT :rows)`;
    },
    position: (scope) => `${place} AS position,
       CASE WHEN count(*) OVER () < :rows AND row_number() OVER (${order}) = 1
            THEN (SELECT ${place} FROM ${looked(scope)} OFFSET ${LOOKED_AT - 1} LIMIT 1) END AS "lookedTo"`,
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
