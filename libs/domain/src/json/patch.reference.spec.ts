import * as fc from 'fast-check';
import { applyPatch as applyReference } from 'rfc6902';
import { DomainError } from '../errors';
import { jsonValues, plainKey } from '../testing/json-values';
import { canonicalize } from './canonicalize';
import { applyPatch, type PatchOperation } from './patch';
import { formatPointer } from './pointer';
import type { JsonValue } from './value';
import { runs } from '../../../../tools/testing/runs';

describe('applyPatch and the package rfc6902', () => {
  /** Returns every location in the document, root first. */
  function locations(value: JsonValue, at: string[] = []): { at: string[]; value: JsonValue }[] {
    const children = value !== null && typeof value === 'object' ? Object.entries(value) : [];
    return [{ at, value }, ...children.flatMap(([key, child]) => locations(child, [...at, key]))];
  }

  const choice = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'missing'),
    source: fc.nat(),
    target: fc.nat(),
    slot: fc.nat(),
    key: plainKey,
    value: jsonValues(plainKey),
  });
  type Choice = typeof choice extends fc.Arbitrary<infer T> ? T : never;

  /** Returns the operation for a choice on this document. The reference needs existing locations, and cannot replace the root. */
  function operationOn(
    document: JsonValue,
    { op, source, target, slot, key, value }: Choice,
  ): PatchOperation | undefined {
    const all = locations(document);
    const inner = all.slice(1);
    const from = inner[source % inner.length];
    const parents = all.filter((one) => one.value !== null && typeof one.value === 'object');
    const parent = parents[target % parents.length];
    if (from === undefined || parent === undefined) return undefined;
    const length = Array.isArray(parent.value) ? parent.value.length : undefined;
    const last = length === undefined ? key : slot % (length + 2) > length ? '-' : String(slot % (length + 2));
    const path = formatPointer([...parent.at, last]);
    const existing = formatPointer(from.at);
    switch (op) {
      case 'add':
        return { op, path, value };
      case 'replace':
        return { op, path: existing, value };
      case 'test':
        return { op, path: existing, value: slot % 4 === 0 ? value : from.value };
      case 'remove':
        return { op, path: existing };
      case 'copy':
        return { op, from: existing, path };
      case 'move': {
        // The reference finds the target before it removes the value, so the removal must not shift the path to the target.
        const around = formatPointer(from.at.slice(0, -1));
        return path.startsWith(around + '/') ? undefined : { op, from: existing, path };
      }
      default:
        return { op: 'remove', path: formatPointer([...parent.at, 'none', 'at all']) };
    }
  }

  function failedPath(document: JsonValue, operations: PatchOperation[]): string | undefined {
    try {
      applyPatch(document, operations);
    } catch (error) {
      if (error instanceof DomainError) return error.details?.[0]?.path;
      throw error;
    }
    return undefined;
  }

  test('agree on random documents and operations without hazardous names', () => {
    // Not structuredClone: in Jest its arrays are not instances of the reference's Array.
    const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
    const outcomes = { succeeded: 0, failed: 0 };
    fc.assert(
      fc.property(jsonValues(plainKey), fc.array(choice, { minLength: 1, maxLength: 6 }), (document, choices) => {
        const before = canonicalize(document);
        const operations: PatchOperation[] = [];
        let current = document;
        for (const one of choices) {
          const operation = operationOn(current, one);
          if (operation === undefined) continue;
          operations.push(operation);
          try {
            current = applyPatch(current, [operation]);
          } catch {
            break;
          }
        }
        const expected = clone(document);
        const failed = applyReference(expected, clone(operations)).findIndex((error) => error !== null);
        if (failed < 0) expect(canonicalize(applyPatch(document, operations))).toBe(canonicalize(expected));
        else expect(failedPath(document, operations)).toBe(`/${failed}`);
        outcomes[failed < 0 ? 'succeeded' : 'failed'] += operations.length;
        expect(canonicalize(document)).toBe(before);
      }),
      { numRuns: runs(3000) },
    );
    expect(outcomes.succeeded).toBeGreaterThan(runs(1000));
    expect(outcomes.failed).toBeGreaterThan(runs(100));
  });
});
