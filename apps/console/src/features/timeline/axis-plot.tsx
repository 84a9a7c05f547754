import { useLayoutEffect, useRef, useState } from 'react';
import { TEXT } from './words.ts';
import { momentText } from '../../ui/time.tsx';
import { type Range, ticksOf } from './axis.ts';
import { type Bar, barsOf, BIN, type Bin, binsOf, MOST_ROWS } from './bins.ts';
import type { Happening, Kind } from './happenings.ts';
import { useMoves } from './use-moves.ts';
import styles from './timeline.module.css';

const LABEL = 19;
const ROW = 9;
const LANE = LABEL + MOST_ROWS * ROW + 6;
const AXIS = 24;
const TICK_WIDTH = 110;

export interface PlotLane {
  readonly kind: Kind;
  /** Sorted by their beginnings. */
  readonly items: readonly Happening[];
}

interface AxisPlotProps {
  lanes: readonly PlotLane[];
  range: Range;
  whole: Range;
  now: number;
  /** Called after a move or a zoom. */
  onRange: (range: Range) => void;
  onOpen: (happening: Happening) => void;
}

/** Plots lanes over a time axis. Drag, wheel and the keys of {@link TEXT.plotHint} move and zoom. A click opens an item or zooms into a bin. */
export function AxisPlot({ lanes, range, whole, now, onRange, onOpen }: AxisPlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const height = lanes.length * LANE;
  const scale = width / (range.to - range.from);
  const xOf = (at: number): number => (at - range.from) * scale;
  const { isDragged, ...handlers } = useMoves(place, { range, whole, scale, onRange });
  const open = (items: readonly Happening[]): void => {
    if (isDragged()) return;
    const [first] = items;
    const last = items.at(-1);
    if (first === undefined || last === undefined) return;
    if (items.length === 1 || last.from - first.from < 1) return onOpen(last);
    const margin = (last.from - first.from) * 0.1;
    onRange({ from: first.from - margin, to: last.from + margin });
  };
  const ticks = width === 0 ? [] : ticksOf(range, Math.floor(width / TICK_WIDTH));
  const count = lanes.reduce((sum, { items }) => sum + items.length, 0);
  return (
    <div
      ref={place}
      className={styles.plot}
      role="group"
      tabIndex={0}
      aria-label={`${TEXT.plot}: ${TEXT.summary(count, momentText(range.from), momentText(range.to))}`}
      aria-describedby="timeline-hint"
      {...handlers}
    >
      <svg width={width} height={height + AXIS} className={styles.svg} aria-hidden="true">
        {ticks.map(({ at, label }) => (
          <g key={at}>
            <UprightLine x={xOf(at)} height={height} className={styles.tick} />
            <text x={xOf(at) + 4} y={height + AXIS - 8} className={styles.tickLabel}>
              {label}
            </text>
          </g>
        ))}
        {width > 0 &&
          lanes.map(({ kind, items }, index) => (
            <g key={kind} transform={`translate(0 ${index * LANE})`} data-kind={kind} className={styles.lane}>
              <line x1={0} x2={width} y1={LANE - 0.5} y2={LANE - 0.5} className={styles.tick} />
              <text x={8} y={14} className={styles.laneLabel}>
                {TEXT.kinds[kind]} {items.length.toLocaleString()}
              </text>
              <LaneMarks items={items} kind={kind} range={range} width={width} now={now} onOpen={open} />
            </g>
          ))}
        <UprightLine x={xOf(now)} height={height} className={styles.now} />
      </svg>
    </div>
  );
}

function UprightLine({ x, height, className }: { x: number; height: number; className: string | undefined }) {
  return <line x1={x} x2={x} y1={0} y2={height} className={className} />;
}

interface LaneMarksProps {
  items: readonly Happening[];
  kind: Kind;
  range: Range;
  width: number;
  now: number;
  onOpen: (items: readonly Happening[]) => void;
}

function LaneMarks({ items, kind, range, width, now, onOpen }: LaneMarksProps) {
  const bars = items[0]?.to === undefined ? null : barsOf(items, range, width, now);
  if (bars !== null)
    return bars.map((bar) => <BarMark key={bar.item.key} bar={bar} onOpen={() => onOpen([bar.item])} />);
  const bins = binsOf(items, range, width);
  const most = bins.reduce((max, one) => Math.max(max, one.items.length), 1);
  return bins.map((bin) => <BinMark key={bin.x} bin={bin} most={most} kind={kind} onOpen={() => onOpen(bin.items)} />);
}

function BarMark({ bar: { x, width, row, item }, onOpen }: { bar: Bar; onOpen: () => void }) {
  return (
    <rect
      x={x}
      y={LABEL + row * ROW}
      width={width}
      height={ROW - 2}
      rx={2}
      className={item.to === null ? styles.openMark : styles.mark}
      onClick={onOpen}
    >
      <title>{`${item.title} ${item.state}`}</title>
    </rect>
  );
}

/** Draws a bin. Its height grows with the square root of its count, so that small bins stay visible beside large ones. */
function BinMark({
  bin: { x, items },
  most,
  kind,
  onOpen,
}: {
  bin: Bin;
  most: number;
  kind: Kind;
  onOpen: () => void;
}) {
  const full = MOST_ROWS * ROW - 2;
  const height = Math.max(full * Math.sqrt(items.length / most), 8);
  const [first] = items;
  const said = items.length === 1 ? (first?.title ?? '') : TEXT.many(items.length, TEXT.kinds[kind]);
  return (
    <rect
      x={x}
      y={LABEL + full - height}
      width={BIN - 1}
      height={height}
      rx={1}
      className={styles.mark}
      onClick={onOpen}
    >
      <title>{`${said}, ${momentText(first?.from ?? 0)}`}</title>
    </rect>
  );
}

function useWidth(place: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
