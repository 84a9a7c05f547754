import { useRef } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { usePrinting } from '../print.ts';
import { ariaSortOf, type Column, Foot, Heading, shownCell, useSorted } from './sortable.tsx';
import ui from '../ui.module.css';

interface FramedTableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  items: readonly T[];
  /** The approximate height of a row, in pixels. */
  rowHeight: number;
  styles: Readonly<Record<'frame' | 'head' | 'space' | 'row', string | undefined>>;
  /** False while more items are being loaded. */
  isWhole?: boolean;
}

/** A table of any length in a scrolling frame. The page contains only the visible rows. */
export function FramedTable<T>({ label, columns, items, rowHeight, styles, isWhole = true }: FramedTableProps<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const { sorted, sort, sortBy } = useSorted(columns, items);
  const count = sorted.length;
  const rows = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 15,
  });
  const isPrinting = usePrinting();
  const shown = isPrinting ? sorted.map((_, index) => ({ index, start: 0, key: index })) : rows.getVirtualItems();
  return (
    <div>
      <div
        ref={frame}
        className={`${styles.frame} ${ui.printed}`}
        tabIndex={0}
        role="table"
        aria-label={label}
        aria-rowcount={count + 1}
      >
        <div role="row" className={styles.head} aria-rowindex={1}>
          {columns.map((column) => (
            <span role="columnheader" key={column.title} aria-sort={ariaSortOf(column.title, sort)}>
              <Heading column={column} sort={sort} onSort={sortBy} />
            </span>
          ))}
        </div>
        <div role="rowgroup" className={styles.space} style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start, key }) => {
            const item = sorted[index];
            return (
              item !== undefined && (
                <div
                  key={key}
                  ref={isPrinting ? null : rows.measureElement}
                  data-index={index}
                  role="row"
                  aria-rowindex={index + 2}
                  className={styles.row}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  {columns.map((column) => (
                    <span role="cell" key={column.title}>
                      {shownCell(column, item)}
                    </span>
                  ))}
                </div>
              )
            );
          })}
        </div>
      </div>
      <Foot
        caption={label}
        columns={columns}
        items={sorted}
        isWhole={isWhole}
        isReading={false}
        onWhole={() => undefined}
      />
    </div>
  );
}
