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

/** The parameters that each list of `records_page` (lists.sql) takes. */
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

/** An id that is smaller than every other id in a list by UUID. */
export const FIRST_UUID = '00000000-0000-0000-0000-000000000000';

export interface RecordRow<Facts, Item> extends ListRow<Facts, Item> {
  /** In the first row: the last examined record, if the page is short although there may be more. */
  lookedTo: PagePosition | null;
}

/** Builds the page of a list of records, and returns it with the facts. */
export function toRecords<Facts, Item>(
  rows: readonly RecordRow<Facts, Item>[],
  limit: number,
): { facts: Facts; page: Page<Item> } {
  const { facts, page } = toList(rows, limit);
  return { facts, page: { ...page, next: page.next ?? rows[0]?.lookedTo ?? null } };
}
