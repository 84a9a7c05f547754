import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../root.ts';

/** Runs outside Jest, because the parsers ship as ES modules only. */
function readBlocks(file: string, text: string): [line: number, text: string][] {
  const script = `import { readBlocks } from './tools/prose/blocks.ts';
    const blocks = readBlocks(${JSON.stringify(file)}, ${JSON.stringify(text)});
    console.log(JSON.stringify(blocks.map(({ line, text }) => [line, text.trim()]).filter(([, text]) => text !== '')));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: repositoryRoot, encoding: 'utf8' }),
  );
}

it('readBlocks reads paragraphs, headings, lists and cells of Markdown, but no code blocks', () => {
  const text = '# Title\n\nOne `x`\ntwo.\n\n```\nno\n```\n\n- item\n\n| a | b |\n| - | - |\n| c | d |\n';
  expect(readBlocks('a.md', text)).toEqual([
    [1, 'Title'],
    [3, 'One Code\ntwo.'],
    [10, 'item'],
    [12, 'a'],
    [12, 'b'],
    ...['-', '-'].map((cell) => [13, cell]),
    [14, 'c'],
    [14, 'd'],
  ]);
});

it('readBlocks reads summaries and descriptions of an OpenAPI document', () => {
  const text = '{\n  "summary": "Lists \\"x\\".",\n  "title": "No",\n  "description": "One.\\n\\nTwo."\n}\n';
  expect(readBlocks('openapi.json', text)).toEqual([
    [2, 'Lists "x".'],
    [4, 'One.'],
    [4, 'Two.'],
  ]);
});

it('readBlocks reads comments, texts and titles of tests in code', () => {
  const text = `/**
 * Returns one.
 * @param b the other
 * @throws Error
 */
const a = 'no // comment'; // A remark
// First line,
// second line.
const b = 'This is a ' + \`text \${a} for\` + ' readers.';
const c = <p>A text between tags</p>;
const d = 'SELECT a FROM b WHERE c';
it.each([1])('returns %d', () => items.test('no'));
`;
  expect(readBlocks('a.tsx', text)).toEqual([
    [9, 'This is a text Code for readers.'],
    [10, 'A text between tags'],
    [12, 'returns %d'],
    [2, 'Returns one.'],
    [3, 'the other'],
    [4, 'Error'],
    [6, 'A remark'],
    [7, 'First line,\nsecond line.'],
  ]);
});
