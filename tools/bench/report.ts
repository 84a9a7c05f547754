import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { costPlot, curvePlot, targetPlot } from './plots.ts';
import { isReached, type Line, type Run, sizingTable, table } from './run.ts';

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

/** Returns the measured commit, and marks uncommitted changes. */
export function currentCommit(): string {
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: repositoryRoot, encoding: 'utf8' }).trim();
  try {
    const commit = git('rev-parse', '--short', 'HEAD');
    return git('status', '--porcelain', 'apps', 'libs') === '' ? commit : `${commit} with changes`;
  } catch {
    return 'unknown';
  }
}

function plotsOf(run: Run, name: string): { file: string; svg: string }[] {
  return [
    { file: `${name}-targets.svg`, svg: targetPlot(run.lines) },
    ...(run.costs.length === 0 ? [] : [{ file: `${name}-costs.svg`, svg: costPlot(run.costs) }]),
    ...run.curves.map((curve) => ({ file: `${name}-${curve.id}.svg`, svg: curvePlot(curve) })),
  ];
}

/** Stores the run as JSON in one step, so that a killed bench leaves a complete file. Returns its path. */
export function store(run: Run, name: string, folder = RESULTS): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.json`);
  writeFileSync(`${file}.partial`, `${JSON.stringify(run, null, 2)}\n`);
  renameSync(`${file}.partial`, file);
  return file;
}

/** Stores the plots of a run as SVG, beside its JSON. */
export function storePlots(run: Run, name: string, folder = RESULTS): void {
  for (const { file, svg } of plotsOf(run, name)) writeFileSync(join(folder, file), svg);
}

/** Reads a stored run by its name or its file. */
export function load(nameOrFile: string): Run {
  const file = nameOrFile.endsWith('.json') ? nameOrFile : join(RESULTS, `${nameOrFile}.json`);
  if (!existsSync(file)) throw new UserError(`There is no run ${nameOrFile}: ${file} does not exist.`);
  // Earlier runs have fewer kinds of results.
  return { parts: [], costs: [], profiles: [], ...JSON.parse(readFileSync(file, 'utf8')) };
}

/** Growth and memory that reached their target are only in the plots. */
function isInTable(line: Line): boolean {
  return line.target !== undefined && !(/^(growth|memory)/.test(line.id) && isReached(line) === true);
}

const [BEGIN, END] = ['<!-- bench: begin -->', '<!-- bench: end -->'];

/** Replaces the text between the marks of a page in docs/. */
function fill(page: string, lines: readonly string[]): void {
  const file = join(repositoryRoot, 'docs', page);
  const text = readFileSync(file, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${file} has no marks`);
  writeFileSync(file, `${text.slice(0, before)}${[BEGIN, '', ...lines, ''].join('\n')}${text.slice(after)}`);
}

/** Writes the run's figures with a target and its plots into docs/performance.md, and a sizing into docs/scaling.md, between their marks. */
export function document(run: Run, name: string): void {
  const { cpu, cores, memoryGiB, node, postgres, redis } = run.machine;
  const parts = run.parts.map(({ part }) => part).join(', ');
  fill('performance.md', [
    `${run.at.slice(0, 10)}, commit ${run.commit}, ${run.quick ? 'a quick run' : 'a full run'} of ${parts}, on ${cpu}, ${cores} cores, ${memoryGiB} GiB; Node ${node}, PostgreSQL ${postgres}, Redis ${redis}. \`bench/results/${name}.json\` has all figures.`,
    '',
    table(run.lines.filter(isInTable)),
    '',
    ...plotsOf(run, name).map(({ file }) => `![${file}](../bench/results/${file})`),
  ]);
  if (run.costs.length > 0) fill('scaling.md', [sizingTable(run.costs)]);
}
