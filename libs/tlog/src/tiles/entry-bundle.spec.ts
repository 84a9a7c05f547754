import { encodeUtf8 } from '../encoding/utf8';
import { formatEntryBundle, formatEntryBundlePath, parseEntryBundle, parseEntryBundlePath } from './entry-bundle';

const entries = ['a', '', 'bcd'].map((text) => encodeUtf8(text));

it('formatEntryBundle puts the length before each entry, as in C2SP tlog-tiles', () => {
  const bundle = formatEntryBundle(entries);
  expect(Buffer.from(bundle).toString('hex')).toBe('000161' + '0000' + '0003626364');
  expect(parseEntryBundle(bundle, 3)).toEqual(entries);
});

it('parseEntryBundle reads a view of a larger buffer', () => {
  const bundle = formatEntryBundle(entries);
  const inside = new Uint8Array(bundle.length + 7);
  inside.set(bundle, 5);
  expect(parseEntryBundle(inside.subarray(5, 5 + bundle.length), 3)).toEqual(entries);
});

it('parseEntryBundle refuses a truncated bundle and another number of entries', () => {
  const bundle = formatEntryBundle(entries);
  for (let size = 0; size < bundle.length; size += 1) {
    expect(() => parseEntryBundle(bundle.subarray(0, size), 3)).toThrow(expect.objectContaining({ code: 'malformed' }));
  }
  for (const width of [1, 2, 4]) {
    expect(() => parseEntryBundle(bundle, width)).toThrow(expect.objectContaining({ code: 'malformed' }));
  }
});

it('entry bundles accept at most 65,535 bytes per entry and 256 entries', () => {
  const longest = new Uint8Array(0xffff).fill(1);
  expect(parseEntryBundle(formatEntryBundle([longest]), 1)).toEqual([longest]);
  const outOfRange = expect.objectContaining({ code: 'out_of_range' });
  expect(() => formatEntryBundle([new Uint8Array(0x10000)])).toThrow(outOfRange);
  const widest = Array.from({ length: 256 }, (_, at) => Uint8Array.of(at));
  expect(parseEntryBundle(formatEntryBundle(widest), 256)).toEqual(widest);
  expect(() => formatEntryBundle([...widest, Uint8Array.of(0)])).toThrow(outOfRange);
  expect(() => formatEntryBundle([])).toThrow(outOfRange);
});

it.each([
  ['tile/entries/000', { index: 0, width: 256 }],
  ['tile/entries/x001/x234/067', { index: 1_234_067, width: 256 }],
  ['tile/entries/x001/234.p/5', { index: 1234, width: 5 }],
])('reads and writes the path %s', (path, bundle) => {
  expect(parseEntryBundlePath(path)).toEqual(bundle);
  expect(formatEntryBundlePath(bundle)).toBe(path);
});

it.each([
  'tile/0/000',
  'tile/entries/0',
  'tile/entries/000.p/256',
  'tile/entries/000.p/0',
  'tile/entries/x000/001',
  'tile/entries/',
])('refuses the path %s', (path) => {
  expect(() => parseEntryBundlePath(path)).toThrow(expect.objectContaining({ name: 'TlogError' }));
});
