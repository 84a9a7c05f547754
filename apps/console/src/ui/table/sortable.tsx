import { useEffect, useMemo, useState } from 'react';
import { TEXT } from '../../text/ui.ts';
import { Button } from '../button.tsx';
import { Hash } from '../copy.tsx';
import { download } from '../download.ts';
import { Badge, type Tone } from '../page.tsx';
import { once } from '../once.ts';
import { Time } from '../time.tsx';
import styles from '../ui.module.css';

/** A column for sorting and for files. A column without a value, for example of buttons, is in neither. */
export interface SortField<T> {
  readonly title: string;
  readonly value?: (item: T) => string | number | null | undefined;
  /** A moment as ISO 8601, which the table formats if the column has no `cell`. */
  readonly at?: (item: T) => string | null | undefined;
  readonly dayOnly?: boolean;
  /** The cell is the header of its row. */
  readonly isHeader?: boolean;
}

export interface Column<T> extends SortField<T> {
  /** Renders the value if it is not plain text. */
  readonly cell?: (item: T) => React.ReactNode;
}

/** Returns a column of badges: each status has a tone and a word. */
export function badgeColumn<T, Status extends string>(
  title: string,
  statusOf: (item: T) => Status,
  tones: Readonly<Record<Status, Tone>>,
  words: Readonly<Record<Status, string>>,
): Column<T> {
  return {
    title,
    value: (item) => words[statusOf(item)],
    cell: (item) => <Badge tone={tones[statusOf(item)]}>{words[statusOf(item)]}</Badge>,
  };
}

/** Returns a column of hashes or ids, of which it shows the beginning. */
export function hashColumn<T>(title: string, valueOf: (item: T) => string | null, length = 12): Column<T> {
  const cell = (item: T): React.ReactNode => {
    const value = valueOf(item);
    return value !== null && <Hash value={value} length={length} />;
  };
  return { title, value: valueOf, cell };
}

/** Returns a column of texts or numbers, with quiet words for an item that has none. */
export function orQuiet<T>(
  title: string,
  valueOf: (item: T) => string | number | null | undefined,
  words: string,
): Column<T> {
  return { title, value: valueOf, cell: (item) => valueOf(item) ?? <span className={styles.quiet}>{words}</span> };
}

export function shownCell<T>({ cell, at, value, dayOnly = false }: Column<T>, item: T): React.ReactNode {
  if (cell !== undefined) return cell(item);
  const moment = at?.(item);
  return moment === null || moment === undefined ? value?.(item) : <Time at={moment} dayOnly={dayOnly} />;
}

function valueOf<T>({ at, value }: SortField<T>, item: T): string | number | null {
  return value?.(item) ?? at?.(item) ?? null;
}

export interface Sort {
  readonly title: string;
  readonly isDown: boolean;
}

const collator = once(() => new Intl.Collator(undefined, { numeric: true }));

/** Sorts items by a column, or keeps the order of the response. Items without a value come last. */
export function useSorted<T>(
  columns: readonly SortField<T>[],
  items: readonly T[],
): { sorted: readonly T[]; sort: Sort | null; sortBy: (title: string) => void } {
  const [sort, setSort] = useState<Sort | null>(null);
  const column = columns.find(({ title }) => title === sort?.title);
  const isDown = sort?.isDown === true;
  const sorted = useMemo(() => {
    if (column === undefined) return items;
    const keyed = items.map((item) => ({ item, value: valueOf(column, item) }));
    keyed.sort(({ value: one }, { value: other }) => {
      if (one === null || other === null) return Number(one === null) - Number(other === null);
      const order =
        typeof one === 'number' && typeof other === 'number'
          ? one - other
          : collator().compare(String(one), String(other));
      return isDown ? -order : order;
    });
    return keyed.map(({ item }) => item);
  }, [items, column, isDown]);
  // Ascending, descending, then the order of the response.
  const sortBy = (title: string): void =>
    setSort(sort?.title !== title ? { title, isDown: false } : sort.isDown ? null : { title, isDown: true });
  return { sorted, sort, sortBy };
}

export function ariaSortOf(title: string, sort: Sort | null): 'ascending' | 'descending' | undefined {
  return sort?.title === title ? (sort.isDown ? 'descending' : 'ascending') : undefined;
}

/** Shows the title of a column, as a button if the column can be sorted. */
export function Heading<T>({
  column: { title, value, at },
  sort,
  onSort,
}: {
  column: SortField<T>;
  sort: Sort | null;
  onSort: (title: string) => void;
}) {
  if (value === undefined && at === undefined) return title;
  return (
    <button type="button" className={styles.sort} onClick={() => onSort(title)}>
      {title}
      <span aria-hidden="true">{sort?.title === title && (sort.isDown ? ' ↓' : ' ↑')}</span>
    </button>
  );
}

type Format = 'csv' | 'json';

interface FootProps<T> {
  caption: string;
  columns: readonly SortField<T>[];
  items: readonly T[];
  isWhole: boolean;
  /** Further items are being read. */
  isReading: boolean;
  /** Reads all items, before a file is made of them. */
  onWhole: () => void;
}

/** Shows the number of rows, and offers them as files. */
export function Foot<T>({ caption, columns, items, isWhole, isReading, onWhole }: FootProps<T>) {
  const [wanted, setWanted] = useState<Format | null>(null);
  useEffect(() => {
    if (wanted === null || isReading) return;
    setWanted(null);
    const name = `${caption.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')}.${wanted}`;
    if (wanted === 'json') download(name, 'application/json', [JSON.stringify(items, null, 2)]);
    else download(name, 'text/csv', [csvOf(columns, items)]);
  }, [wanted, isReading, caption, columns, items]);
  return (
    <div className={styles.tableFoot}>
      <span>{TEXT.rows(items.length, isWhole)}</span>
      {(['csv', 'json'] as const).map((format) => (
        <Button
          key={format}
          kind="plain"
          small
          aria-label={TEXT.fileOf(TEXT[format], caption)}
          isPending={wanted === format}
          onClick={() => {
            onWhole();
            setWanted(format);
          }}
        >
          {TEXT[format]}
        </Button>
      ))}
    </div>
  );
}

/** Returns rows as CSV (RFC 4180). Texts that a spreadsheet would read as a formula begin with an apostrophe. */
export function csvOf<T>(columns: readonly SortField<T>[], items: readonly T[]): string {
  const known = columns.filter(({ value, at }) => value !== undefined || at !== undefined);
  const rows = [known.map(({ title }) => title), ...items.map((item) => known.map((column) => valueOf(column, item)))];
  return rows.map((row) => row.map(csvField).join(',') + '\r\n').join('');
}

function csvField(value: string | number | null): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
