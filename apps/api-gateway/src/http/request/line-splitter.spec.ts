import { LineSplitter } from './line-splitter';

/** Returns the lines of a text that arrives in chunks of this many bytes. Null means too long. */
function linesOf(text: string, chunkBytes: number, maxBytes = 8): [number, string | null][] {
  const splitter = new LineSplitter(maxBytes);
  const bytes = Buffer.from(text);
  const lines = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    // Each chunk has its own memory, as in production.
    lines.push(...splitter.push(Buffer.from(bytes.subarray(at, at + chunkBytes))));
  }
  lines.push(...splitter.end());
  return lines.map((one) => [one.line, one.bytes === null ? null : Buffer.from(one.bytes).toString()]);
}

describe.each([1, 2, 3, 5, 1000])('LineSplitter with chunks of %i bytes', (chunkBytes) => {
  it.each<[string, [number, string | null][]]>([
    ['', []],
    ['\n\n', []],
    ['a\nbü\n', [[1, 'a'], [2, 'bü']]], // prettier-ignore
    ['a\r\nb', [[1, 'a'], [2, 'b']]], // prettier-ignore
    ['a\n\r\n \t\nb\n', [[1, 'a'], [4, 'b']]], // prettier-ignore
    ['12345678\n123456789\n1', [[1, '12345678'], [2, null], [3, '1']]], // prettier-ignore
    ['12345678\r\n12345678\r', [[1, '12345678'], [2, '12345678']]], // prettier-ignore
    [`${'x'.repeat(100)}\r\nok\n${'y'.repeat(100)}`, [[1, null], [2, 'ok'], [3, null]]], // prettier-ignore
  ])('splits %j into its lines', (text, expected) => {
    expect(linesOf(text, chunkBytes)).toEqual(expected);
  });
});

it('LineSplitter returns a line of 1 MiB that arrives byte by byte', () => {
  const splitter = new LineSplitter(1 << 20);
  const byte = Buffer.from('x');
  for (let sent = 0; sent < 1 << 20; sent += 1) splitter.push(byte);
  expect(splitter.end().map(({ bytes }) => bytes?.length)).toEqual([1 << 20]);
});
