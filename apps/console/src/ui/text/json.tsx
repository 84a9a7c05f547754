import { useMemo, useRef } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { usePrinting } from '../print.ts';
import styles from '../ui.module.css';

const LINE_HEIGHT = 21;
const MAX_LINE = 2_000;

/** Shows JSON of any size as text. The page contains only the visible lines. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const lines = useMemo(() => JSON.stringify(value, null, 2).split('\n'), [value]);
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  const isPrinting = usePrinting();
  const shown = isPrinting ? lines.map((_, index) => ({ index, start: 0 })) : rows.getVirtualItems();
  return (
    <div ref={frame} className={`${styles.json} ${styles.printed}`} tabIndex={0} role="region" aria-label={label}>
      <div className={styles.jsonSpace} style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start }) => (
          <div key={index} className={styles.jsonLine} style={{ transform: `translateY(${start}px)` }}>
            {(lines[index] ?? '').slice(0, isPrinting ? undefined : MAX_LINE)}
          </div>
        ))}
      </div>
    </div>
  );
}
