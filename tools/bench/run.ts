import type { Figure } from './measure.ts';

/** A line of the table: a figure, its comparison and its target. */
export interface Line {
  /** Short and stable, since it identifies the line when two runs are compared. */
  id: string;
  what: string;
  figure: Figure;
  unit: '/s' | 'ms' | 'µs' | 'MiB' | 'bytes' | 'rows' | '×';
  against?: { what: string; figure: Figure };
  /** Bounds for `figure / against`, or for the figure itself if there is no comparison. */
  target?: { least?: number; most?: number };
}

/** The processor time of an iteration of a flow, in microseconds, by process. */
export interface Cost {
  id: string;
  what: string;
  /** The gateway, or the server that replaces it. */
  gateway: Figure;
  postgres: Figure;
  generator: Figure;
}

export interface Curve {
  id: string;
  title: string;
  x: { name: string; scale: 'linear' | 'log' };
  y: string;
  series: readonly { name: string; points: readonly { x: number; y: number }[] }[];
}

/** The time of a request in the gateway's main thread: microseconds by area. */
export interface Profile {
  what: string;
  us: Readonly<Record<string, number>>;
}

/** The results of one part of the bench. */
export interface Outcome {
  lines: Line[];
  costs?: Cost[];
  curves?: Curve[];
  profiles?: Profile[];
  /** A line for each measurement that this machine cannot make, with the remedy. */
  skipped?: string[];
}

/** Means that this machine lacks something that a part needs. The message says how to get it. */
export class Missing extends Error {}

export interface PartReport {
  part: string;
  /** `skipped` if nothing of the part could be measured. */
  result: 'measured' | 'skipped' | 'failed';
  seconds: number;
  /** The reason of the failure, or the skipped measurements. */
  notes: string[];
}

export interface Run extends Required<Omit<Outcome, 'skipped'>> {
  parts: PartReport[];
  at: string;
  commit: string;
  machine: { cpu: string; cores: number; memoryGiB: number; node: string; postgres: string; redis: string };
  quick: boolean;
}

export function ratioOf(line: Line): number {
  return line.against === undefined ? line.figure.median : line.figure.median / line.against.figure.median;
}

export function isReached(line: Line): boolean | undefined {
  if (line.target === undefined) return undefined;
  const ratio = ratioOf(line);
  return ratio >= (line.target.least ?? -Infinity) && ratio <= (line.target.most ?? Infinity);
}

export function targetText({ target, against }: Line): string {
  if (target === undefined) return '';
  const times = against === undefined ? '' : ' ×';
  return target.least !== undefined ? `≥ ${target.least}${times}` : `≤ ${target.most}${times}`;
}

/** Formats a number with three digits, or a whole number with separated thousands. */
export function round(value: number): string {
  if (Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en');
  return size === 0 ? '0' : size >= 10 ? value.toFixed(1) : size >= 1 ? value.toFixed(2) : value.toPrecision(2);
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const withSpread = ({ median, spread }: Figure, unit = ''): string => `${round(median)}${unit} ±${percent(spread)}`;

function markdown(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns the lines as a Markdown table. */
export function table(lines: readonly Line[]): string {
  const rows = lines.map((line) => [
    line.what,
    withSpread(line.figure, ` ${line.unit}`),
    line.against === undefined ? '' : `${line.against.what}: ${withSpread(line.against.figure)}`,
    line.against === undefined ? '' : ratioOf(line).toFixed(2),
    `${targetText(line)}${isReached(line) === false ? ': **missed**' : ''}`,
  ]);
  return markdown(['Work', 'Measured', 'Set against', 'Ratio', 'Target'], rows);
}

/** Returns the processor time per process, and the rate of a core that only runs the gateway, as a Markdown table. */
export function costTable(costs: readonly Cost[]): string {
  const rows = costs.map(({ what, gateway, postgres, generator }) => [
    what,
    ...[gateway, postgres, generator].map((one) => withSpread(one)),
    round(gateway.median + postgres.median + generator.median),
    `${round(1e6 / gateway.median)} /s`,
  ]);
  return markdown(['Flow, µs of processor time a request', 'Gateway', 'PostgreSQL', 'Load generator', 'Total', 'A gateway core'], rows);
}

/** Returns the profiles as a Markdown table with one area per row, the largest first. */
export function profileTable(profiles: readonly Profile[]): string {
  const areas = [...new Set(profiles.flatMap(({ us }) => Object.keys(us)))];
  const total = ({ us }: Profile): number => Object.values(us).reduce((sum, one) => sum + one, 0);
  const most = (area: string): number => Math.max(...profiles.map((profile) => profile.us[area] ?? 0));
  const rows = areas
    .sort((a, b) => most(b) - most(a))
    .map((area) => [
      area,
      ...profiles.map((profile) => `${round(profile.us[area] ?? 0)} (${percent((profile.us[area] ?? 0) / total(profile))})`),
    ]);
  const totals = ['All', ...profiles.map((profile) => round(total(profile)))];
  return markdown(["The gateway's main thread, µs a request", ...profiles.map(({ what }) => what)], [...rows, totals]);
}

const noteLines = ({ part, result, notes }: PartReport): string[] =>
  notes.map((note) => `${result === 'failed' ? 'failed' : 'skipped'}: ${part}: ${note}`);

/** Formats the contribution of a part, which is printed when the part ends. */
export function partText(report: PartReport, { lines, costs = [], profiles = [] }: Outcome): string {
  return [
    `## ${report.part} (${report.result}, ${report.seconds.toFixed(0)} s)`,
    ...(lines.length === 0 ? [] : [table(lines)]),
    ...(costs.length === 0 ? [] : [costTable(costs)]),
    ...(profiles.length === 0 ? [] : [profileTable(profiles)]),
    ...(report.notes.length === 0 ? [] : [noteLines(report).join('\n')]),
  ].join('\n\n');
}

/** Formats the duration of each part, and the skipped and failed parts. */
export function summary({ parts }: Run): string {
  const times = parts.map(({ part, seconds }) => `${part} ${seconds.toFixed(0)} s`).join(', ');
  const total = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  return [`Parts: ${times} (${total.toFixed(0)} s in total)`, ...parts.flatMap(noteLines)].join('\n');
}

/** Above this share of a core, high latencies become frequent. */
const BUSY = 0.7;
/** The flows for sizing a service, by the ids of their costs. */
const SIZED = ['latest', 'latest-grant', 'by-id', 'create', 'pair'];

/** Returns the cores for rates of requests as a Markdown table, computed from processor times with cores at most 70 % busy. */
export function sizingTable(costs: readonly Cost[]): string {
  const cores = (us: number, perSecond: number): string => round((us * perSecond) / 1e6 / BUSY);
  const rows = costs
    .filter(({ id }) => SIZED.includes(id))
    .map(({ what, gateway, postgres }) => [
      what,
      `${round((BUSY * 1e6) / gateway.median)} /s`,
      `${round((BUSY * 1e6) / postgres.median)} /s`,
      cores(gateway.median, 10_000),
      cores(postgres.median, 10_000),
    ]);
  return markdown(
    ['Flow', 'A gateway', 'A core of PostgreSQL', 'Gateways for 10,000 /s', 'Cores of PostgreSQL for 10,000 /s'],
    rows,
  );
}

/** Returns whether a higher figure is better. */
function isMoreBetter({ target, unit }: Line): boolean {
  return target === undefined ? unit === '/s' : target.least !== undefined;
}

/** A smaller difference has no meaning, even with a small spread, since a figure may have only one repetition. */
const LEAST_NOISE = 0.05;

/** Returns the spread of a product or quotient of independent figures. */
const noiseOf = (...figures: readonly (Figure | undefined)[]): number =>
  Math.max(LEAST_NOISE, Math.hypot(...figures.map((one) => one?.spread ?? 0)));

interface Compared {
  before: number;
  after: number;
  noise: number;
  isMoreBetter: boolean;
}

function verdict({ before, after, noise, isMoreBetter }: Compared): string {
  const change = after / before - 1;
  if (!Number.isFinite(change)) return 'not comparable';
  if (Math.abs(change) <= noise) return `the same within the spread of ${percent(noise)}`;
  return change > 0 === isMoreBetter ? '**better**' : '**worse**';
}

const row = (what: string, compared: Compared): string[] => [
  what,
  round(compared.before),
  round(compared.after),
  percent(compared.after / compared.before - 1),
  verdict(compared),
];

/** Compares the ratios of two lines, since machines differ, or else their figures. */
function compareLines(a: Line, b: Line): string[] {
  return row(a.against === undefined ? `${a.what}, ${a.unit}` : `${a.what} : ${a.against.what}`, {
    before: ratioOf(a),
    after: ratioOf(b),
    noise: noiseOf(a.figure, a.against?.figure, b.figure, b.against?.figure),
    isMoreBetter: isMoreBetter(a),
  });
}

/** The line that normalizes processor times, since it reflects the speed of the machine. */
const YARDSTICK = 'no-op-get';

function compareCosts(a: Run, b: Run): string[][] {
  const [unitA, unitB] = [a, b].map(({ costs }) => costs.find(({ id }) => id === YARDSTICK)?.gateway);
  if (unitA === undefined || unitB === undefined) return [];
  return a.costs.flatMap((cost) => {
    const other = b.costs.find(({ id }) => id === cost.id);
    if (other === undefined || cost.id === YARDSTICK) return [];
    return (['gateway', 'postgres'] as const)
      .filter((process) => cost[process].median >= unitA.median / 10)
      .map((process) =>
        row(`${cost.what}: ${process === 'gateway' ? 'gateway' : 'PostgreSQL'} : a no-op GET`, {
          before: cost[process].median / unitA.median,
          after: other[process].median / unitB.median,
          noise: noiseOf(cost[process], unitA, other[process], unitB),
          isMoreBetter: false,
        }),
      );
  });
}

/** Compares two runs line by line, by ratios if there are any, since machines differ. */
export function comparison(a: Run, b: Run): string {
  const inBoth = a.lines.flatMap((line) => {
    const other = b.lines.find(({ id }) => id === line.id);
    return other === undefined ? [] : [compareLines(line, other)];
  });
  const onlyIn = (one: Run, other: Run): string[] =>
    one.lines.filter((line) => !other.lines.some(({ id }) => id === line.id)).map(({ what }) => what);
  const notes = [
    ...(a.quick === b.quick ? [] : ['One of the two is a quick run: its sizes are smaller.']),
    ...(a.machine.cpu === b.machine.cpu && a.machine.cores === b.machine.cores
      ? []
      : [`The machines differ: ${a.machine.cpu}, ${a.machine.cores} cores; ${b.machine.cpu}, ${b.machine.cores} cores.`]),
    ...onlyIn(a, b).map((what) => `Only in the first: ${what}.`),
    ...onlyIn(b, a).map((what) => `Only in the second: ${what}.`),
  ];
  const heads = ['Work', `${a.commit}, ${a.at.slice(0, 16)}`, `${b.commit}, ${b.at.slice(0, 16)}`, 'Change', 'Verdict'];
  return [markdown(heads, [...inBoth, ...compareCosts(a, b)]), ...notes].join('\n');
}
