import * as fc from 'fast-check';
import { formatPointer } from '../json/pointer';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { jsonEquals } from '../json/equals';
import { jsonValues, plainKey } from '../testing/json-values';
import { decodeOrigins, encodeOrigins, type LeafOrigin } from './origins';
import { listProvenance, type LeafProvenance } from './provenance';
import { isEvidenceMissing, traceChanges, traceVersion } from './trace';

const REF = { evidence_id: 'ev-1', evidence_type: 'extract' };
const ITEM = { ...REF, source: 'register', captured_at: '2026-01-01T00:00:00Z' };
const OTHER = { evidence_id: 'ev-2', evidence_type: 'extract' };
const OTHER_ITEM = { ...OTHER, source: 'passport', captured_at: '2026-02-01T00:00:00Z' };

interface Version {
  attributes: JsonObject;
  evidence?: JsonValue[];
  attribute_paths?: JsonObject;
}

function envelope({ attributes, evidence = [ITEM], attribute_paths = {} }: Version, by = 'alice'): JsonObject {
  return { attributes, evidence, attribute_paths, audit: { created_by: by } };
}

/** Returns the origins of the last of these versions. Each version is traced back to the previous one. */
function traced(versions: readonly JsonObject[]): Uint8Array | null {
  let origins: Uint8Array | null = null;
  versions.forEach((version, at) => {
    const base = versions[at - 1];
    if (base !== undefined) ({ origins } = traceVersion(base, origins, version, at + 1));
  });
  return origins;
}

function leavesOf(versions: readonly JsonObject[]): readonly LeafProvenance[] {
  const text = JSON.stringify(versions.at(-1));
  return listProvenance({
    text,
    origins: traced(versions),
    path: '/attributes',
    status: null,
    evidenceId: null,
    revoked: [],
    shown: null,
    from: 0,
    limit: 1e6,
    maxBytes: 1e9,
  }).leaves;
}

/** Returns `path since status` for each leaf. */
const lines = (...versions: readonly Version[]): string[] =>
  leavesOf(versions.map((version) => envelope(version))).map(
    ({ path, sinceVersion, status }) => `${path.slice('/attributes'.length)} ${sinceVersion} ${status}`,
  );

describe('sinceVersion', () => {
  test.each<[string, JsonObject[], string[]]>([
    ['values of the first version', [{ a: 1, b: { c: [1, {}] } }], ['/a 1', '/b/c/0 1', '/b/c/1 1']],
    ['a version without attributes', [{ a: 1 }, {}], []],
    ['a changed value', [{ a: 1, b: 1 }, { a: 1, b: 2 }], ['/a 1', '/b 2']],
    ['an added value', [{ a: 1 }, { a: 1, b: 2 }], ['/a 1', '/b 2']],
    ['a value removed and added again', [{ a: 1, b: 1 }, { a: 1 }, { a: 1, b: 1 }], ['/a 1', '/b 3']],
    ['a value changed and changed back', [{ a: 1 }, { a: 2 }, { a: 1 }], ['/a 3']],
    ['a value replaced by an object and restored', [{ a: 1 }, { a: { b: 1 } }, { a: 1 }], ['/a 3']],
    ['empty arrays and objects', [{ a: [] }, { a: {} }, { a: {} }, { a: [] }], ['/a 4']],
    ['an emptied object', [{ a: { b: 1 } }, { a: {} }], ['/a 2']],
    ['elements after an inserted one', [{ a: ['x', 'y'] }, { a: ['new', 'x', 'y'] }], ['/a/0 2', '/a/1 1', '/a/2 1']],
    ['elements after a removed one', [{ a: ['x', 'y', 'z'] }, { a: ['y', 'z'] }], ['/a/0 1', '/a/1 1']],
    ['swapped elements', [{ a: ['x', 'y'] }, { a: ['y', 'x'] }], ['/a/0 1', '/a/1 1']],
    ['two swapped elements in the middle', [{ a: [1, 2, 3, 4] }, { a: [1, 3, 2, 4] }], ['/a/0 1', '/a/1 1', '/a/2 1', '/a/3 1']],
    ['an element changed in place', [{ a: [{ i: 1, v: 1 }, { i: 2, v: 1 }] }, { a: [{ i: 1, v: 2 }, { i: 2, v: 1 }] }],
      ['/a/0/i 1', '/a/0/v 2', '/a/1/i 1', '/a/1/v 1']],
    ['an element moved and changed',
      [{ a: [{ i: 1, n: 'x', v: 1 }, { i: 2, n: 'y', v: 1 }, { i: 3, n: 'z', v: 1 }] }, { a: [{ i: 3, n: 'z', v: 2 }, { i: 1, n: 'x', v: 1 }, { i: 2, n: 'y', v: 1 }] }],
      ['/a/0/i 1', '/a/0/n 1', '/a/0/v 2', '/a/1/i 1', '/a/1/n 1', '/a/1/v 1', '/a/2/i 1', '/a/2/n 1', '/a/2/v 1']],
    ['two swapped elements with changed values',
      [{ a: [{ i: 1, n: 'x', v: 1 }, { i: 2, n: 'y', v: 2 }] }, { a: [{ i: 2, n: 'y', v: 3 }, { i: 1, n: 'x', v: 4 }] }],
      ['/a/0/i 1', '/a/0/n 1', '/a/0/v 2', '/a/1/i 1', '/a/1/n 1', '/a/1/v 2']],
    ['an element replaced by another one',
      [{ a: [{ i: 1, n: 'x', v: 1 }, { i: 2, n: 'y', v: 1 }] }, { a: [{ i: 3, n: 'z', v: 1 }, { i: 2, n: 'y', v: 1 }] }],
      ['/a/0/i 2', '/a/0/n 2', '/a/0/v 1', '/a/1/i 1', '/a/1/n 1', '/a/1/v 1']],
    ['a duplicate of an element', [{ a: ['x'] }, { a: ['x', 'x'] }], ['/a/0 1', '/a/1 2']],
    ['an element moved to another array', [{ a: ['x'], b: [] }, { a: [], b: ['x'] }], ['/a 2', '/b/0 2']],
    ['keys that look like numbers', [{ '10': 1, '9': 1, a: 1 }, { '10': 1, '9': 2, a: 1 }], ['/10 1', '/9 2', '/a 1']],
  ])('is the version of the last change: %s', (_, versions, expected) => {
    const found = lines(...versions.map((attributes) => ({ attributes })));
    expect(found).toEqual(expected.map((line) => `${line} none`));
  }); // prettier-ignore
});

describe('the status of evidence', () => {
  const named = (path: string, ...refs: JsonValue[]): JsonObject => ({ [`/attributes${path}`]: refs });

  test.each<[string, Version[], string[]]>([
    ['is current for a path with a reference', [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) }], ['/a 1 current']],
    ['is none for a path without a reference', [{ attributes: { a: 1, b: 1 }, attribute_paths: named('/a', REF) }], ['/a 1 current', '/b 1 none']],
    ['is missing if one reference names no item', [{ attributes: { a: 1 }, attribute_paths: named('/a', REF, OTHER) }], ['/a 1 missing']],
    ['is missing if the item has another type', [{ attributes: { a: 1 }, attribute_paths: named('/a', { ...REF, evidence_type: 'x' }) }], ['/a 1 missing']],
    ['is carried if only the value changed',
      [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) }, { attributes: { a: 2 }, attribute_paths: named('/a', REF) }], ['/a 2 carried']],
    ['stays carried', [1, 2, 2].map((a) => ({ attributes: { a }, attribute_paths: named('/a', REF) })), ['/a 2 carried']],
    ['is current again after the references change',
      [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) }, { attributes: { a: 2 }, attribute_paths: named('/a', REF) },
        { attributes: { a: 2 }, attribute_paths: named('/a', { ...REF, role: 'corroborating' }) }], ['/a 2 current']],
    ['is current again after the item changes',
      [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) }, { attributes: { a: 2 }, attribute_paths: named('/a', REF) },
        { attributes: { a: 2 }, attribute_paths: named('/a', REF), evidence: [{ ...ITEM, source: 'anew' }] }], ['/a 2 current']],
    ['is current if value and references change together',
      [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) },
        { attributes: { a: 2 }, attribute_paths: named('/a', OTHER), evidence: [ITEM, OTHER_ITEM] }], ['/a 2 current']],
    ['is carried if only unrelated evidence is added',
      [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) },
        { attributes: { a: 2 }, attribute_paths: named('/a', REF), evidence: [OTHER_ITEM, ITEM] }], ['/a 2 carried']],
    ['is none below a path with an empty list',
      [{ attributes: { a: { b: 1 }, c: 1 }, attribute_paths: { '/attributes': [REF], '/attributes/a': [] } }], ['/a/b 1 none', '/c 1 current']],
    ['comes from the nearest parent path',
      [{ attributes: { a: { b: 1, c: 1 } }, attribute_paths: { '/attributes/a': [REF], '/attributes/a/b': [OTHER] } }], ['/a/b 1 missing', '/a/c 1 current']],
    ['can come from the root path', [{ attributes: { a: 1 }, attribute_paths: { '': [REF] } }], ['/a 1 current']],
    ['is carried for a value added below an attributed path',
      [{ attributes: { a: { b: 1 } }, attribute_paths: named('/a', REF) }, { attributes: { a: { b: 1, c: 1 } }, attribute_paths: named('/a', REF) }],
      ['/a/b 1 current', '/a/c 2 carried']],
    ['is carried for a value removed and added again',
      [{ attributes: { a: 1 }, attribute_paths: named('/a', REF) }, { attributes: {}, attribute_paths: named('/a', REF) },
        { attributes: { a: 1 }, attribute_paths: named('/a', REF) }], ['/a 3 carried']],
    ['moves with its element',
      [{ attributes: { a: ['x', 'y'] }, attribute_paths: named('/a/0', REF) }, { attributes: { a: ['n', 'x', 'y'] }, attribute_paths: named('/a/1', REF) }],
      ['/a/0 2 none', '/a/1 1 current', '/a/2 1 none']],
    ['is carried for an element inserted at an attributed index',
      [{ attributes: { a: ['x', 'y'] }, attribute_paths: named('/a/0', REF) }, { attributes: { a: ['n', 'x', 'y'] }, attribute_paths: named('/a/0', REF) }],
      ['/a/0 2 carried', '/a/1 1 none', '/a/2 1 none']],
    ['is carried for an element that moves to an attributed index',
      [{ attributes: { a: ['x', 'y'] }, attribute_paths: { ...named('/a/0', REF), ...named('/a/1', OTHER) }, evidence: [ITEM, OTHER_ITEM] },
        { attributes: { a: ['y'] }, attribute_paths: named('/a/0', REF), evidence: [ITEM, OTHER_ITEM] }], ['/a/0 1 carried']],
  ])('%s', (_, versions, expected) => {
    expect(lines(...versions)).toEqual(expected);
  }); // prettier-ignore

  test('comes with the items, their roles and the unresolved references', () => {
    const attribute_paths = named('/a', { ...REF, role: 'primary' }, REF, { ...REF, role: 'primary' }, OTHER, OTHER);
    const [leaf] = leavesOf([envelope({ attributes: { a: 1 }, attribute_paths })]);
    expect(JSON.parse(leaf?.evidence ?? '')).toEqual([{ ...ITEM, role: 'primary' }, ITEM]);
    expect(JSON.parse(leaf?.unresolved ?? '')).toEqual([OTHER]);
  });

  test('is flagged by traceVersion if missing or carried', () => {
    const base = envelope({ attributes: { a: 1 }, attribute_paths: named('/a', REF) });
    const flags = (version: Version): unknown => {
      const { hasMissing, hasCarried } = traceVersion(base, null, envelope(version), 2);
      return { hasMissing, hasCarried };
    };
    const paths = { attribute_paths: named('/a', REF) };
    expect(flags({ attributes: { a: 1 }, ...paths })).toEqual({ hasMissing: false, hasCarried: false });
    expect(flags({ attributes: { a: 2 }, ...paths })).toEqual({ hasMissing: false, hasCarried: true });
    expect(flags({ attributes: { a: 2 }, ...paths, evidence: [] })).toEqual({ hasMissing: true, hasCarried: false });
    expect(flags({ attributes: {}, ...paths, evidence: [] })).toEqual({ hasMissing: false, hasCarried: false });
  });

  test.each<[string, Version, boolean]>([
    ['all references resolve', { attributes: { a: [{ b: 1 }] }, attribute_paths: named('/a', REF) }, false],
    ['one reference does not resolve', { attributes: { a: [{ b: 1 }] }, attribute_paths: named('/a/0/b', OTHER) }, true],
    ['the reference covers no value', { attributes: { a: [1] }, attribute_paths: named('/b', OTHER) }, false],
    ['the nearest reference resolves', { attributes: { a: [1] }, attribute_paths: { ...named('', OTHER), ...named('/a', REF) } }, false],
    ['the unresolved reference covers the whole envelope', { attributes: { a: [1] }, attribute_paths: { '': [OTHER] } }, true],
    ['the envelope has no values', { attributes: {}, attribute_paths: { '': [OTHER] } }, false],
  ])('is checked by isEvidenceMissing in a first version: %s', (_, version, isMissing) => {
    expect(isEvidenceMissing(envelope(version))).toBe(isMissing);
    expect(lines(version).some((line) => line.endsWith('missing'))).toBe(isMissing);
  }); // prettier-ignore
});

describe('the author of a version', () => {
  test.each<[string, JsonValue, string]>([
    ['is returned unchanged', 'oidc:dev#alice', '"oidc:dev#alice"'],
    ['is returned with an escaped NUL', 'a\u0000b', '"a\\u0000b"'],
    ['is cut after 1,023 characters', 'x'.repeat(2000), JSON.stringify(`${'x'.repeat(1023)}…`)],
    ['is empty if absent', null, '""'],
  ])('%s', (_, by, expected) => {
    const next = { attributes: {}, audit: { created_by: by } };
    expect(traceVersion(envelope({ attributes: {} }, 'bob'), null, next, 2)).toMatchObject({
      changedBy: expected,
      baseChangedBy: '"bob"',
    });
  });
});

describe('the pages of listProvenance', () => {
  const version = envelope({ attributes: { a: [1, 2, { b: 3 }], c: { d: 4, e: 5 }, f: 6 } });
  const page = (path: string, from: number, limit: number, maxBytes = 1e6) => {
    const { leaves, next } = listProvenance({
      text: JSON.stringify(version),
      origins: null,
      path,
      status: null,
      evidenceId: null,
      revoked: [],
      shown: null,
      from,
      limit,
      maxBytes,
    });
    return [leaves.map((leaf) => leaf.path.slice('/attributes'.length)), next];
  };

  test.each<[string, number, number, unknown]>([
    ['/attributes', 0, 3, [['/a/0', '/a/1', '/a/2/b'], 3]],
    ['/attributes', 3, 3, [['/c/d', '/c/e', '/f'], null]],
    ['/attributes', 3, 2, [['/c/d', '/c/e'], 5]],
    ['/attributes/c', 0, 9, [['/c/d', '/c/e'], null]],
    ['/attributes/c', 4, 9, [['/c/e'], null]],
    ['/attributes/c/e', 0, 9, [['/c/e'], null]],
    ['/attributes/a/2', 0, 9, [['/a/2/b'], null]],
  ])('list %s from leaf %i with a limit of %i', (path, from, limit, expected) => {
    expect(page(path, from, limit)).toEqual(expected);
  });

  test('end at the byte limit, after at least one leaf', () => {
    expect(page('/attributes', 1, 9, 1)).toEqual([['/a/1'], 2]);
  });

  test.each(['/attributes/x', '/attributes/a/3', '/attributes/a/-', '/attributes/f/g'])(
    'refuse the missing path %s',
    (path) => {
      expect(() => page(path, 0, 9)).toThrow('nothing at path');
    },
  );
});

/** Computes "git blame" for documents without arrays independently: the last version in which each path got its value. */
function blame(versions: readonly JsonObject[]): Record<string, number> {
  const leaves = (value: JsonValue, path: string): [string, JsonValue][] =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? Object.keys(value).flatMap((key) => leaves(value[key]!, path + formatPointer([key])))
      : [[path, value]];
  const chain = versions.map((version) => new Map(Object.keys(version).length === 0 ? [] : leaves(version, '')));
  const since: Record<string, number> = {};
  for (const [path, value] of chain.at(-1) ?? []) {
    let at = chain.length - 1;
    while (at > 0 && chain[at - 1]!.has(path) && jsonEquals(chain[at - 1]!.get(path), value)) at--;
    since[path] = at + 1;
  }
  return since;
}

/** Documents of objects and scalar values. Arrays become one value. */
const document = fc
  .array(fc.tuple(plainKey, jsonValues(plainKey)), { maxLength: 4 })
  .map((entries): JsonObject =>
    JSON.parse(
      JSON.stringify(Object.fromEntries(entries), (_, value: unknown) =>
        Array.isArray(value) ? JSON.stringify(value) : value,
      ),
    ),
  );

test('sinceVersion agrees with a walk over the whole chain', () => {
  fc.assert(
    fc.property(fc.array(document, { minLength: 1, maxLength: 8 }), (chain) => {
      const versions = chain.map((attributes) => envelope({ attributes }));
      const found = leavesOf(versions).map((leaf) => [leaf.path.slice('/attributes'.length), leaf.sinceVersion]);
      expect(Object.fromEntries(found)).toEqual(blame(chain));
    }),
  );
});

/** Elements that are identified by their ids and never change. */
const list = fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 10 });

test('moved elements of an array keep their sinceVersion', () => {
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 8 }), (chain) => {
      const versions = chain.map((ids) => envelope({ attributes: { a: ids.map((id) => ({ id })), z: 0 } }));
      const found = leavesOf(versions).map((leaf) => leaf.sinceVersion);
      const last = chain.at(-1) ?? [];
      const since = last.map((id) => {
        let at = chain.length - 1;
        while (at > 0 && chain[at - 1]!.includes(id)) at--;
        return at + 1;
      });
      if (last.length > 0) expect(found).toEqual([...since, 1]);
    }),
  );
});

function changedLeaves(from: JsonValue, to: JsonValue): number[] {
  const changed: number[] = [];
  const ignore = (): void => undefined;
  traceChanges(from, to, { changed: (leaf) => void changed.push(leaf), shifted: ignore, reduced: ignore });
  return changed;
}

test('traceVersion marks exactly the changed leaves of any two documents', () => {
  const anyDocument = fc
    .array(fc.tuple(plainKey, jsonValues(plainKey)), { maxLength: 4 })
    .map((e): JsonObject => Object.fromEntries(e));
  fc.assert(
    fc.property(anyDocument, anyDocument, (one, other) => {
      const [from, to] = [envelope({ attributes: one }), envelope({ attributes: other })];
      expect(changedLeaves(from, from)).toEqual([]);
      const changed = changedLeaves(from, to);
      const origins = leavesOf([from, to]).map(({ sinceVersion }) => sinceVersion);
      expect(origins.flatMap((since, index) => (since === 2 ? [index] : []))).toEqual(changed);
    }),
  );
});

const origin = fc.record<LeafOrigin>({
  sinceVersion: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  isCarried: fc.boolean(),
});

test('decodeOrigins reverses encodeOrigins, and refuses another number of leaves', () => {
  fc.assert(
    fc.property(fc.array(origin, { maxLength: 40 }), (origins) => {
      const bytes = encodeOrigins(origins);
      expect(decodeOrigins(bytes, origins.length)).toEqual(origins);
      expect(() => decodeOrigins(bytes, origins.length + 1)).toThrow('not those of');
      if (origins.length > 0) expect(() => decodeOrigins(bytes, origins.length - 1)).toThrow('not those of');
    }),
  );
  expect(() => decodeOrigins(Uint8Array.of(0x80), 1)).toThrow('within a number');
});

test('one change among 5,000 leaves is encoded in a few bytes', () => {
  const attributes = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]));
  const [from, to] = [envelope({ attributes }), envelope({ attributes: { ...attributes, k2500: 'x' } })];
  expect(traceVersion(from, null, to, 10_000).origins.length).toBeLessThan(12);
});

test('listProvenance lists only the visible leaves, with their origins', () => {
  const versions = [
    envelope({ attributes: { a: 1, b: { c: 1, hidden: 1 }, d: [1, 2], hidden: [1] } }),
    envelope({ attributes: { a: 1, b: { c: 2, hidden: 2 }, d: [1, 2], hidden: [1] } }),
  ];
  const shown = JSON.stringify(envelope({ attributes: { b: { c: 2 }, d: [1, 2] } }));
  const request = { text: JSON.stringify(versions[1]), shown, origins: traced(versions), path: '/attributes' };
  const page = (from: number) =>
    listProvenance({ ...request, from, limit: 2, maxBytes: 1e6, status: null, evidenceId: null, revoked: [] });
  const short = ({ path, sinceVersion }: LeafProvenance): string => `${path} ${sinceVersion}`;
  expect(page(0).leaves.map(short)).toEqual(['/attributes/b/c 2', '/attributes/d/0 1']);
  expect(page(page(0).next!).leaves.map(short)).toEqual(['/attributes/d/1 1']);
  expect(page(0).changedBy).toBeNull();
  expect(() =>
    listProvenance({
      ...request,
      path: '/attributes/a',
      from: 0,
      limit: 9,
      maxBytes: 1e6,
      status: null,
      evidenceId: null,
      revoked: [],
    }),
  ).toThrow(expect.objectContaining({ code: 'not_found' }));
});
