import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import canonicalizeReference from 'canonicalize';
import * as fc from 'fast-check';
import { DomainError } from '../errors';
import { anyKey, jsonValues } from '../testing/json-values';
import { canonicalize } from './canonicalize';
import { parseJson } from './parse';
import type { JsonValue } from './value';
import { runs } from '../../../../tools/testing/runs';

const vectors = join(__dirname, '../../../../../shared/vectors/jcs');
const hasVectors = existsSync(vectors);
if (!hasVectors) process.stdout.write('The RFC 8785 vectors are absent: their tests are skipped.\n');

(hasVectors ? describe : describe.skip)('canonicalize and the vectors of RFC 8785', () => {
  const names = hasVectors ? readdirSync(join(vectors, 'input')).map((file) => file.replace('.json', '')) : [''];

  test.each(names)('agree on %s', (name) => {
    const text = canonicalize(parseJson(readFileSync(join(vectors, 'input', `${name}.json`))));
    expect(text).toBe(readFileSync(join(vectors, 'output', `${name}.json`), 'utf8'));
    const hex = readFileSync(join(vectors, 'outhex', `${name}.txt`), 'utf8').replace(/\s+/g, '');
    expect(Buffer.from(text).toString('hex')).toBe(hex);
  });
});

/** Generates the number sequence of the json-canonicalization test data, whose first values are listed in its README. */
function* numbers(staticValues: readonly bigint[]): Generator<number> {
  yield* new Float64Array(BigUint64Array.from(staticValues).buffer);
  yield* new Float64Array(
    BigUint64Array.from({ length: 2000 }, (_, index) => 0x0010000000000000n + BigInt(index)).buffer,
  );
  for (let block = Buffer.alloc(32); ;) {
    block = createHash('sha256').update(block).digest();
    for (let at = 0; at < 32; at += 8) {
      const value = block.readDoubleLE(at);
      if (value !== 0 && Number.isFinite(value)) yield value;
    }
  }
}

(hasVectors ? test : test.skip)(
  'canonicalize agrees with 100,000 numbers of the json-canonicalization test data',
  () => {
    const readme = readFileSync(join(vectors, 'README.upstream.md'), 'utf8');
    const listed = readme.slice(readme.indexOf('staticU64s'), readme.indexOf('])')).match(/0x[0-9a-f]{16}(?=n)/g) ?? [];
    const checksums = new Map(
      [...readme.matchAll(/^\| ([0-9a-f]{64}) \| (\d+) /gm)].map(([, sum, lines]) => [Number(lines), sum]),
    );
    const hash = createHash('sha256');
    const bits = new DataView(new ArrayBuffer(8));
    const compared: number[] = [];
    let count = 0;
    for (const value of numbers(listed.map(BigInt))) {
      bits.setFloat64(0, value);
      hash.update(`${bits.getBigUint64(0).toString(16)},${canonicalize(value)}\n`);
      count++;
      if (count === 1000 || count === 10_000 || count === 100_000) {
        expect(hash.copy().digest('hex')).toBe(checksums.get(count));
        compared.push(count);
      }
      if (count === 100_000) break;
    }
    expect(compared).toEqual([1000, 10_000, 100_000]);
  },
);

describe('canonicalize with any JSON value', () => {
  test('returns the text of an independent implementation', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), (value) => {
        // The reference only calls toJSON if it is a function, and JSON has none.
        expect(canonicalize(value)).toBe(canonicalizeReference(value));
      }),
      { numRuns: runs(2000) },
    );
  });

  test('returns a text that is its own canonical form', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), (value) => {
        const text = canonicalize(value);
        expect(canonicalize(parseJson(new TextEncoder().encode(text)))).toBe(text);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('returns the same text beside integer keys as beside other keys', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), (value) => {
        // In a JavaScript object, an integer key always precedes other keys.
        expect(canonicalize({ '-': 0, '1': value })).toBe(`{"-":0,"1":${canonicalize(value)}}`);
        expect(canonicalize({ '-': 0, a: value })).toBe(`{"-":0,"a":${canonicalize(value)}}`);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('does not change the value', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), (value) => {
        const before = JSON.stringify(value);
        canonicalize(value);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });

  test('returns a text that parses to the same double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parseJson(new TextEncoder().encode(canonicalize(value)))).toBe(value === 0 ? 0 : value);
      }),
      { numRuns: runs(20_000) },
    );
  });
});

test.each<[string, JsonValue, string]>([
  ['minus zero', -0, '0'],
  ['UTF-16 order, not code point order', { '\ufb33': 1, '😂': 2 }, '{"😂":2,"\ufb33":1}'],
  ['integer keys as text', { '10': 1, '9': 2, '1': 3 }, '{"1":3,"10":1,"9":2}'],
  ['many keys', Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${49 - i}`, 0])), `{${Array.from({ length: 50 }, (_, i) => `"k${i}":0`).sort().join(',')}}`],
  ['own __proto__', JSON.parse('{"b":1,"__proto__":{"a":2}}') as JsonValue, '{"__proto__":{"a":2},"b":1}'],
  ['control characters', '\u0000\b\t\n\f\r\u001f\u007f\u2028"\\/', '"\\u0000\\b\\t\\n\\f\\r\\u001f\u007f\u2028\\"\\\\/"'],
  ['text that looks like an escaped surrogate', '\\ud800', '"\\\\ud800"'],
  ['composed and decomposed keys', { é: 1, 'e\u0301': 2 }, '{"e\u0301":2,"é":1}'],
  ['empty arrays and objects', [[], {}, '', [[]]], '[[],{},"",[[]]]'],
])('canonicalize handles %s', (_name, value, text) => expect(canonicalize(value)).toBe(text)); // prettier-ignore

test('canonicalize escapes every character below U+0100 as JSON.stringify does', () => {
  for (let code = 0; code < 0x100; code++) {
    const string = String.fromCharCode(code);
    expect(canonicalize(string)).toBe(JSON.stringify(string));
  }
});

test('canonicalize does not call toJSON', () => {
  const value = { toJSON: () => 'replaced' } as unknown as JsonValue;
  expect(() => canonicalize(value)).toThrow(DomainError);
  expect(canonicalize({ toJSON: 'x' })).toBe('{"toJSON":"x"}');
});

test('canonicalize leaves inherited members out', () => {
  expect(canonicalize(Object.assign(Object.create({ inherited: 1 }) as object, { own: 2 }) as JsonValue)).toBe(
    '{"own":2}',
  );
});

test.each([
  NaN,
  Infinity,
  -Infinity,
  '\ud800',
  'a\udc00',
  { '\ud800': 1 },
  [undefined],
  { a: undefined },
  undefined,
  1n,
])('canonicalize refuses %p', (value) => {
  expect(() => canonicalize(value as JsonValue)).toThrow(DomainError);
});

test('canonicalize handles more keys than its cache holds', () => {
  const at = Array.from({ length: 10_000 }, (_, index) => index);
  const texts = at.map((index) => canonicalize({ [`key "${index}"`]: index }));
  expect(texts).toEqual(at.map((index) => `{"key \\"${index}\\"":${index}}`));
});
