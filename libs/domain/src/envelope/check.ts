import type { ErrorDetail } from '../errors';
import { formatPointer } from '../json/pointer';
import { isJsonObject, type JsonValue } from '../json/value';

/** A caller who got this many things wrong learns nothing from more, and the answer stays small. */
export const MAX_PROBLEMS = 100;

/**
 * What is wrong with a value, with paths relative to it; null when nothing is. The caller puts its own key before the
 * paths, so that a valid value costs no allocation at all.
 */
export type Check = (value: JsonValue) => ErrorDetail[] | null;
export interface Field {
  isRequired: boolean;
  check: Check;
}

/** A check of one rule. */
export function rule(code: string, message: string, holds: (value: JsonValue) => boolean): Check {
  return (value) => (holds(value) ? null : [{ path: '', message, code }]);
}

/** The first of the checks that finds something. */
export function firstOf(...checks: readonly Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const problems = check(value);
      if (problems !== null) return problems;
    }
    return null;
  };
}

/** A string, and one of which `holds` is true. */
export function text(code: string, message: string, holds: (text: string) => boolean): Check {
  return firstOf(
    anyText,
    rule(code, message, (value) => typeof value === 'string' && holds(value)),
  );
}

/** One of some strings. */
export function oneOf(options: readonly string[]): Check {
  return text('invalid_value', `must be ${options.map((option) => `"${option}"`).join(' or ')}`, (value) =>
    options.includes(value),
  );
}

/** An object with these fields; others are not looked at. Own properties only: what `__proto__` offers is not there. */
export function object(fields: Readonly<Record<string, Field>>): Check {
  const entries = Object.entries(fields);
  return (value) => {
    if (!isJsonObject(value)) return anyObject(value);
    let problems: ErrorDetail[] | null = null;
    for (const [name, { isRequired, check }] of entries) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined;
      if (member !== undefined) problems = withBelow(problems, name, check(member));
      else if (isRequired) problems = withBelow(problems, name, MISSING);
    }
    return problems;
  };
}

/** An array, each item checked. */
export function arrayOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return anyArray(value);
    let problems: ErrorDetail[] | null = null;
    let index = 0;
    for (const item of value) {
      problems = withBelow(problems, String(index), check(item));
      if (problems !== null && problems.length >= MAX_PROBLEMS) break;
      index++;
    }
    return problems;
  };
}

/** An object as a map, each key and each value checked. */
export function mapOf(key: Check, member: Check): Check {
  return (value) => {
    if (!isJsonObject(value)) return anyObject(value);
    let problems: ErrorDetail[] | null = null;
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue;
      problems = withBelow(problems, name, key(name));
      problems = withBelow(problems, name, member(value[name] ?? null));
      if (problems !== null && problems.length >= MAX_PROBLEMS) break;
    }
    return problems;
  };
}

/** A field that has to be there. */
export const required = (check: Check): Field => ({ isRequired: true, check });
/** A field that is checked where it is there; null is a value, not an absence. */
export const optional = (check: Check): Field => ({ isRequired: false, check });

export const anyValue: Check = () => null;
export const anyText: Check = rule('invalid_type', 'must be a string', (value) => typeof value === 'string');
export const anyObject: Check = rule('invalid_type', 'must be an object', isJsonObject);
const anyArray: Check = rule('invalid_type', 'must be an array', Array.isArray);
const MISSING: readonly ErrorDetail[] = [{ path: '', message: 'is required', code: 'required' }];

function withBelow(
  problems: ErrorDetail[] | null,
  key: string,
  below: readonly ErrorDetail[] | null,
): ErrorDetail[] | null {
  if (below === null) return problems;
  const here = formatPointer([key]);
  const placed = below.map((problem) => ({ ...problem, path: here + problem.path }));
  return problems === null ? placed : problems.concat(placed);
}
