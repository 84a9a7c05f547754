import { type Cost, type Curve, isReached, type Line, ratioOf, round, targetText } from './run.ts';

const FONT = 'font-family="system-ui, sans-serif" font-size="12"';
const [GOOD, BAD] = ['#2a7f62', '#b5473c'];
const SERIES = ['#24577a', '#b5473c', '#2a7f62', '#8a5a9e', '#9a7b1d'];

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${FONT} ${more}>${escape(content)}</text>`;
const rectangle = (x: number, y: number, width: number, height: number, color: string): string =>
  `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${height}" fill="${color}"/>`;
const rule = (path: string, color: string): string => `<path d="${path}" fill="none" stroke="${color}"/>`;

function svg(width: number, height: number, parts: readonly string[]): string {
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${rectangle(0, 0, width, height, '#fff')}${parts.join('')}</svg>\n`;
}

const LABELS = 430;
const ROW = 24;

/** Plots the share of each target that is reached, at most twice the target. */
export function targetPlot(lines: readonly Line[]): string {
  const aimed = lines.filter((line) => line.target !== undefined);
  const whole = 130;
  const height = 56 + aimed.length * ROW;
  const bars = aimed.map((line, index) => {
    const y = 40 + index * ROW;
    const { least, most } = line.target ?? {};
    const share = least !== undefined ? ratioOf(line) / least : (most ?? 0) / ratioOf(line);
    const width = Math.min(share, 2) * whole;
    const says = `${round(ratioOf(line))} of ${targetText(line)}`;
    return [
      text(LABELS - 10, y + 13, line.what, 'text-anchor="end"'),
      rectangle(LABELS, y, width, 18, isReached(line) ? GOOD : BAD),
      text(LABELS + Math.max(width, whole) + 8, y + 13, says),
    ].join('');
  });
  const target = rule(`M${LABELS + whole} 30V${height - 10}`, '#000');
  return svg(890, height, [text(LABELS + whole, 22, 'target', 'text-anchor="middle"'), ...bars, target]);
}

/** Plots the microseconds per request of each process. */
export function costPlot(costs: readonly Cost[]): string {
  const processes = [
    { name: 'gateway', of: ({ gateway }: Cost) => gateway.median },
    { name: 'PostgreSQL', of: ({ postgres }: Cost) => postgres.median },
    { name: 'load generator', of: ({ generator }: Cost) => generator.median },
  ];
  const totalOf = (cost: Cost): number => processes.reduce((sum, { of }) => sum + (of(cost) || 0), 0);
  const scale = 330 / Math.max(1, ...costs.map(totalOf));
  const legend = processes.map(
    ({ name }, index) =>
      rectangle(LABELS + index * 120, 12, 12, 12, SERIES[index] ?? '#000') + text(LABELS + 18 + index * 120, 22, name),
  );
  const bars = costs.map((cost, row) => {
    const y = 40 + row * ROW;
    let x = LABELS;
    const pieces = processes.map(({ of }, index) => {
      const width = (of(cost) || 0) * scale;
      const piece = rectangle(x, y, width, 18, SERIES[index] ?? '#000');
      x += width;
      return piece;
    });
    return [
      text(LABELS - 10, y + 13, cost.what, 'text-anchor="end"'),
      ...pieces,
      text(x + 8, y + 13, `${round(totalOf(cost))} µs`),
    ].join('');
  });
  return svg(890, 56 + costs.length * ROW, [...legend, ...bars]);
}

const PLOT = { left: 70, right: 600, top: 70, bottom: 270, width: 640, height: 330 };
/** The space for the numbers of the first and the last point. */
const INSET = 24;
/** A line with more points has no dots and numbers. */
const MAX_NUMBERED = 8;
const TICKS = 4;

/** Plots curves from zero upwards. */
export function curvePlot(curve: Curve): string {
  const points = curve.series.flatMap((series) => series.points);
  const position = (x: number): number => (curve.x.scale === 'log' ? Math.log10(Math.max(1, x)) : x);
  const [low, high] = [Math.min(...points.map(({ x }) => position(x))), Math.max(...points.map(({ x }) => position(x)))];
  const top = Math.max(...points.map(({ y }) => y), Number.MIN_VALUE) * 1.1;
  const atX = (x: number): number =>
    PLOT.left + INSET + ((position(x) - low) / Math.max(high - low, 1e-9)) * (PLOT.right - PLOT.left - 2 * INSET);
  const atY = (y: number): number => PLOT.bottom - (y / top) * (PLOT.bottom - PLOT.top);

  const grid = Array.from({ length: TICKS + 1 }, (_, index) => {
    const y = (top * index) / TICKS;
    const line = rule(`M${PLOT.left} ${atY(y).toFixed(1)}H${PLOT.right}`, '#ddd');
    return line + text(PLOT.left - 8, atY(y) + 4, round(y), 'text-anchor="end"');
  });
  const isNumbered = curve.series.every((series) => series.points.length <= MAX_NUMBERED);
  const steps = Array.from({ length: TICKS + 1 }, (_, index) => low + ((high - low) * index) / TICKS);
  const marks = isNumbered || curve.x.scale === 'log' ? [...new Set(points.map(({ x }) => x))] : steps.map(Math.round);
  const abscissa = marks.map((x) => text(atX(x), PLOT.bottom + 18, x.toLocaleString('en'), 'text-anchor="middle"'));

  const lines = curve.series.map(({ name, points: own }, index) => {
    const color = SERIES[index % SERIES.length] ?? '#000';
    const path = own.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${atX(x).toFixed(1)} ${atY(y).toFixed(1)}`).join('');
    const dots = own.map(({ x, y }) => `<circle cx="${atX(x).toFixed(1)}" cy="${atY(y).toFixed(1)}" r="3" fill="${color}"/>`);
    const numbers = own.map(({ x, y }) => text(atX(x), atY(y) - 7, round(y), `text-anchor="middle" fill="${color}"`));
    const legend =
      curve.series.length > 1
        ? rectangle(PLOT.left + index * 130, 44, 12, 12, color) + text(PLOT.left + 18 + index * 130, 54, name)
        : '';
    return [legend, rule(path, color), ...(isNumbered ? [...dots, ...numbers] : [])].join('');
  });
  return svg(PLOT.width, PLOT.height, [
    text(PLOT.left, 20, curve.title, 'font-weight="bold"'),
    text(PLOT.left, 36, curve.y),
    ...grid,
    ...abscissa,
    text(PLOT.right, PLOT.height - 12, curve.x.name, 'text-anchor="end"'),
    ...lines,
  ]);
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
