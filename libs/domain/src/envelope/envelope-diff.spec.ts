import * as fc from 'fast-check';
import { canonicalize } from '../json/canonicalize';
import { applyPatch } from '../json/patch';
import { parseJsonText } from '../json/parse';
import type { JsonValue } from '../json/value';
import { anyKey, jsonValues, plainKey } from '../testing/json-values';
import {
  attributeChanges,
  changedPaths,
  DIFF_ROOTS,
  type DiffRoot,
  diffEnvelopes,
  summarizeChanges,
  withinRoots,
} from './envelope-diff';

const envelopes = fc
  .tuple(jsonValues(plainKey), jsonValues(anyKey), jsonValues(anyKey))
  .map(([subject, attributes, extra]): JsonValue => ({ subject, attributes, snapshot_version: 1, extra }));
const REF = { evidence_id: 'e', evidence_type: 't' };
const includes = fc.subarray<DiffRoot>([...DIFF_ROOTS], { minLength: 1 });

test('any two envelopes: the operations turn one into the other within the roots, by pointers into the envelope', () => {
  fc.assert(
    fc.property(envelopes, envelopes, includes, (from, to, include) => {
      const operations = diffEnvelopes(from, to, include);
      const patched = applyPatch(withinRoots(from, include), operations);
      expect(canonicalize(patched)).toBe(canonicalize(withinRoots(to, include)));
      // On the whole envelope they touch nothing else.
      const whole = applyPatch(from, operations);
      expect(canonicalize(withinRoots(whole, include))).toBe(canonicalize(patched));
      const outside: DiffRoot[] = (['/attributes', '/subject'] as const).filter((root) => !include.includes(root));
      if (!include.includes('/')) {
        expect(canonicalize(withinRoots(whole, outside))).toBe(canonicalize(withinRoots(from, outside)));
      }
    }),
    { numRuns: 1000 },
  );
});

test('only the included roots are looked at', () => {
  const from: JsonValue = { subject: { a: 1 }, attributes: { b: 1 }, extra: 1 };
  const to: JsonValue = { subject: { a: 2 }, attributes: { b: 2 }, extra: 2 };
  const paths = (...include: DiffRoot[]): string[] => diffEnvelopes(from, to, include).map(({ path }) => path);
  expect(paths('/subject')).toEqual(['/subject/a']);
  expect(paths('/attributes')).toEqual(['/attributes/b']);
  expect(paths('/', '/subject')).toEqual(['/attributes/b', '/extra', '/subject/a']);
});

test('changes are counted by kind, and a path that several operations name once', () => {
  const operations = diffEnvelopes({ attributes: { a: 1, l: [1, 2, 3] } }, { attributes: { b: 1, a: 2, l: [3] } }, [
    '/attributes',
  ]);
  expect(changedPaths(operations)).toEqual(['/attributes/a', '/attributes/b', '/attributes/l/0']);
  expect(summarizeChanges(operations)).toEqual({ total_ops: 4, adds: 1, removes: 2, replaces: 1, paths_changed: 3 });
  expect(summarizeChanges([])).toEqual({ total_ops: 0, adds: 0, removes: 0, replaces: 0, paths_changed: 0 });
});

test.each<[string, JsonValue, JsonValue, boolean]>([
  ['the same references', [REF], [REF], true],
  ['the same in another order of members', [REF], [{ evidence_type: 't', evidence_id: 'e' }], true],
  ['another reference', [REF], [{ ...REF, evidence_id: 'f' }], false],
  ['the same with another role', [REF], [{ ...REF, role: 'corroborating' }], false],
  ['one more', [REF], [REF, { ...REF, evidence_id: 'f' }], false],
  ['none before', null, [REF], false],
  ['none any more', [REF], null, false],
  ['none at all', null, null, false],
  ['lists that name nothing', [], [], false],
])('a change says whether its evidence stayed what it was: %s', (_, before, after, isUnchanged) => {
  const at = (refs: JsonValue): JsonValue => ({ attribute_paths: refs === null ? null : { '/attributes/a': refs } });
  const [item] = attributeChanges(['/attributes/a'], at(before), at(after));
  expect(item).toEqual({
    path: '/attributes/a',
    from: before,
    to: after,
    ...(isUnchanged ? { evidence_unchanged: true } : {}),
  });
});

test('attribution is that of exactly the path, by own keys', () => {
  const refs = [{ evidence_id: 'e', evidence_type: 't' }];
  const withPaths = (paths: JsonValue): JsonValue => ({ attribute_paths: paths });
  const from = withPaths({ '/attributes/a': refs, '/attributes/a/b': [] });
  expect(attributeChanges(['/attributes/a', '/attributes/a/b/c', 'constructor'], from, withPaths({}))).toEqual([
    { path: '/attributes/a', from: refs, to: null },
    { path: '/attributes/a/b/c', from: null, to: null },
    { path: 'constructor', from: null, to: null },
  ]);
  const inherited = parseJsonText('{"__proto__":{"attribute_paths":{"/attributes/a":[]}}}');
  expect(attributeChanges(['/attributes/a'], inherited, {})).toEqual([{ path: '/attributes/a', from: null, to: null }]);
});
