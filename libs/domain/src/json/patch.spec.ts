import { deepStrictEqual } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { DomainError, type ErrorDetail } from '../errors';
import { anyKey, jsonValues } from '../testing/json-values';
import { canonicalize } from './canonicalize';
import { jsonEquals } from './equals';
import { applyPatch, parsePatch, type PatchOperation, problemsOfPatch } from './patch';
import { isWithinDepth, type JsonValue } from './value';

const vectors = join(__dirname, '../../../../../shared/vectors/json-patch/spec_tests.json');
const hasVectors = existsSync(vectors);
if (!hasVectors) process.stdout.write('The JSON Patch vectors are absent: their tests are skipped.\n');

const json = (text: string): JsonValue => JSON.parse(text) as JsonValue;

function detailsOf(act: () => unknown): readonly ErrorDetail[] {
  try {
    act();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.code).toBe('validation_error');
    return error.details ?? [];
  }
  throw new Error('was accepted');
}

function run(document: JsonValue, patch: JsonValue): JsonValue {
  return applyPatch(document, parsePatch(patch, { at: '/patch_ops', maxOperations: 1000 }), '/patch_ops');
}

(hasVectors ? describe : describe.skip)('applyPatch and the test cases of RFC 6902', () => {
  interface Vector {
    comment?: string;
    doc: JsonValue;
    patch: JsonValue;
    expected?: JsonValue;
    error?: string;
    disabled?: boolean;
  }
  const cases = hasVectors ? (JSON.parse(readFileSync(vectors, 'utf8')) as Vector[]) : [{ doc: null, patch: [] }];

  test.each(cases.map((vector, index): [string, Vector] => [`${index} ${vector.comment ?? ''}`, vector]))(
    'agree on case %s',
    (_name, vector) => {
      const before = canonicalize(vector.doc);
      if (vector.error === undefined) {
        expect(vector.expected).toBeDefined();
        deepStrictEqual(run(vector.doc, vector.patch), vector.expected);
      } else {
        expect(detailsOf(() => run(vector.doc, vector.patch))).not.toHaveLength(0);
      }
      expect(canonicalize(vector.doc)).toBe(before);
    },
  );
});

describe('parsePatch', () => {
  const options = { at: '/patch_ops', maxOperations: 10 };

  test('returns only the members that RFC 6902 defines', () => {
    const patch = json(
      '[{"op":"add","path":"/a","value":null,"from":"/x","__proto__":{"x":1},"note":1},{"op":"remove","path":"","value":1},{"op":"move","from":"/a","path":"/b","value":2}]',
    );
    deepStrictEqual(parsePatch(patch, options), [
      { op: 'add', path: '/a', value: null },
      { op: 'remove', path: '' },
      { op: 'move', from: '/a', path: '/b' },
    ]);
    expect(parsePatch([], options)).toEqual([]);
  });

  test('lists every problem at once', () => {
    const patch = json(`[
      1, [], {}, {"op":"add","path":"/a"}, {"op":"spoil","path":"a"}, {"op":7,"path":8}, {"op":"move","path":"/~2"}, {"op":"copy","path":"/a","from":"b"},
      {"op":"test","path":"/a","value":null}, {"__proto__":{"op":"remove","path":"/a"}}
    ]`); // prettier-ignore
    expect(detailsOf(() => parsePatch(patch, options)).map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/patch_ops/0 invalid_type',
      '/patch_ops/1 invalid_type',
      '/patch_ops/2/op required',
      '/patch_ops/2/path required',
      '/patch_ops/3/value required',
      '/patch_ops/4/op unknown_operation',
      '/patch_ops/4/path invalid_pointer',
      '/patch_ops/5/op invalid_type',
      '/patch_ops/5/path invalid_type',
      '/patch_ops/6/path invalid_pointer',
      '/patch_ops/6/from required',
      '/patch_ops/7/from invalid_pointer',
      '/patch_ops/9/op required',
      '/patch_ops/9/path required',
    ]);
  });

  test('ignores inherited members', () => {
    const operation = Object.create({ value: 1 }) as { [key: string]: JsonValue };
    operation['op'] = 'add';
    operation['path'] = '/a';
    expect(detailsOf(() => parsePatch([operation], options))).toMatchObject([{ path: '/patch_ops/0/value' }]);
    for (const op of ['constructor', '__proto__', 'toString']) {
      expect(detailsOf(() => parsePatch([{ op, path: '' }], options))).toMatchObject([{ path: '/patch_ops/0/op' }]);
    }
  });

  test.each([null, {}, 'x', 1])('refuses %j', (value) => {
    expect(detailsOf(() => parsePatch(value, options))).toMatchObject([{ path: '/patch_ops', code: 'invalid_type' }]);
  });

  test('refuses an operation that is not allowed', () => {
    const patch: JsonValue = [
      { op: 'add', path: '/a', value: 1 },
      { op: 'test', path: '/a', value: 1 },
    ];
    const details = detailsOf(() => parsePatch(patch, { ...options, allowedOps: ['add', 'replace', 'remove'] }));
    expect(details).toMatchObject([{ path: '/patch_ops/1/op', message: 'Must be one of add, replace, remove.' }]);
  });

  test('reports too many operations as one problem', () => {
    const patch = Array.from({ length: 10_000 }, () => 1);
    expect(detailsOf(() => parsePatch(patch, options))).toMatchObject([
      { path: '/patch_ops', code: 'too_many_operations' },
    ]);
  });
});

describe('applyPatch with hazardous paths', () => {
  const failing: [string, JsonValue, PatchOperation, string][] = [
    ['add below inherited __proto__', {}, { op: 'add', path: '/__proto__/x', value: 1 }, 'path_not_found'],
    [
      'add below inherited constructor',
      {},
      { op: 'add', path: '/constructor/prototype/x', value: 1 },
      'path_not_found',
    ],
    [
      'add below a nested inherited constructor',
      { a: {} },
      { op: 'add', path: '/a/constructor/name', value: 1 },
      'path_not_found',
    ],
    ['replace inherited constructor', {}, { op: 'replace', path: '/constructor', value: 1 }, 'path_not_found'],
    ['replace inherited __proto__', {}, { op: 'replace', path: '/__proto__', value: {} }, 'path_not_found'],
    ['remove inherited toString', {}, { op: 'remove', path: '/toString' }, 'path_not_found'],
    ['remove below inherited prototype', {}, { op: 'remove', path: '/__proto__/toString' }, 'path_not_found'],
    ['copy from inherited constructor', {}, { op: 'copy', from: '/constructor', path: '/a' }, 'path_not_found'],
    ['move from inherited __proto__', {}, { op: 'move', from: '/__proto__', path: '/a' }, 'path_not_found'],
    ['test inherited member', {}, { op: 'test', path: '/constructor/name', value: 'Object' }, 'test_failed'],
    ['test array length', [1], { op: 'test', path: '/length', value: 1 }, 'test_failed'],
    ['add below array length', [1], { op: 'add', path: '/length/x', value: 1 }, 'path_not_found'],
    ...['01', '-1', '+1', '1e0', 'length', '3', '99999999999999999999', '1.0', ' 1', '', '٣', '__proto__'].flatMap(
      (index): [string, JsonValue, PatchOperation, string][] => [
        [
          `add at index ${JSON.stringify(index)}`,
          { a: [1, 2] },
          { op: 'add', path: `/a/${index}`, value: 1 },
          'index_out_of_range',
        ],
        [
          `replace at index ${JSON.stringify(index)}`,
          { a: [1, 2] },
          { op: 'replace', path: `/a/${index}`, value: 1 },
          'path_not_found',
        ],
        [
          `remove at index ${JSON.stringify(index)}`,
          { a: [1, 2] },
          { op: 'remove', path: `/a/${index}` },
          'path_not_found',
        ],
      ],
    ),
    ['replace past the end', { a: [1, 2] }, { op: 'replace', path: '/a/2', value: 1 }, 'path_not_found'],
    ['replace -', { a: [1, 2] }, { op: 'replace', path: '/a/-', value: 1 }, 'path_not_found'],
    ['remove -', { a: [1, 2] }, { op: 'remove', path: '/a/-' }, 'path_not_found'],
    ['copy from -', { a: [1, 2] }, { op: 'copy', from: '/a/-', path: '/b' }, 'path_not_found'],
    ['remove with a bad escape', { '~2': 1 }, { op: 'remove', path: '/~2' }, 'invalid_pointer'],
    ['remove without a leading slash', { a: 1 }, { op: 'remove', path: 'a' }, 'invalid_pointer'],
    ['copy with a bad escape in from', { '~2': 1 }, { op: 'copy', from: '/~2', path: '/a' }, 'invalid_pointer'],
    ['add below a scalar', { a: 'text' }, { op: 'add', path: '/a/0', value: 1 }, 'path_not_found'],
    ['add below null', { a: null }, { op: 'add', path: '/a/b', value: 1 }, 'path_not_found'],
    ['add below a scalar root', 7, { op: 'add', path: '/a', value: 1 }, 'path_not_found'],
    ['add without a parent', {}, { op: 'add', path: '/a/b', value: 1 }, 'path_not_found'],
    ['remove a missing member', {}, { op: 'remove', path: '/a' }, 'path_not_found'],
    ['remove the root', {}, { op: 'remove', path: '' }, 'root_removed'],
    ['move into own child', { a: { b: {} } }, { op: 'move', from: '/a', path: '/a/b/c' }, 'invalid_move'],
    ['move the root into itself', { a: 1 }, { op: 'move', from: '', path: '/b' }, 'invalid_move'],
    ['move a missing member onto itself', {}, { op: 'move', from: '/a', path: '/a' }, 'path_not_found'],
    ['test with another value', { a: 1 }, { op: 'test', path: '/a', value: '1' }, 'test_failed'],
    ['test a missing member', {}, { op: 'test', path: '/a', value: null }, 'test_failed'],
  ];

  test.each(failing)('%s fails, and nothing changes', (_name, document, operation, code) => {
    const before = canonicalize(document);
    const first: PatchOperation = { op: 'test', path: '', value: json(before) };
    expect(detailsOf(() => applyPatch(document, [first, operation], '/patch_ops'))).toMatchObject([
      { path: '/patch_ops/1', code },
    ]);
    expect(canonicalize(document)).toBe(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test.each<[string, string, PatchOperation, string]>([
    ['add own __proto__', '{}', { op: 'add', path: '/__proto__', value: { x: 1 } }, '{"__proto__":{"x":1}}'],
    [
      'add below own __proto__',
      '{"__proto__":{}}',
      { op: 'add', path: '/__proto__/x', value: 1 },
      '{"__proto__":{"x":1}}',
    ],
    ['replace own __proto__', '{"__proto__":1}', { op: 'replace', path: '/__proto__', value: {} }, '{"__proto__":{}}'],
    ['remove own __proto__', '{"__proto__":1,"a":2}', { op: 'remove', path: '/__proto__' }, '{"a":2}'],
    [
      'copy own __proto__',
      '{"__proto__":{"__proto__":1}}',
      { op: 'copy', from: '/__proto__', path: '/a' },
      '{"__proto__":{"__proto__":1},"a":{"__proto__":1}}',
    ],
    [
      'move own constructor',
      '{"constructor":{"prototype":1}}',
      { op: 'move', from: '/constructor', path: '/length' },
      '{"length":{"prototype":1}}',
    ],
    ['add constructor', '{}', { op: 'add', path: '/constructor', value: 1 }, '{"constructor":1}'],
    ['add the empty key', '{}', { op: 'add', path: '/', value: 1 }, '{"":1}'],
    ['add at the end', '[1,2]', { op: 'add', path: '/2', value: 3 }, '[1,2,3]'],
    ['add at -', '[1,2]', { op: 'add', path: '/-', value: 3 }, '[1,2,3]'],
    ['add - to an object', '{}', { op: 'add', path: '/-', value: 3 }, '{"-":3}'],
    [
      'add at index 10 of ten',
      '[0,0,0,0,0,0,0,0,0,0]',
      { op: 'add', path: '/10', value: 1 },
      '[0,0,0,0,0,0,0,0,0,0,1]',
    ],
    [
      'replace with escaped names',
      '{"a/b":{"m~n":1}}',
      { op: 'replace', path: '/a~1b/m~0n', value: 2 },
      '{"a/b":{"m~n":2}}',
    ],
    ['replace the root', '{"a":1}', { op: 'replace', path: '', value: [] }, '[]'],
    ['add the root', '{"a":1}', { op: 'add', path: '', value: null }, 'null'],
    ['move a member to the root', '{"a":{"b":1}}', { op: 'move', from: '/a', path: '' }, '{"b":1}'],
    ['copy the root into itself', '{"a":1}', { op: 'copy', from: '', path: '/b' }, '{"a":1,"b":{"a":1}}'],
    ['copy into its own child', '{"a":{"b":1}}', { op: 'copy', from: '/a', path: '/a/c' }, '{"a":{"b":1,"c":{"b":1}}}'],
    ['move onto itself', '{"a":[1,2]}', { op: 'move', from: '/a/1', path: '/a/1' }, '{"a":[1,2]}'],
    ['move the root onto itself', '{"a":1}', { op: 'move', from: '', path: '' }, '{"a":1}'],
    [
      'move to a sibling whose name has the same prefix',
      '{"a":1,"ab":{}}',
      { op: 'move', from: '/a', path: '/ab/c' },
      '{"ab":{"c":1}}',
    ],
    ['move within an array', '[1,2,3]', { op: 'move', from: '/0', path: '/2' }, '[2,3,1]'],
    [
      'test with another order of keys',
      '{"a":{"b":1,"c":[2]}}',
      { op: 'test', path: '/a', value: { c: [2], b: 1 } },
      '{"a":{"b":1,"c":[2]}}',
    ],
    ['test with other spellings of numbers', '[1.0,1e2,0]', { op: 'test', path: '', value: [1, 100, -0] }, '[1,100,0]'],
  ])('%s succeeds', (_name, document, operation, expected) => {
    const before = json(document);
    deepStrictEqual(json(canonicalize(applyPatch(before, [operation]))), json(expected));
    deepStrictEqual(before, json(document));
  });

  test('a failed second operation leaves the document unchanged', () => {
    const document = { a: { b: [1] } };
    const patch: PatchOperation[] = [
      { op: 'add', path: '/a/b/-', value: 2 },
      { op: 'remove', path: '/a/c' },
    ];
    expect(detailsOf(() => applyPatch(document, patch, '/ops'))).toMatchObject([
      { path: '/ops/1', code: 'path_not_found' },
    ]);
    expect(document).toEqual({ a: { b: [1] } });
  });
});

describe('applyPatch and shared values', () => {
  test('a later operation does not change an earlier value, the patch or the document', () => {
    const shared = { n: [1] };
    const document = { base: { n: [0] } };
    const patch: PatchOperation[] = [
      { op: 'add', path: '/x', value: shared },
      { op: 'add', path: '/y', value: shared },
      { op: 'add', path: '/x/n/-', value: 2 },
      { op: 'copy', from: '/x', path: '/z' },
      { op: 'add', path: '/z/n/-', value: 3 },
      { op: 'copy', from: '/base', path: '/copy' },
      { op: 'replace', path: '/copy/n/0', value: 9 },
      { op: 'move', from: '/y', path: '/moved' },
      { op: 'add', path: '/moved/n/-', value: 4 },
      { op: 'add', path: '/x/n/-', value: 5 },
    ];
    const before = canonicalize(patch);
    const once = applyPatch(document, patch);
    expect(once).toEqual({
      base: { n: [0] },
      x: { n: [1, 2, 5] },
      z: { n: [1, 2, 3] },
      copy: { n: [9] },
      moved: { n: [1, 4] },
    });
    expect(document).toEqual({ base: { n: [0] } });
    expect(canonicalize(patch)).toBe(before);
    expect(applyPatch(document, patch)).toEqual(once);
  });

  test('values that no operation touches are shared, not copied', () => {
    const document = { a: { big: [1, 2, 3] }, b: { n: 1 } };
    const result = applyPatch(document, [{ op: 'replace', path: '/b/n', value: 2 }]) as typeof document;
    expect(result.a).toBe(document.a);
    expect(result.b).not.toBe(document.b);
  });
});

describe('the limits of applyPatch', () => {
  test('copies that double the document are refused, and the operation is named', () => {
    const patch = Array.from({ length: 1000 }, (_, i): PatchOperation => ({ op: 'copy', from: '', path: `/k${i}` }));
    const [detail] = detailsOf(() => applyPatch({ a: [1, 2, 3] }, patch, '/patch_ops'));
    expect(detail).toMatchObject({ code: 'too_large' });
    expect(Number(detail?.path.replace('/patch_ops/', ''))).toBeLessThan(25);
  });

  test('long strings and keys count as copied', () => {
    const copies: PatchOperation[] = [1, 2, 3].map((i) => ({ op: 'copy', from: '/a', path: `/b${i}` }));
    const long = 'x'.repeat(400_000);
    expect(detailsOf(() => applyPatch({ a: long }, copies))).toMatchObject([{ path: '/2', code: 'too_large' }]);
    expect(detailsOf(() => applyPatch({ a: { [long]: 1 } }, copies))).toMatchObject([
      { path: '/2', code: 'too_large' },
    ]);
  });

  test('a thousand ordinary copies are accepted', () => {
    const patch = Array.from({ length: 1000 }, (_, i): PatchOperation => ({ op: 'copy', from: '/a', path: `/k${i}` }));
    expect(Object.keys(applyPatch({ a: [1, 2, 3] }, patch) as object)).toHaveLength(1001);
  });

  const deep = (depth: number): JsonValue => json('['.repeat(depth) + ']'.repeat(depth));
  const limits = { maxDepth: 4, maxCopied: 1000 };
  test.each<[string, JsonValue, PatchOperation[], number]>([
    ['add', { a: {} }, [{ op: 'add', path: '/a/b', value: deep(3) }], 0],
    ['replace', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: deep(3) }], 0],
    ['replace of the root', 1, [{ op: 'replace', path: '', value: deep(5) }], 0],
    ['copy', { a: deep(2) }, [{ op: 'copy', from: '', path: '/a/0/0' }], 0],
    [
      'move',
      { a: deep(3), b: { c: {} } },
      [
        { op: 'add', path: '/x', value: 1 },
        { op: 'move', from: '/a', path: '/b/c/d' },
        { op: 'remove', path: '/x' },
      ],
      1,
    ],
  ])('%s beyond the depth is refused', (_name, document, operations, index) => {
    const [detail] = detailsOf(() => applyPatch(document, operations, '', limits));
    expect(detail).toMatchObject({ path: `/${index}`, code: 'too_deep' });
  });

  test('add and move up to the depth are accepted', () => {
    expect(applyPatch({ a: {} }, [{ op: 'add', path: '/a/b', value: deep(2) }], '', limits)).toEqual({
      a: { b: [[]] },
    });
    expect(applyPatch({ a: deep(2), b: {} }, [{ op: 'move', from: '/a', path: '/b/a' }], '', limits)).toEqual({
      b: { a: [[]] },
    });
  });

  const chain = (depth: number): JsonValue => json('{"":'.repeat(depth) + '1' + '}'.repeat(depth));
  const chained = (moves: number): PatchOperation[] =>
    Array.from({ length: moves + 1 }, (_, at) => '/' + 'n'.repeat(62 * (moves - at) + 1)).flatMap((path, at, paths) => [
      { op: 'add', path, value: chain(60) },
      ...(at === 0 ? [] : [{ op: 'move' as const, from: paths[at - 1]!, path: path + '/'.repeat(60) }]),
    ]);

  test.each([1, 20, 110])('%i moves of deep values to shorter names are refused at the last move', (moves) => {
    const [detail] = detailsOf(() => applyPatch({}, chained(moves), '/patch_ops'));
    expect(detail).toMatchObject({ path: `/patch_ops/${2 * moves}`, code: 'too_deep' });
    expect(detail?.message).toContain('more than 64 levels deep at "/n///');
  });

  test('a move beyond the depth is refused, even if a later operation changes the value', () => {
    const patch: PatchOperation[] = [
      { op: 'move', from: '/a', path: '/c/a' },
      { op: 'add', path: '/c/a/x', value: 1 },
    ];
    const [detail] = detailsOf(() => applyPatch({ a: { b: {} }, c: {} }, patch, '', { maxDepth: 3 }));
    expect(detail).toMatchObject({ path: '/0', code: 'too_deep', message: expect.stringContaining('at "/c/a/b"') });
  });

  test('a document may exceed the depth between operations', () => {
    const back: PatchOperation[] = [{ op: 'move', from: '/n' + '/'.repeat(60), path: '/n' }];
    expect(isWithinDepth(applyPatch({}, [...chained(1), ...back]), 64)).toBe(true);
    expect(isWithinDepth(applyPatch({}, [...chained(110), { op: 'replace', path: '/n', value: 1 }]), 64)).toBe(true);
  });

  test('a stored document beyond the depth can be patched in other places', () => {
    const document = { old: deep(3_000), a: { b: {} }, c: [1] };
    const patch: PatchOperation[] = [
      { op: 'move', from: '/c', path: '/a/b/c' },
      { op: 'replace', path: '/old' + '/0'.repeat(100), value: 1 },
    ];
    expect(detailsOf(() => applyPatch(document, [{ op: 'copy', from: '/old', path: '/new' }]))).toMatchObject([{ path: '/0', code: 'too_deep' }]);
    expect(detailsOf(() => applyPatch(document, [{ op: 'move', from: '/old', path: '/a/b/c' }]))).toMatchObject([{ path: '/0', code: 'too_deep' }]);
    expect(applyPatch(document, patch)).toMatchObject({ a: { b: { c: [1] } } });
  }); // prettier-ignore

  test('shifted elements are counted and limited', () => {
    const list = Array.from({ length: 1000 }, (_, index) => index);
    const patch: PatchOperation[] = [
      { op: 'remove', path: '/list/200' },
      { op: 'add', path: '/list/-', value: 1 },
      { op: 'add', path: '/list/400', value: 1 },
      { op: 'move', from: '/list/999', path: '/list/0' },
    ];
    const shifted = 800 + 0 + 600 + 2 + 1000;
    expect(applyPatch({ list }, patch, '', { maxShifted: shifted })).toMatchObject({ list: { length: 1001 } });
    const [detail] = detailsOf(() => applyPatch({ list }, patch, '', { maxShifted: shifted - 1 }));
    expect(detail).toMatchObject({ path: '/3', code: 'too_large' });
    expect(detail?.message).toContain(`more than ${shifted - 1} times`);
  });

  test('copies of objects with large integer keys need no extra memory', () => {
    const list = json(`[${'{"1000":0},'.repeat(2_000)}0]`);
    const before = process.memoryUsage().heapUsed;
    const copies = Array.from({ length: 10 }, (_, at): PatchOperation => ({ op: 'copy', from: '/list', path: `/c${at}` }));
    const result = applyPatch({ list }, copies);
    // Space for the preceding elements would be 240 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(120_000_000);
    expect(result).toHaveProperty('c9', list);
  }); // prettier-ignore

  test('a failure names the operation, and shortens the paths', () => {
    const long = '/k'.repeat(100_000);
    const [detail] = detailsOf(() => applyPatch({}, [{ op: 'move', from: long, path: long + '/x' }], '/patch_ops'));
    expect(detail?.message).toContain(`from "${'/k'.repeat(127)}/…" to "${'/k'.repeat(127)}/…"`);
    expect(JSON.stringify(detail).length).toBeLessThan(1000);
    expect(detailsOf(() => parsePatch(Array.from({ length: 1000 }, () => ({})), { at: '', maxOperations: 1000 }))).toHaveLength(100);
  }); // prettier-ignore

  test('10,000 operations on one array are accepted', () => {
    const patch = Array.from({ length: 10_000 }, (_, i): PatchOperation => ({ op: 'add', path: '/list/0', value: i }));
    expect((applyPatch({ list: [] }, patch) as { list: number[] }).list.slice(0, 2)).toEqual([9999, 9998]);
  });
});

describe('problemsOfPatch', () => {
  const document = { list: [{ n: 0 }, { n: 1 }, { n: 2 }], name: { given: 'A' }, other: 1 };
  test.each<[string, PatchOperation[], string, string]>([
    ['no operation', [], '/other', ''],
    ['an operation on another path', [{ op: 'add', path: '/new', value: 1 }], '/other', ''],
    ['a value that was set twice', [{ op: 'replace', path: '/other', value: 1 }, { op: 'replace', path: '/other', value: 2 }], '/other', '/1'],
    ['a value whose parent was replaced', [{ op: 'replace', path: '/name', value: {} }, { op: 'add', path: '/name/family', value: 'B' }], '/name/given', '/0'],
    ['an object that lost a member', [{ op: 'test', path: '/other', value: 1 }, { op: 'remove', path: '/name/given' }], '/name', '/1'],
    ['a removed value', [{ op: 'remove', path: '/name/given' }, { op: 'remove', path: '/other' }], '/name/given', '/0'],
    ['a value that was moved away', [{ op: 'move', from: '/name', path: '/moved' }], '/name', '/0'],
    ['a value at the target of a move', [{ op: 'move', from: '/name', path: '/moved' }], '/moved/given', '/0'],
    ['a value at the target of a copy', [{ op: 'copy', from: '/list/0', path: '/list/-' }], '/list/3/n', '/0'],
    ['an element that later insertions moved', [{ op: 'replace', path: '/list/1/n', value: 'x' }, { op: 'add', path: '/list/0', value: {} }, { op: 'add', path: '/list/3', value: {} }], '/list/2/n', '/0'],
    ['an element that a later removal moved', [{ op: 'replace', path: '/list/2/n', value: 'x' }, { op: 'remove', path: '/list/0' }], '/list/1/n', '/0'],
    ['an inserted element', [{ op: 'add', path: '/list/1', value: {} }, { op: 'remove', path: '/list/0' }], '/list/0/n', '/0'],
    ['an element that no operation changed', [{ op: 'add', path: '/list/1', value: {} }, { op: 'remove', path: '/list/0' }], '/list/1/n', ''],
    ['a member with a numeric name', [{ op: 'add', path: '/name/1', value: 1 }, { op: 'remove', path: '/name/given' }], '/name/1', '/0'],
    ['a replaced root', [{ op: 'replace', path: '', value: {} }], '/x', '/0'],
    ['a shortened path', [{ op: 'add', path: '/name/' + 'x'.repeat(300), value: 1 }], `/name/${'x'.repeat(249)}…`, '/0'],
  ])('returns the operation that caused the problem: %s', (_name, operations, path, operation) => {
    const problem = { path, message: 'is wrong', code: 'wrong' };
    expect(problemsOfPatch([problem], document, operations, '/patch_ops')).toEqual([
      { path: `/patch_ops${operation}`, message: `in the result, ${path} is wrong`, code: 'wrong' },
    ]);
  });
}); // prettier-ignore

describe('jsonEquals', () => {
  function reversed(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.map(reversed);
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).reverse();
    return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]));
  }

  test('agrees with a comparison of the canonical texts', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), jsonValues(anyKey), (a, b) => {
        expect(jsonEquals(a, b)).toBe(canonicalize(a) === canonicalize(b));
        expect(jsonEquals(a, reversed(a))).toBe(true);
      }),
    );
  });

  test.each<[string, string]>([
    ['{}', '[]'],
    ['{"0":1}', '[1]'],
    ['[]', 'null'],
    ['{"a":1}', '{"b":1}'],
    ['{"a":1}', '{"a":1,"b":1}'],
    ['{"__proto__":{}}', '{"a":{}}'],
    ['{"toString":1}', '{}'],
    ['[1,2]', '[2,1]'],
    ['1', '"1"'],
    ['0', 'false'],
    ['"é"', '"e\u0301"'],
  ])('%s and %s differ', (a, b) => {
    expect(jsonEquals(json(a), json(b))).toBe(false);
    expect(jsonEquals(json(b), json(a))).toBe(false);
  });
});
