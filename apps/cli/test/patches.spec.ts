import { applyPatch, type JsonValue, parseStoredJson, type PatchOperation } from '@iss/domain';
import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { anyKey, jsonValues } from '../../../libs/domain/src/testing/json-values';
import { runs } from '../../../tools/testing/runs';
import { replay } from '../src/audit/facts/patches';

const escape = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Lists every place in the document, the whole one first. */
function placesIn(value: JsonValue, at = ''): string[] {
  const children = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  return [at, ...children.flatMap(([name, child]) => placesIn(child, at + escape(name)))];
}

/** Copies a value, so that neither side changes what the other reads. `JSON.parse` can return a wrong key. */
const copyOf = (value: unknown): JsonValue => parseStoredJson(JSON.stringify(value));

function outcomeOf(document: JsonValue, ops: PatchOperation[]): { result: JsonValue } | 'refused' {
  try {
    return { result: applyPatch(document, ops, '', { maxDepth: 400 }) };
  } catch {
    return 'refused';
  }
}

/** There are more elements than the stack of rfc6902's own comparison allows. */
const LONG: JsonValue = Array(50_000).fill(1);

const choice = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test' as const),
  from: fc.nat(),
  to: fc.nat(),
  isBelow: fc.boolean(),
  name: anyKey,
  value: jsonValues(anyKey),
});

it('replay applies random operations like the service, or returns that rfc6902 misreads them', () => {
  const seen = { applied: 0, refused: 0, misread: 0 };
  fc.assert(
    fc.property(jsonValues(anyKey), fc.array(choice, { minLength: 1, maxLength: 4 }), (document, choices) => {
      const places = placesIn(document);
      const ops = choices.map(({ op, from, to, isBelow, name, value }): PatchOperation => {
        const path = (places[to % places.length] ?? '') + (isBelow ? escape(name) : '');
        // The service allows no operation to replace the whole envelope.
        const place = path === '' && op !== 'test' ? '/a' : path;
        if (op === 'copy' || op === 'move') return { op, path: place, from: places[from % places.length] ?? '' };
        return op === 'remove' ? { op, path: place } : { op, path: place, value };
      });
      const expected = outcomeOf(document, ops);
      const replayed = copyOf(document);
      const outcome = replay(replayed, ops.map(copyOf));
      seen[outcome]++;
      if (outcome === 'misread') {
        expect(JSON.stringify([document, ops])).toMatch(/__proto__|constructor|prototype/);
        return;
      }
      expect(outcome).toBe(expected === 'refused' ? 'refused' : 'applied');
      if (expected !== 'refused') expect(isDeepStrictEqual(replayed, copyOf(expected.result))).toBe(true);
    }),
    { numRuns: runs(20_000) },
  );
  expect(Math.min(seen.applied, seen.refused, seen.misread)).toBeGreaterThan(runs(20));
});

it.each<[string, JsonValue, JsonValue[], JsonValue]>([
  [
    'constructor in the middle of a path as misread',
    { constructor: { a: 1 }, a: 2 },
    [{ op: 'replace', path: '/constructor/a', value: 3 }],
    'misread',
  ],
  [
    'constructor at the end of a path',
    { a: 1 },
    [{ op: 'add', path: '/constructor', value: 3 }],
    { a: 1, constructor: 3 },
  ],
  ['an inherited name as missing', { a: 1 }, [{ op: 'replace', path: '/toString', value: 3 }], 'refused'],
  [
    'an own member with an inherited name',
    { toString: 1 },
    [{ op: 'replace', path: '/toString', value: 3 }],
    { toString: 3 },
  ],
  ['the length of an array as missing', { a: [1, 2] }, [{ op: 'replace', path: '/a/length', value: 0 }], 'refused'],
  ['an index beyond an array as refused', { a: [1], b: 2 }, [{ op: 'copy', from: '/b', path: '/a/7' }], 'refused'],
  [
    'a move that shifts its target',
    { a: [1, {}, { b: 2 }] },
    [{ op: 'move', from: '/a/0', path: '/a/1/c' }],
    { a: [{}, { b: 2, c: 1 }] },
  ],
  ['a move into itself as refused', { a: [{}, {}] }, [{ op: 'move', from: '/a/0', path: '/a/0/c' }], 'refused'],
  ['a long array', { a: LONG }, [{ op: 'test', path: '/a', value: LONG }], { a: LONG }],
  [
    'copies that double the size as refused',
    { a: ['x'.repeat(1_000)] },
    Array(40).fill({ op: 'copy', from: '/a', path: '/a/0' }),
    'refused',
  ],
  [
    'copies of more text than the service allows as refused',
    { a: 'x'.repeat(2 ** 20) },
    Array.from({ length: 65 }, (_, index) => ({ op: 'copy', from: '/a', path: `/b${index}` })),
    'refused',
  ],
  ['an unknown operation as refused', {}, [{ op: 'put', path: '/a' }], 'refused'],
])('replay handles %s', (_name, document, ops, expected) => {
  const replayed = copyOf(document);
  const outcome = replay(replayed, ops.map(copyOf));
  expect(outcome === 'applied' ? replayed : outcome).toEqual(expected);
});
