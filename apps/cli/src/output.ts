import type { CommandContext, Options, Screen } from './command';
import { hasFlag, numberOf, wholeNumber } from './command';
import { visible } from './visible';

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Functions that colour a text if the screen shows colours. */
export type Style = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

export function styleOf({ isColoured }: Screen): Style {
  const paint =
    ([on, off]: readonly [number, number]) =>
    (text: string): string =>
      isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
    cyan: paint(CODES.cyan),
  };
}

/** The cells of a row by column. */
export type Row = Readonly<Record<string, string | number | null | undefined>>;

/** Formats rows as a table. The member names are the columns. Cells are escaped, and coloured by `paint`. */
export function table(given: readonly Row[], paint: Readonly<Record<string, (text: string) => string>> = {}): string {
  const rows = given.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, visible(String(cell ?? ''))])),
  );
  const [first] = rows;
  if (first === undefined) return '';
  const names = Object.keys(first);
  const head: Readonly<Record<string, string>> = Object.fromEntries(names.map((name) => [name, name.toUpperCase()]));
  const widths = names.map((name) => Math.max(...[head, ...rows].map((line) => (line[name] ?? '').length)));
  const lineOf = (line: typeof head, painted: typeof paint): string => {
    const cells = names.map((name, index) => (line[name] ?? '').padEnd(widths[index] ?? 0));
    const last = cells.length - 1;
    return cells
      .map((cell, index) => (index === last ? cell.trimEnd() : cell))
      .map((cell, index) => (painted[names[index] ?? ''] ?? String)(cell))
      .join('  ')
      .trimEnd();
  };
  return [lineOf(head, {}), ...rows.map((row) => lineOf(row, paint))].join('\n');
}

export const JSON_OPTION = {
  json: { about: 'Print JSON: one document, or one line per item.', isShared: true },
} as const;

/** Prints one value: as JSON with `--json`, else as text. */
export function showOne<T>(options: Options, { print }: CommandContext, value: T, asText: (value: T) => string): void {
  print(hasFlag(options, 'json') ? JSON.stringify(value, null, 2) : asText(value));
}

/**
 * Prints a list: with `--json` one line per item, else a table of `asRow`, or the sentence `none` if the list is empty. Prints at
 * most `--limit` items and reports on standard error if there are more.
 */
export async function showList<T>(
  options: Options,
  { print, complain }: CommandContext,
  items: AsyncIterable<T>,
  { asRow, none, paint }: { asRow: (item: T) => Row; none: string; paint?: Parameters<typeof table>[1] },
): Promise<void> {
  const isJson = hasFlag(options, 'json');
  const most = numberOf(options, 'limit', [1, MAX_LIMIT]) ?? DEFAULT_LIMIT;
  const rows: Row[] = [];
  let count = 0;
  for await (const item of items) {
    if (count++ === most) {
      complain(`The list continues after ${most}. Use --limit N to show more.`);
      break;
    }
    if (isJson) print(JSON.stringify(item));
    else rows.push(asRow(item));
  }
  if (!isJson) print(rows.length === 0 ? none : table(rows, paint));
}

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 1_000_000;
export const LIST_OPTIONS = {
  limit: {
    value: 'N',
    about: `Maximum number of items (default: ${DEFAULT_LIMIT}).`,
    isShared: true,
    read: wholeNumber(1, MAX_LIMIT),
  },
  ...JSON_OPTION,
} as const;

/** Collects a list that is known to be short. */
export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
