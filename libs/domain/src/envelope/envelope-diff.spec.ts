import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { canonicalize } from '../json/canonicalize';
import { applyPatch } from '../json/patch';
import { parseJsonText, parseStoredJson } from '../json/parse';
import { DIFF_BUDGET } from '../limits';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { anyKey, jsonValues, plainKey } from '../testing/json-values';
import {
  attributeChanges,
  operationPaths,
  DIFF_ROOTS,
  type DiffRoot,
  diffEnvelopes,
  diffTexts,
  summarizeChanges,
  withinRoots,
} from './envelope-diff';
import { IS_FULL, runs } from '../../../../tools/testing/runs';

const envelopes = fc
  .tuple(jsonValues(plainKey), jsonValues(anyKey), jsonValues(anyKey))
  .map(([subject, attributes, extra]): JsonValue => ({ subject, attributes, snapshot_version: 1, extra }));
const REF = { evidence_id: 'e', evidence_type: 't' };
const includes = fc.subarray<DiffRoot>([...DIFF_ROOTS], { minLength: 1 });

test('diffEnvelopes turns any envelope into any other within the included roots', () => {
  fc.assert(
    fc.property(envelopes, envelopes, includes, (from, to, include) => {
      const operations = diffEnvelopes(from, to, include);
      const patched = applyPatch(withinRoots(from, include), operations);
      expect(canonicalize(patched)).toBe(canonicalize(withinRoots(to, include)));
      // On the whole envelope they change nothing else.
      const whole = applyPatch(from, operations);
      expect(canonicalize(withinRoots(whole, include))).toBe(canonicalize(patched));
      const outside: DiffRoot[] = (['/attributes', '/subject'] as const).filter((root) => !include.includes(root));
      if (!include.includes('/')) {
        expect(canonicalize(withinRoots(whole, outside))).toBe(canonicalize(withinRoots(from, outside)));
      }
    }),
    { numRuns: runs(1000) },
  );
});

describe('diffEnvelopes with large or deep documents', () => {
  const changed = (value: number, more: JsonValue): JsonValue => ({
    subject: { subject_id: 's', note: more },
    attributes: {
      ['k'.repeat(100_000)]: Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`m${at}`, value])),
    },
    extra: value,
  });
  const names = (operations: readonly { path: string }[]): string[] => operations.map(({ path }) => path.slice(0, 20));

  test('replaces an included root that changed, and no other root', () => {
    const [from, to] = [changed(1, 1), changed(2, 1)];
    const operations = diffEnvelopes(from, to, ['/attributes', '/subject']);
    expect(names(operations)).toEqual([`/attributes`]);
    expect(applyPatch(from, operations)).toEqual({ ...(to as object), extra: 1 });
  });

  test.each<[DiffRoot[], string[]]>([
    [
      ['/attributes', '/subject'],
      ['/attributes', '/subject'],
    ],
    [
      ['/subject', '/attributes'],
      ['/attributes', '/subject'],
    ],
    [['/subject'], ['/subject']],
    [['/'], ['']],
  ])('replaces roots that are nested too deep, with %j included', (include, paths) => {
    const deep = (value: number): JsonValue => parseStoredJson(`${'['.repeat(2000)}${value}${']'.repeat(2000)}`);
    const [from, to] = [
      { subject: deep(1), attributes: deep(1), extra: 1 },
      { subject: deep(2), attributes: deep(2), extra: 2 },
    ];
    const operations = diffEnvelopes(from, to, include);
    expect(names(operations)).toEqual(paths);
    expect(diffEnvelopes(from, { ...to, subject: from.subject }, ['/attributes', '/subject']).length).toBe(1);
    expect(diffEnvelopes(from, { subject: deep(1) }, ['/attributes', '/subject'])).toEqual([
      { op: 'remove', path: '/attributes' },
    ]);
    expect(
      diffEnvelopes({ subject: deep(1) }, { subject: deep(1), attributes: 1 }, ['/attributes', '/subject']),
    ).toEqual([{ op: 'add', path: '/attributes', value: 1 }]);
    expect(diffEnvelopes({ subject: deep(1) }, { subject: deep(2) }, ['/attributes', '/subject'])).toHaveLength(1);
  });

  test.each(IS_FULL ? [10, 10_000, 100_000] : [10, 10_000])(
    'limits the size of operations and attribution for %i members',
    (members) => {
      const envelope = (value: string): JsonValue => ({
        attributes: Object.fromEntries(Array.from({ length: members }, (_, at) => [`${'k'.repeat(100)}${at}`, value])),
        attribute_paths: { [`/attributes/${'k'.repeat(100)}0`]: [{ evidence_id: value, evidence_type: 't' }] },
      });
      const [from, to] = [envelope('a'), envelope('b')];
      const operations = diffEnvelopes(from, to, ['/attributes']);
      const attribution = attributeChanges(operationPaths(operations), from, to);
      const answer = JSON.stringify({ operations, attribution }).length;
      const [before, after] = [from, to].map((one) => JSON.stringify(one).length) as [number, number];
      expect(answer).toBeLessThan(Math.max(DIFF_BUDGET, after) + before);
    },
  );
});

test('diffEnvelopes compares only the included roots', () => {
  const from: JsonValue = { subject: { a: 1 }, attributes: { b: 1 }, extra: 1 };
  const to: JsonValue = { subject: { a: 2 }, attributes: { b: 2 }, extra: 2 };
  const paths = (...include: DiffRoot[]): string[] => diffEnvelopes(from, to, include).map(({ path }) => path);
  expect(paths('/subject')).toEqual(['/subject/a']);
  expect(paths('/attributes')).toEqual(['/attributes/b']);
  expect(paths('/', '/subject')).toEqual(['/attributes/b', '/extra', '/subject/a']);
});

test('summarizeChanges counts operations by kind, and each path once', () => {
  const operations = diffEnvelopes({ attributes: { a: 1, l: [1, 2, 3] } }, { attributes: { b: 1, a: 2, l: [3] } }, [
    '/attributes',
  ]);
  expect(operationPaths(operations)).toEqual(['/attributes/a', '/attributes/b', '/attributes/l/0']);
  expect(summarizeChanges(operations)).toEqual({ total_ops: 4, adds: 1, removes: 2, replaces: 1, paths_changed: 3 });
  expect(summarizeChanges([])).toEqual({ total_ops: 0, adds: 0, removes: 0, replaces: 0, paths_changed: 0 });
});

test.each<[string, JsonValue, JsonValue, boolean]>([
  ['the same references', [REF], [REF], true],
  ['the same reference with its members in another order', [REF], [{ evidence_type: 't', evidence_id: 'e' }], true],
  ['another reference', [REF], [{ ...REF, evidence_id: 'f' }], false],
  ['the same reference with another role', [REF], [{ ...REF, role: 'corroborating' }], false],
  ['an additional reference', [REF], [REF, { ...REF, evidence_id: 'f' }], false],
  ['no reference before', null, [REF], false],
  ['no reference after', [REF], null, false],
  ['no reference before or after', null, null, false],
  ['empty lists', [], [], false],
])('attributeChanges compares the references of a change: %s', (_, before, after, isUnchanged) => {
  const at = (refs: JsonValue): JsonValue => ({
    attributes: { a: 1 },
    attribute_paths: refs === null ? null : { '/attributes/a': refs },
  });
  const [item] = attributeChanges(['/attributes/a'], at(before), at(after)).attribution;
  expect(item).toEqual({
    path: '/attributes/a',
    from: before,
    to: after,
    ...(isUnchanged ? { evidence_unchanged: true } : {}),
  });
});

test.each<[string, JsonValue, JsonValue, boolean]>([
  ['the same item', { a: 1 }, {}, true],
  ['another item with the same id', { a: 1 }, { evidence: [{ ...REF, source: 'another' }] }, false],
  ['the same item, inherited from a parent path', { a: 1 }, { attribute_paths: { '/attributes': [REF] } }, true],
  ['the evidence of a removed value', {}, {}, false],
])('attributeChanges compares the evidence of a change: %s', (_, attributes, change, isUnchanged) => {
  const evidence = [{ ...REF, source: 'register' }];
  const from = { attributes: { a: 0 }, evidence, attribute_paths: { '/attributes/a': [REF] } };
  const to = { ...from, attributes, ...(isJsonObject(change) ? change : {}) };
  const [item] = attributeChanges(['/attributes/a'], from, to).attribution;
  expect(item?.evidence_unchanged).toBe(isUnchanged ? true : undefined);
});

test('attributeChanges returns the references of exactly the path, by own keys', () => {
  const refs = [{ evidence_id: 'e', evidence_type: 't' }];
  const withPaths = (paths: JsonValue): JsonValue => ({ attribute_paths: paths });
  const from = withPaths({ '/attributes/a': refs, '/attributes/a/b': [] });
  const paths = ['/attributes/a', '/attributes/a/b/c', '/constructor'];
  expect(attributeChanges(paths, from, withPaths({}))).toEqual({
    attribution: [
      { path: '/attributes/a', from: refs, to: null },
      { path: '/attributes/a/b/c', from: null, to: null },
      { path: '/constructor', from: null, to: null },
    ],
  });
  const inherited = parseJsonText('{"__proto__":{"attribute_paths":{"/attributes/a":[]}}}');
  expect(attributeChanges(['/attributes/a'], inherited, {}).attribution).toEqual([
    { path: '/attributes/a', from: null, to: null },
  ]);
});

describe('attributeChanges with references at other paths', () => {
  const A = { evidence_id: 'a', evidence_type: 't' };
  const B = { evidence_id: 'b', evidence_type: 't' };
  const owners = (shares: [id: string, share: number][], attribute_paths: JsonObject): JsonObject => ({
    attributes: { owners: shares.map(([id, share]) => ({ id, name: `Owner ${id}`, share })) },
    evidence: [A, B].map((reference) => ({ ...reference, source: 'register' })),
    attribute_paths,
  });
  const share = (index: number): string => `/attributes/owners/${index}/share`;

  test('returns the references of a parent path as inherited', () => {
    const from = owners([['x', 1]], { '/attributes/owners': [A] });
    const to = owners([['x', 2]], { '/attributes/owners': [A], '/attributes': [B] });
    expect(attributeChanges([share(0)], from, to)).toEqual({
      attribution: [
        {
          path: share(0),
          from: null,
          to: null,
          evidence_unchanged: true,
          inherited: { from: '/attributes/owners', to: '/attributes/owners' },
        },
      ],
      inherited_evidence: { from: { '/attributes/owners': [A] }, to: { '/attributes/owners': [A] } },
    });
  });

  test('returns the references of a moved element apart from those of its new index', () => {
    const from = owners([['x', 1], ['y', 2]], { [share(0)]: [A], [share(1)]: [B] }); // prettier-ignore
    const changed = (references: JsonValue[]): unknown =>
      attributeChanges([share(0)], from, owners([['y', 3]], { [share(0)]: references }));
    const inherited = {
      attribution: [
        { path: share(0), from: [A], to: [B], evidence_unchanged: true, inherited: { from: share(1), to: null } },
      ],
      inherited_evidence: { from: { [share(1)]: [B] }, to: {} },
    };
    expect(changed([B])).toEqual(inherited);
    // Evidence of the previous element in this place is not new for this one either.
    expect(changed([A])).toEqual({ ...inherited, attribution: [{ ...inherited.attribution[0], to: [A] }] });
    const fresh = { evidence_id: 'c', evidence_type: 't' };
    expect(changed([fresh])).toMatchObject({ attribution: [{ to: [fresh] }] });
    expect(JSON.stringify(changed([fresh]))).not.toContain('evidence_unchanged');
  });
});

test('diffTexts returns the operations with their hash, and the attribution on request', () => {
  const paths = { '/attributes/a': [REF] };
  const texts = {
    from: canonicalize({ attributes: { a: 1 }, attribute_paths: paths, extra: 1 }),
    to: canonicalize({ attributes: { a: 2 }, attribute_paths: paths, extra: 2 }),
    include: ['/attributes'] as const,
  };
  const opsText = '[{"op":"replace","path":"/attributes/a","value":2}]';
  const plain = diffTexts({ ...texts, withAttribution: false });
  expect(plain).toEqual({
    opsText,
    opsHash: createHash('sha256').update(opsText).digest('hex'),
    summary: { total_ops: 1, adds: 0, removes: 0, replaces: 1, paths_changed: 1 },
    attributionText: null,
  });
  const { attributionText } = diffTexts({ ...texts, withAttribution: true });
  expect(JSON.parse(`{${attributionText}}`)).toEqual({
    attribution: [{ path: '/attributes/a', from: [REF], to: [REF], evidence_unchanged: true }],
  });
});
