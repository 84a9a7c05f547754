import canonicalizeOracle from 'canonicalize';
import * as fc from 'fast-check';
import { hashText } from '../chain/seal';
import { verifyStoredSnapshot } from '../chain/verify';
import { DomainError, type ErrorDetail } from '../errors';
import { DIFF_BUDGET, DIFF_OPERATION_COST, MAX_POINTER_SHOWN, MAX_RECURSION } from '../limits';
import { countValues, Counted } from '../testing/counted';
import {
  alikeJson,
  depthOf,
  editedJson,
  hostileJson,
  nearlyJsonText,
  placesIn,
  shuffled,
} from '../testing/hostile-json';
import { anyText } from '../testing/any-text';
import { fuzzing } from '../testing/fuzz';
import { anyKey, jsonValues } from '../testing/json-values';
import { canonicalize } from './canonicalize';
import { diff } from './diff';
import { applyPatch, parsePatch, problemsOfPatch } from './patch';
import { parseJsonText, parseStoredJson } from './parse';
import { formatPointer, getAt, isPointer, parsePointer, shortPointer } from './pointer';
import { isWithinDepth, type JsonObject, type JsonValue } from './value';

const fuzz = fuzzing(6);

const size = (value: JsonValue): number => Buffer.byteLength(canonicalize(value));

/** Returns the value of `act`, or the only detail of its refusal. */
function attempt<T>(act: () => T): { value: T } | { refused: ErrorDetail } {
  try {
    return { value: act() };
  } catch (error) {
    if (!(error instanceof DomainError) || error.details === undefined) throw error;
    expect(error.code).toBe('validation_error');
    expect(error.details).toHaveLength(1);
    return { refused: error.details[0]! };
  }
}

const STRICTER = ['duplicate_key', 'lone_surrogate', 'too_deep', 'number_not_carried', 'byte_order_mark'];

fuzz('parseJsonText agrees with JSON.parse, except for its stricter rules', [nearlyJsonText], (text) => {
  const outcome = attempt(() => parseJsonText(text));
  // A leading space disables the fast path.
  expect(attempt(() => parseJsonText(` ${text}`))).toEqual(
    'value' in outcome ? outcome : { refused: { ...outcome.refused, message: expect.any(String) } },
  );
  if ('value' in outcome) {
    // With an escape, `JSON.parse` may confuse a key (nodejs/node#63785). This test has found such cases.
    if (!text.includes('\\')) expect(canonicalize(outcome.value)).toBe(canonicalize(JSON.parse(text) as JsonValue));
    expect(isWithinDepth(outcome.value, 64)).toBe(true);
    return;
  }
  const { path, message, code } = outcome.refused;
  expect(path.length).toBeLessThanOrEqual(MAX_POINTER_SHOWN);
  expect(path.endsWith('…') || isPointer(path)).toBe(true);
  expect(message.length).toBeLessThan(300);
  if (!STRICTER.includes(code ?? '')) expect(() => JSON.parse(text)).toThrow();
});

fuzz(
  'canonicalize agrees with an independent implementation, and its texts verify',
  [hostileJson, fc.nat(3000), fc.boolean()],
  (value, depth, isEscaped) => {
    const text = canonicalize(value);
    expect(text).toBe(canonicalizeOracle(value));
    expect(canonicalize(shuffled(value))).toBe(text);
    expect(canonicalize(parseStoredJson(text))).toBe(text);

    const deep = `${'[{"a":'.repeat(depth)}[${isEscaped ? '"\\n",' : ''}${text}]${'}]'.repeat(depth)}`;
    const envelopeText = `{"attributes":${deep},"snapshot_id":"id","snapshot_version":1}`;
    const snapshot = { snapshotId: 'id', snapshotVersion: 1, envelopeText, prevHash: null };
    const verified = verifyStoredSnapshot('hash', { ...snapshot, envelopeHash: hashText(envelopeText) }, []);
    expect(verified.hash.valid).toBe(true);
  },
);

fuzz('parsePointer accepts exactly what isPointer accepts, and reverses formatPointer', [fc.oneof(anyText(), fc.array(anyKey).map(formatPointer)), hostileJson], (text, value) => {
  const outcome = attempt(() => parsePointer(text));
  expect('value' in outcome).toBe(isPointer(text));
  if ('value' in outcome) {
    expect(formatPointer(outcome.value)).toBe(text);
    getAt(value, outcome.value);
  }
  const short = shortPointer(text.repeat(20));
  expect(short.length).toBeLessThanOrEqual(MAX_POINTER_SHOWN);
  if (!/\p{Surrogate}/u.test(text)) expect(short).not.toMatch(/\p{Surrogate}/u);
  for (const place of placesIn(value).slice(0, 50)) expect(getAt(value, parsePointer(formatPointer(place)))).toBeDefined();
}); // prettier-ignore

/** An operation with random places of the document. */
const operationSeed = fc.tuple(
  fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'copy', 'move', 'test'),
  fc.nat(),
  fc.nat(),
  fc.option(fc.oneof(anyKey, fc.constantFrom('-', '0', '1')), { nil: undefined }),
  jsonValues(anyKey),
);
const patchLimits = fc.record({
  levelsMore: fc.nat(2),
  maxCopied: fc.nat(2000),
  maxShifted: fc.nat(2000),
});

const LOOSE = { maxDepth: MAX_RECURSION, maxCopied: 3000 };

fuzz('applyPatch keeps its limits and its inputs, and names the failed operation', [hostileJson, fc.array(operationSeed, { maxLength: 8 }), patchLimits], (document, seeds, { levelsMore, ...sizes }) => {
  const limits = { ...sizes, maxDepth: depthOf(document) + levelsMore };
  const patch: JsonObject[] = [];
  let result = document;
  for (const [op, path, from, more, value] of seeds) {
    const places = placesIn(result);
    const pointerOf = (at: number): string => formatPointer(places[at % places.length] ?? []);
    const tested = op === 'test' ? (getAt(result, places[path % places.length] ?? []) ?? null) : value;
    const added = op === 'test' || more === undefined ? '' : formatPointer([more]);
    const operation = { op, path: pointerOf(path) + added, from: pointerOf(from), value: tested };
    // An operation that fails is the last one.
    patch.push(operation);
    const next = attempt(() => applyPatch(result, parsePatch([operation], { at: '', maxOperations: 1 }), '', LOOSE));
    if ('refused' in next) break;
    result = next.value;
  }
  const operations = parsePatch(patch, { at: '/ops', maxOperations: 20 });
  const before = canonicalize([document, patch]);
  const outcome = attempt(() => applyPatch(document, operations, '/ops', limits));
  expect(canonicalize([document, patch])).toBe(before);
  if ('refused' in outcome) {
    expect(outcome.refused.path).toMatch(/^\/ops\/\d+$/);
    expect(outcome.refused.message.length).toBeLessThan(1500);
    return;
  }
  expect(depthOf(outcome.value)).toBeLessThanOrEqual(limits.maxDepth);
  expect(canonicalize(parseStoredJson(canonicalize(outcome.value)))).toBe(canonicalize(outcome.value));
  // A character takes six bytes at most, and any other value 26, including its separator.
  expect(size(outcome.value)).toBeLessThanOrEqual(size(document) + size(patch) + 26 * limits.maxCopied);
  const problems = placesIn(outcome.value).slice(0, 20).map((place) => ({ path: formatPointer(place), message: 'is wrong' }));
  for (const { path } of problemsOfPatch(problems, document, operations, '/ops', limits)) expect(path).toMatch(/^\/ops(\/\d+)?$/);
}); // prettier-ignore

const pairs = fc.oneof(editedJson, fc.tuple(hostileJson, hostileJson), fc.tuple(alikeJson, alikeJson));

fuzz(
  'diff is exact, deterministic and within its budget',
  [pairs, fc.integer({ min: 0, max: 30_000 })],
  ([from, to], budget) => {
    for (const limit of [budget, DIFF_BUDGET, Infinity]) {
      const operations = diff(from, to, limit);
      const patched = applyPatch(from, operations, '', { maxDepth: MAX_RECURSION });
      expect(canonicalize(patched) === canonicalize(to)).toBe(true);
      expect(canonicalize(diff(shuffled(from), shuffled(to), limit))).toBe(canonicalize(operations));
      expect(operations.length === 0).toBe(canonicalize(from) === canonicalize(to));
      const price = operations.reduce(
        (sum, one) =>
          sum + (one.op === 'remove' ? 0 : size(one.value)) + 2 * (size(one.path) - 2) + DIFF_OPERATION_COST,
        0,
      );
      expect(price).toBeLessThanOrEqual(Math.max(limit, size(to) + DIFF_OPERATION_COST));
    }
  },
);

fuzz('diff stays within its work limit', [pairs, fc.nat(2000)], ([from, to], budget) => {
  const counted = new Counted();
  diff(counted.of(from), counted.of(to), budget);
  expect(counted.looks).toBeLessThanOrEqual(48 * (countValues(from) + countValues(to)));
});
