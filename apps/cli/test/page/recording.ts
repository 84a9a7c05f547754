/** A typed line and its output, with colours. */
export interface Typed {
  line: string;
  output: string;
}

/** The size of the terminal: characters per line, and visible lines. */
const COLUMNS = 128;
const ROWS = 34;
const CHARACTER_WIDTH = 7.2;
const LINE_HEIGHT = 17;
const [LEFT, TOP] = [14, 40];

/** Times in seconds: to type a character, to wait for the answer, and to read each of its lines. */
const [TYPED_S, ANSWERED_S, READ_S, READ_LINE_S, LAST_S] = [0.025, 0.25, 1.2, 0.16, 5];

const HIDDEN = ['opacity:0', 'opacity:1'];

const CLASSES: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y', 36: 'c' };

/** A row of the terminal, the time at which it appears, and the number of its characters that are typed one by one. */
interface Row {
  svg: string;
  atS: number;
  typed: number;
}

/**
 * Renders the lines one after another in a terminal, as an animated SVG. For readers who prefer no motion, the SVG
 * shows the end.
 */
export function recordingOf(lines: readonly Typed[]): string {
  const rows: Row[] = [];
  let nowS = 0.5;
  for (const { line, output } of lines) {
    for (const part of wrapped(`$ ${line}`)) {
      rows.push({ svg: `<tspan class="p">${escaped(part)}</tspan>`, atS: nowS, typed: part.length });
      nowS += part.length * TYPED_S;
    }
    nowS += ANSWERED_S;
    const printed = output.split('\n').flatMap(painted);
    for (const svg of [...printed, '']) rows.push({ svg, atS: nowS, typed: 0 });
    nowS += READ_S + printed.length * READ_LINE_S;
  }
  return svgOf(rows, nowS + LAST_S);
}

function svgOf(rows: readonly Row[], endS: number): string {
  const width = Math.round(COLUMNS * CHARACTER_WIDTH + 2 * LEFT);
  const height = ROWS * LINE_HEIGHT + TOP + 10;
  const percent = (seconds: number): string => `${((100 * seconds) / endS).toFixed(2)}%`;
  const times = [...new Set(rows.map(({ atS }) => atS))];
  const styles = times.map((atS, index) => {
    const typed = rows.find((row) => row.atS === atS)?.typed ?? 0;
    const [hidden, shown] = typed > 0 ? ['clip-path:inset(0 100% 0 0)', 'clip-path:inset(0 0 0 0)'] : HIDDEN;
    const until = percent(typed > 0 ? atS + typed * TYPED_S : atS + 0.01);
    const steps = typed > 0 ? `steps(${typed})` : 'step-end';
    return `@keyframes a${index}{0%,${percent(atS)}{${hidden}}${until},100%{${shown}}}.a${index}{animation:a${index} ${endS.toFixed(1)}s ${steps} infinite}`;
  });
  const scrolls = times
    .map((atS) => ({ atS, over: rows.filter((row) => row.atS <= atS).length - ROWS }))
    .filter(({ over }) => over > 0)
    .map(({ atS, over }) => `${percent(atS)}{transform:translateY(${-over * LINE_HEIGHT}px)}`);
  const last = Math.max(0, rows.length - ROWS) * LINE_HEIGHT;
  const text = rows.map(({ svg, atS }, index) => {
    const y = TOP + (index + 1) * LINE_HEIGHT;
    return svg === '' ? '' : `<text class="a${times.indexOf(atS)}" x="${LEFT}" y="${y}">${svg}</text>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal in which iss puts, changes, compares, explains and verifies a record">
<style>
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#d0d7de}
.p{fill:#ffffff;font-weight:600}.b{font-weight:600;fill:#ffffff}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}
@keyframes scroll{0%{transform:translateY(0)}${scrolls.join('')}100%{transform:translateY(${-last}px)}}
.scroll{animation:scroll ${endS.toFixed(1)}s step-end infinite}
${styles.join('\n')}
@media (prefers-reduced-motion:reduce){text{animation:none!important}.scroll{animation:none;transform:translateY(${-last}px)}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="18" cy="18" r="6" fill="#ff5f56"/><circle cx="38" cy="18" r="6" fill="#ffbd2e"/><circle cx="58" cy="18" r="6" fill="#27c93f"/>
<clipPath id="screen"><rect x="0" y="${TOP + 4}" width="${width}" height="${ROWS * LINE_HEIGHT + 6}"/></clipPath>
<g clip-path="url(#screen)"><g class="scroll">
${text.join('')}</g></g>
</svg>
`;
}

/** Splits a line with colours into rows of the terminal, each a list of spans. */
function painted(line: string): string[] {
  const spans: { text: string; style: string }[] = [];
  let styles: string[] = [];
  for (const [, code, text = ''] of line.matchAll(/\u001b\[(\d+)m|([^\u001b]+)/g)) {
    if (code === undefined) spans.push({ text, style: styles.join(' ') });
    else styles = CLASSES[code] === undefined ? [] : [...styles, CLASSES[code]];
  }
  const rows: string[] = [''];
  let length = 0;
  for (const { text, style } of spans) {
    for (let rest = text; rest !== '';) {
      const fitting = rest.slice(0, COLUMNS - length);
      rows.push(
        (rows.pop() ?? '') + (style === '' ? escaped(fitting) : `<tspan class="${style}">${escaped(fitting)}</tspan>`),
      );
      rest = rest.slice(fitting.length);
      length += fitting.length;
      if (rest !== '') {
        rows.push('');
        length = 0;
      }
    }
  }
  return rows;
}

function wrapped(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / COLUMNS) }, (_, index) =>
    text.slice(index * COLUMNS, (index + 1) * COLUMNS),
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
