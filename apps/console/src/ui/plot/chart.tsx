import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { TEXT } from '../../text/ui.ts';
import { COUNT_STEPS, countRange, isWithinDays, roomOfBars, timeRange } from './chart-axis.ts';
import { momentText } from '../time.tsx';

export interface Series {
  readonly label: string;
  /** A custom property of `base.css`: `--accent`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly kind?: 'line' | 'bars' | 'points';
}

export interface PlotProps {
  /** The name of the plot for screen readers, which find the figures in `children`. */
  title: string;
  /** Seconds since 1970, in rising order. */
  times: readonly number[];
  series: readonly Series[];
  height?: number;
  /** The same figures as a table or a sentence. */
  children: ReactNode;
}

const HEIGHT = 200;
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const HOUR = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
/** The width of a label below the time axis, in pixels. */
const TICK_WIDTH = 110;

/** Draws a canvas as wide as its container. */
export default function Chart({ times, series, height = HEIGHT }: Omit<PlotProps, 'children'>) {
  // Draws again only when a figure changes, not with each new array of equal figures.
  const text = JSON.stringify([times, series]);
  const figures = useMemo(() => ({ times, series }), [text]);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const { times, series } = figures;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name);
    // The canvas needs computed colours: a custom property contains `light-dark(…)` as it is written.
    const resolved = (name: string): string => {
      // A transition would start at the previous colour.
      element.style.transition = 'none';
      element.style.color = `var(${name})`;
      const value = getComputedStyle(element).color;
      element.style.color = '';
      return value === '' ? colour(name) : value;
    };
    const axis = {
      stroke: resolved('--quiet'),
      grid: { stroke: resolved('--line') },
      ticks: { stroke: resolved('--line') },
    };
    const room = series.some(({ kind }) => kind === 'bars') ? roomOfBars(times) : 0;
    const isGrowth = series.every(({ kind = 'line' }) => kind === 'line');
    const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        scales: {
          x: { range: (_plot, first, last) => timeRange(first, last, room) },
          y: { range: (_plot, least, most) => countRange(isGrowth ? least : 0, most) },
        },
        axes: [
          {
            ...axis,
            space: TICK_WIDTH,
            values: (_plot, times, _axis, _space, step) =>
              times.map((time) => (isWithinDays(step) ? HOUR : DAY).format(time * 1000)),
          },
          { ...axis, size: 60, incrs: [...COUNT_STEPS] },
        ],
        series: [
          { label: TEXT.time, value: (_plot, time) => (time === null ? '' : momentText(time * 1000)) },
          ...series.map(({ label, colour: name, kind }) => ({
            label,
            stroke: resolved(name),
            ...(kind === 'bars' && bars !== undefined
              ? { fill: resolved(name), width: 0, paths: bars, points: { show: false } }
              : kind === 'points'
                ? { paths: () => null, points: { show: true, size: 6, width: 0, fill: resolved(name) } }
                : { width: 2 }),
          })),
        ],
      },
      [[...times], ...series.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [figures, height]);
  return <div ref={place} aria-hidden="true" />;
}
