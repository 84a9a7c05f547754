const CLAUSE =
  /^(WITH(?! ORDINALITY)|SELECT|FROM|WHERE|(LEFT |CROSS )?JOIN|ORDER|LIMIT|OFFSET|INSERT|UPDATE|DELETE|SET|VALUES|ON CONFLICT|RETURNING|GROUP|FOR|UNION)\b/;
const TABLE = /^(\), )?\w+ AS (MATERIALIZED )?\($/;

const WIDTH = 110;
/** The places at which a long line may break. */
const BREAK = / (?=(FROM|WHERE|AND|ORDER BY|LIMIT|RETURNING|WHEN|LEFT JOIN) )/g;

/** Formats a statement: no empty lines, and an indentation by the open parentheses before each line. */
export function readable(sql: string): string {
  const lines: string[] = [];
  let depth = 0;
  for (const line of sql.split('\n').flatMap((text) => broken(text.trim()))) {
    if (line === '') continue;
    const closes = /^\)*/.exec(line)?.[0].length ?? 0;
    const isContinued = closes === 0 && !CLAUSE.test(line) && !TABLE.test(line);
    lines.push('  '.repeat(Math.max(0, depth - closes) + (isContinued && lines.length > 0 ? 1 : 0)) + line);
    depth += balanceOf(line);
  }
  return lines.join('\n');
}

function broken(line: string): string[] {
  const breaks = [...line.matchAll(BREAK)].map(({ index }) => index);
  const at = breaks.findLast((index) => index <= WIDTH) ?? breaks[0];
  if (line.length <= WIDTH || at === undefined) return [line];
  return [line.slice(0, at), ...broken(line.slice(at + 1))];
}

/** Returns how many more parentheses a line opens than it closes, outside of literals and quoted names. */
function balanceOf(line: string): number {
  const bare = line.replaceAll(/'[^']*'|"[^"]*"/g, '');
  return bare.split('(').length - bare.split(')').length;
}
