import { type ReactNode, useRef } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { usePrinting } from './print.ts';
import ui from './ui.module.css';

interface FramedTableProps {
  label: string;
  titles: readonly string[];
  count: number;
  /** The approximate height of a row, in pixels. */
  rowHeight: number;
  styles: Readonly<Record<'frame' | 'head' | 'space' | 'row', string | undefined>>;
  /** The cells of a row, each with the role `cell`. */
  children: (index: number) => ReactNode;
}

/** A table of any length in a scrolling frame. The page contains only the visible rows. */
export function FramedTable({ label, titles, count, rowHeight, styles, children }: FramedTableProps) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 15,
  });
  const isPrinting = usePrinting();
  const shown = isPrinting
    ? Array.from({ length: count }, (_, index) => ({ index, start: 0, key: index }))
    : rows.getVirtualItems();
  return (
    <div
      ref={frame}
      className={`${styles.frame} ${ui.printed}`}
      tabIndex={0}
      role="table"
      aria-label={label}
      aria-rowcount={count + 1}
    >
      <div role="row" className={styles.head} aria-rowindex={1}>
        {titles.map((title) => (
          <span role="columnheader" key={title}>
            {title}
          </span>
        ))}
      </div>
      <div role="rowgroup" className={styles.space} style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start, key }) => (
          <div
            key={key}
            ref={isPrinting ? null : rows.measureElement}
            data-index={index}
            role="row"
            aria-rowindex={index + 2}
            className={styles.row}
            style={{ transform: `translateY(${start}px)` }}
          >
            {children(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
