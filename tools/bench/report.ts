import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import type { Figure } from './measure.ts';

/** One line of the table: what was measured, against what, and what was aimed at. */
export interface Line {
  /** Short and stable: two runs are compared by it. */
  id: string;
  what: string;
  figure: Figure;
  unit: string;
  against?: { what: string; figure: Figure };
  /** `figure / against`, or the figure itself where there is nothing to set it against. */
  target?: { least?: number; most?: number };
}

/** Points of a curve; both axes are named. */
export interface Curve {
  id: string;
  title: string;
  x: string;
  y: string;
  points: readonly { x: number; y: number }[];
}

export interface Run {
  at: string;
  commit: string;
  machine: { cpu: string; cores: number; memoryGiB: number; node: string; postgres: string; redis: string };
  quick: boolean;
  lines: Line[];
  curves: Curve[];
}

const RESULTS = join(repositoryRoot, 'bench', 'results');

export function describeMachine(postgres: string, redis: string): Run['machine'] {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres,
    redis,
  };
}

export function currentCommit(): string {
  try {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: repositoryRoot,
      encoding: 'utf8',
    }).trim();
    const isClean =
      execFileSync('git', ['status', '--porcelain', 'apps', 'libs'], { cwd: repositoryRoot, encoding: 'utf8' }) === '';
    return isClean ? commit : `${commit} with changes`;
  } catch {
    return 'unknown';
  }
}

export function ratioOf(line: Line): number {
  return line.against === undefined ? line.figure.median : line.figure.median / line.against.figure.median;
}

export function isReached({ target, ...line }: Line): boolean | undefined {
  if (target === undefined) return undefined;
  const ratio = ratioOf(line);
  return ratio >= (target.least ?? -Infinity) && ratio <= (target.most ?? Infinity);
}

const round = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value >= 1 ? value.toFixed(2) : value.toPrecision(2);
const spread = (figure: Figure): string => `±${Math.round(figure.spread * 100)} %`;

function targetText({ target, against }: Line): string {
  if (target === undefined) return '';
  const times = against === undefined ? '' : ' ×';
  return target.least !== undefined ? `≥ ${target.least}${times}` : `≤ ${target.most}${times}`;
}

/** The run as a Markdown table. */
export function table(run: Run): string {
  const rows = run.lines.map((line) => {
    const mark = { true: 'yes', false: '**no**', undefined: '' }[String(isReached(line))] ?? '';
    return [
      line.what,
      `${round(line.figure.median)} ${line.unit} ${spread(line.figure)}`,
      line.against === undefined
        ? ''
        : `${line.against.what}: ${round(line.against.figure.median)} ${spread(line.against.figure)}`,
      line.against === undefined ? '' : ratioOf(line).toFixed(2),
      targetText(line),
      mark,
    ].join(' | ');
  });
  return [
    '| Work | Measured | Set against | Ratio | Target | Reached |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

/** Stores the run as JSON and its curves as SVG; gives the JSON file's path. */
export function store(run: Run, name: string): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(join(RESULTS, `${name}-ratios.svg`), ratioPlot(run));
  for (const curve of run.curves) writeFileSync(join(RESULTS, `${name}-${curve.id}.svg`), curvePlot(curve));
  return file;
}

const PAGE = join(repositoryRoot, 'docs', 'performance.md');
const [BEGIN, END] = ['<!-- bench: begin -->', '<!-- bench: end -->'];

/** Puts the run's table and plots into docs/performance.md, between its marks. */
export function document(run: Run, name: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < 0) throw new Error(`${PAGE} has no marks`);
  const { cpu, cores, memoryGiB, node, postgres, redis } = run.machine;
  const plots = [`${name}-ratios`, ...run.curves.map(({ id }) => `${name}-${id}`)];
  const block = [
    BEGIN,
    '',
    `${run.at.slice(0, 10)}, commit ${run.commit}, ${run.quick ? 'a quick run' : 'a full run'}: ${cpu}, ${cores} cores, ${memoryGiB} GiB; Node ${node}, PostgreSQL ${postgres}, Redis ${redis}. The results are in \`bench/results/${name}.json\`.`,
    '',
    table(run),
    '',
    ...plots.map((plot) => `![${plot}](../bench/results/${plot}.svg)`),
    '',
  ].join('\n');
  writeFileSync(PAGE, `${page.slice(0, before)}${block}${page.slice(after)}`);
}

export function load(nameOrFile: string): Run {
  const file = nameOrFile.endsWith('.json') ? nameOrFile : join(RESULTS, `${nameOrFile}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Two runs, line by line: by ratios where there are any, since machines differ. */
export function comparison(a: Run, b: Run): string {
  const rows = a.lines.flatMap((line) => {
    const other = b.lines.find(({ id }) => id === line.id);
    if (other === undefined) return [];
    const [before, after] = [ratioOf(line), ratioOf(other)];
    const noise = line.figure.spread + other.figure.spread;
    const change = after / before - 1;
    const verdict = Math.abs(change) <= noise ? 'within the spread' : change > 0 ? 'more' : 'less';
    return [`| ${line.what} | ${round(before)} | ${round(after)} | ${(change * 100).toFixed(0)} % | ${verdict} |`];
  });
  return [`| Work | ${a.commit} | ${b.commit} | Change | |`, '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

const TEXT = 'font-family="system-ui, sans-serif" font-size="12"';

/** Each ratio as a bar, with its target as a line. */
function ratioPlot(run: Run): string {
  const lines = run.lines.filter((line) => line.against !== undefined);
  const scale =
    240 / Math.max(1, ...lines.map((line) => Math.max(ratioOf(line), line.target?.least ?? 0, line.target?.most ?? 0)));
  const bars = lines.map((line, index) => {
    const y = 10 + index * 24;
    const target = line.target?.least ?? line.target?.most;
    const mark =
      target === undefined ? '' : `<path d="M${360 + target * scale} ${y}v18" stroke="#b00" stroke-width="2"/>`;
    const color = isReached(line) === false ? '#c77' : '#7a9';
    return `<text x="350" y="${y + 13}" text-anchor="end" ${TEXT}>${escape(line.what)}</text><rect x="360" y="${y}" width="${(ratioOf(line) * scale).toFixed(1)}" height="18" fill="${color}"/>${mark}<text x="${366 + ratioOf(line) * scale}" y="${y + 13}" ${TEXT}>${ratioOf(line).toFixed(2)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="700" height="${20 + lines.length * 24}" style="background:#fff">${bars.join('')}</svg>\n`;
}

/** A curve over a logarithmic x axis, from zero upwards. */
function curvePlot(curve: Curve): string {
  const width = 560;
  const height = 260;
  const xs = curve.points.map(({ x }) => Math.log10(Math.max(1, x)));
  const top = Math.max(...curve.points.map(({ y }) => y), Number.MIN_VALUE) * 1.15;
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const at = (point: { x: number; y: number }): [number, number] => [
    60 + ((Math.log10(Math.max(1, point.x)) - low) / Math.max(1e-9, high - low)) * (width - 90),
    height - 40 - (point.y / top) * (height - 80),
  ];
  const path = curve.points
    .map(
      (point, index) =>
        `${index === 0 ? 'M' : 'L'}${at(point)
          .map((n) => n.toFixed(1))
          .join(' ')}`,
    )
    .join('');
  const dots = curve.points.map((point) => {
    const [x, y] = at(point);
    return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3"/><text x="${x.toFixed(1)}" y="${(y - 8).toFixed(1)}" text-anchor="middle" ${TEXT}>${round(point.y)}</text><text x="${x.toFixed(1)}" y="${height - 24}" text-anchor="middle" ${TEXT}>${point.x.toLocaleString('en')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" style="background:#fff"><text x="60" y="18" ${TEXT} font-weight="bold">${escape(curve.title)}</text><text x="60" y="34" ${TEXT}>${escape(curve.y)}</text><text x="${width - 30}" y="${height - 8}" text-anchor="end" ${TEXT}>${escape(curve.x)}</text><path d="${path}" fill="none" stroke="#357" stroke-width="2"/>${dots.join('')}</svg>\n`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
