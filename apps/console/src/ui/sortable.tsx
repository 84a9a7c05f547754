import { useEffect, useMemo, useState } from 'react';
import { TEXT } from '../text/ui.ts';
import { Button } from './button.tsx';
import { download } from './download.ts';
import { Time } from './time.tsx';
import styles from './ui.module.css';

/** A column as the reader sorts by it and as a file contains it. A column without a value, of buttons say, is neither. */
export interface Field<T> {
  readonly title: string;
  readonly value?: (item: T) => string | number | null | undefined;
  /** A moment as ISO 8601; it is shown as one where there is no cell of its own. */
  readonly at?: (item: T) => string | null | undefined;
  readonly dayOnly?: boolean;
  /** The cell names its row. */
  readonly isHeader?: boolean;
}

export interface Column<T> extends Field<T> {
  /** Shows the value otherwise than as a text. */
  readonly cell?: (item: T) => React.ReactNode;
}

export function shownCell<T>({ cell, at, value, dayOnly = false }: Column<T>, item: T): React.ReactNode {
  if (cell !== undefined) return cell(item);
  const moment = at?.(item);
  return moment === null || moment === undefined ? value?.(item) : <Time at={moment} dayOnly={dayOnly} />;
}

function valueOf<T>({ at, value }: Field<T>, item: T): string | number | null {
  return value?.(item) ?? at?.(item) ?? null;
}

export interface Sort {
  readonly title: string;
  readonly isDown: boolean;
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Sorts items by a column; without one they stay as they were answered. What has no value comes last. */
export function useSorted<T>(
  columns: readonly Field<T>[],
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
          : COLLATOR.compare(String(one), String(other));
      return isDown ? -order : order;
    });
    return keyed.map(({ item }) => item);
  }, [items, column, isDown]);
  // Up, down, as it was answered.
  const sortBy = (title: string): void =>
    setSort(sort?.title !== title ? { title, isDown: false } : sort.isDown ? null : { title, isDown: true });
  return { sorted, sort, sortBy };
}

export function ariaSortOf(title: string, sort: Sort | null): 'ascending' | 'descending' | undefined {
  return sort?.title === title ? (sort.isDown ? 'descending' : 'ascending') : undefined;
}

/** The title of a column: a button where the column can be sorted by. */
export function Heading<T>({
  column: { title, value, at },
  sort,
  onSort,
}: {
  column: Field<T>;
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
  columns: readonly Field<T>[];
  items: readonly T[];
  isWhole: boolean;
  /** Further items are being read. */
  isReading: boolean;
  /** Reads all items, before a file is made of them. */
  onWhole: () => void;
}

/** Says how many rows there are, and hands them out as files. */
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

/** Writes rows as RFC 4180 has it. What a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvOf<T>(columns: readonly Field<T>[], items: readonly T[]): string {
  const known = columns.filter(({ value, at }) => value !== undefined || at !== undefined);
  const rows = [known.map(({ title }) => title), ...items.map((item) => known.map((column) => valueOf(column, item)))];
  return rows.map((row) => row.map(csvField).join(',') + '\r\n').join('');
}

function csvField(value: string | number | null): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
