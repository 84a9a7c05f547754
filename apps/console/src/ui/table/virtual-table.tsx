import {
  type CSSProperties,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { usePrinting } from '../print.ts';
import { ariaSortOf, type Column, Foot, Heading, shownCell, useSorted } from './sortable.tsx';
import styles from './virtual-table.module.css';

export interface VirtualColumn<T> extends Column<T> {
  /** As in `grid-template-columns`. */
  readonly width: string;
}

interface VirtualTableProps<T> {
  /** The name of the table for screen readers. */
  caption: string;
  columns: readonly VirtualColumn<T>[];
  items: readonly T[];
  /** Must be the same function in each render. */
  keyOf: (item: T) => string;
  /** The approximate height of a row, in pixels. */
  rowHeight: number;
  /** Called with the index of the last visible item when it changes. */
  onShown?: (lastIndex: number) => void;
  /** For columns whose values are loaded later. Sorting and files load all of them. */
  more?: { readonly isReading: boolean; readonly onWhole: () => void };
}

/** A table of any length that scrolls with the page, which contains only the visible rows. On a narrow page cells are stacked. */
export function VirtualTable<T>({
  caption,
  columns,
  items: answered,
  keyOf,
  rowHeight,
  onShown,
  more,
}: VirtualTableProps<T>) {
  const { sorted: items, sort, sortBy } = useSorted(columns, answered);
  const isPrinting = usePrinting();
  const onWhole = (): void => more?.onWhole();
  const onSort = (title: string): void => {
    onWhole();
    sortBy(title);
  };
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  // Rows are positioned many times while they are measured, so their keys are computed once.
  const keys = useMemo(() => items.map(keyOf), [items, keyOf]);
  const getItemKey = useCallback((index: number) => keys[index] ?? index, [keys]);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: top,
    getItemKey,
  });
  // The content above can change its height, but not while the page scrolls.
  useLayoutEffect(() => {
    if (rows.isScrolling) return;
    const place = body.current?.getBoundingClientRect().top ?? 0;
    setTop(Math.round(place + window.scrollY));
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => onShown?.(last), [onShown, last]);
  const template: CSSProperties & { '--columns': string } = {
    '--columns': columns.map(({ width }) => width).join(' '),
  };
  const placed = isPrinting
    ? items.map((_, index) => ({ index, start: 0, key: keys[index] ?? index }))
    : shown.map(({ index, start, key }) => ({ index, start: start - rows.options.scrollMargin, key }));
  return (
    <div>
      <div role="table" aria-label={caption} aria-rowcount={items.length + 1} className={styles.table} style={template}>
        <div role="rowgroup">
          <div role="row" aria-rowindex={1} className={styles.head}>
            {columns.map((column) => (
              <div key={column.title} role="columnheader" aria-sort={ariaSortOf(column.title, sort)}>
                <Heading column={column} sort={sort} onSort={onSort} />
              </div>
            ))}
          </div>
        </div>
        <div ref={body} role="rowgroup" className={styles.body} style={{ height: rows.getTotalSize() }}>
          {placed.map(({ index, start, key }) => {
            const item = items[index];
            return item === undefined ? null : (
              <Row key={key} index={index} top={start} measure={rows.measureElement} columns={columns} item={item} />
            );
          })}
        </div>
      </div>
      <Foot
        caption={caption}
        columns={columns}
        items={items}
        isWhole
        isReading={more?.isReading === true}
        onWhole={onWhole}
      />
    </div>
  );
}

interface RowProps<T> {
  index: number;
  top: number;
  measure: (element: HTMLElement | null) => void;
  columns: readonly VirtualColumn<T>[];
  item: T;
}

/** Memoized, so that scrolling does not render visible rows again. */
const Row = memo(function Row<T>({ index, top, measure, columns, item }: RowProps<T>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      ref={measure}
      className={styles.row}
      style={{ transform: `translateY(${top}px)` }}
    >
      {columns.map((column) => (
        <div key={column.title} role={column.isHeader === true ? 'rowheader' : 'cell'} className={styles.cell}>
          {shownCell(column, item)}
        </div>
      ))}
    </div>
  );
  // The type of `memo` drops the type parameter.
}) as <T>(props: RowProps<T>) => ReactNode;
