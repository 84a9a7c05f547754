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
  const order = `ORDER BY ${time} DESC, ${key} DESC`;
  const place = `ARRAY[${time}::text, ${key}::text]`;
  const looked = (isListed: string): string => `${table} ${alias}
                 WHERE ${isListed} AND (${time}, ${key}) < (:beforeTime::timestamptz, :beforeId::${idType})
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
