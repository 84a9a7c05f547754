import * as fc from 'fast-check';
import { canonicalize } from '../json/canonicalize';
import { jsonEquals } from '../json/equals';
import { parseStoredJson } from '../json/parse';
import { formatPointer, getMember } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { MAX_CHANGED_PATHS_BYTES } from '../limits';
import { jsonValues } from '../testing/json-values';
import { discloseView } from '../view/view';
import { MAX_PATHS, type Visible } from '../view/paths';
import { changesBetween, shownChanges, touchesChanges } from './changed-paths';

const SECRET = Buffer.alloc(32, 7);

const between = (before: JsonObject, after: JsonObject): string[] =>
  changesBetween({ attributes: before }, { attributes: after }).map((path) => path.slice('/attributes'.length));

test.each<[what: string, before: JsonObject, after: JsonObject, paths: string[]]>([
  ['nothing for equal attributes', { a: 1 }, { a: 1.0 }, []],
  ['values that were changed, added or removed', { a: 1, b: 1, c: 1 }, { a: 2, c: 1, d: 1 }, ['/a', '/b', '/d']],
  [
    'each value of an object that was added or removed',
    { a: { b: 1 } },
    { c: { d: [], e: {} } },
    ['/a/b', '/c/d', '/c/e'],
  ],
  ['an array as a whole', { a: [{ b: 1 }, 2] }, { a: [{ b: 1 }, 3] }, ['/a']],
  ['the members of an object that replaced another value', { a: 'x', b: [1] }, { a: { c: 1 }, b: {} }, ['/a/c', '/b']],
  [
    'members of an empty object, and an object that became empty',
    { a: {}, b: { c: 1 } },
    { a: { c: 1 }, b: {} },
    ['/a/c', '/b/c'],
  ],
  ['an empty object that was added or removed', { a: {} }, { b: {} }, ['/a', '/b']],
  [
    'escaped keys, sorted',
    { 'a/b': 1, 'a~': 1, '': 1, '\u0000': 1 },
    { a: 1 },
    ['/', '/\u0000', '/a', '/a~0', '/a~1b'],
  ],
])('changesBetween returns %s', (_, before, after, paths) => expect(between(before, after)).toEqual(paths));

it('changesBetween ignores evidence and audit', () => {
  const attributes = { a: 1 };
  expect(changesBetween({ attributes, evidence: [] }, { attributes, evidence: [{ id: 'e' }], audit: {} })).toEqual([]);
});

const numbered = (count: number, value: JsonValue = 1): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (__, at) => [`k${at}`, value]));

it('changesBetween returns common parents if too many values changed', () => {
  expect(between({}, { a: numbered(MAX_PATHS) })).toHaveLength(MAX_PATHS);
  expect(between({}, { a: numbered(MAX_PATHS), b: 1 })).toEqual(['/a~', '/b']);
  const ofA = Object.keys(numbered(60)).map((key) => `/a/${key}/b`);
  expect(between({}, { a: numbered(60, { b: 1 }), b: numbered(60) })).toEqual([...ofA.sort(), '/b~']);
  expect(between({}, numbered(MAX_PATHS + 1))).toEqual(['~']);
  const long = 'x'.repeat(MAX_CHANGED_PATHS_BYTES);
  expect(between({}, { a: { [long]: 1 }, b: 1 })).toEqual(['/a~', '/b']);
});

describe('shownChanges for a reader of some paths', () => {
  const key = fc.constantFrom('a', 'b', '\u0000');
  const attributes = jsonValues(key).map((value): JsonObject => (isJsonObject(value) ? value : { a: value }));
  const visible = fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => formatPointer(['attributes', ...keys]));
  const shownOf = (version: JsonObject, path: string): JsonValue | undefined => {
    const source = { text: canonicalize({ attributes: version }), envelopeHash: '', prevHash: null, secret: SECRET };
    return getMember(parseStoredJson(discloseView({ ...source, visible: [path] }).envelope), 'attributes');
  };

  it('returns a path exactly if the visible part changed', () => {
    fc.assert(
      fc.property(attributes, attributes, visible, (before, after, path) => {
        const shown = shownChanges(changesBetween({ attributes: before }, { attributes: after }), [path]);
        expect(shown?.length === 0).toBe(jsonEquals(shownOf(before, path), shownOf(after, path)));
      }),
    );
  });

  test.each<[what: string, stored: string[] | null, visible: Visible, shown: readonly string[] | null]>([
    ['null if the changes are unknown', null, ['/attributes/a'], null],
    [
      'all changes if everything is visible',
      ['/attributes/a~', '/attributes/b'],
      null,
      ['/attributes/a', '/attributes/b'],
    ],
    [
      'the changes of visible values',
      ['/attributes/a', '/attributes/ab', '/attributes/b/c'],
      ['/attributes/a', '/attributes/b'],
      ['/attributes/a', '/attributes/b/c'],
    ],
    ['nothing for a changed value that is not a parent', ['/attributes/a', '/attributes/b'], ['/attributes/a/x'], []],
    [
      'the visible paths below a changed parent',
      ['/attributes/a~'],
      ['/attributes/a/x', '/attributes/a/y', '/attributes/b'],
      ['/attributes/a/x', '/attributes/a/y'],
    ],
    ['no member with a reserved name', ['/attributes/a/_sd', '/attributes/a/...'], ['/attributes/a'], []],
    [
      'null if the visible paths are too long',
      ['/attributes~'],
      [`/attributes/${'x'.repeat(MAX_CHANGED_PATHS_BYTES)}`],
      null,
    ],
  ])('returns %s', (_, stored, paths, shown) => expect(shownChanges(stored, paths)).toEqual(shown));
});

test.each<[wanted: string[], shown: string[] | null, touches: boolean]>([
  [['/attributes/a'], null, true],
  [['/attributes/a'], [], false],
  [['/attributes/a'], ['/attributes/a/b'], true],
  [['/attributes/a/b'], ['/attributes/a'], true],
  [['/attributes/a'], ['/attributes/ab'], false],
])('touchesChanges(%j, %j) is %p', (wanted, shown, touches) => expect(touchesChanges(wanted, shown)).toBe(touches));
