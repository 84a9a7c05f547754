import { ProtocolError } from '../errors.ts';

/**
 * The shape of an answer as an example: `''` is a text, `0` a number, `false` a boolean, and `null` anything but an object or list. A list has
 * one example item. An object has the used members, or `*` for all members. `{ '?': … }` may be absent or null.
 */
export type AnswerShape<T> = Example<T> | { readonly '?': Example<T> };
type Example<T> = T extends readonly (infer Item)[]
  ? readonly [AnswerShape<Item>]
  : T extends object
    ? { readonly [Name in keyof T]?: AnswerShape<NonNullable<T[Name]>> } | { readonly '*': AnswerShape<T[keyof T]> }
    : '' | 0 | false | null;

/** @throws ProtocolError if the value does not have the shape */
export function requireShape<T>(value: unknown, shape: AnswerShape<T>): asserts value is T {
  requireLike<T>(value, shape);
}

/** Does the same as {@link requireShape} for a generic type. */
export function requireLike<T>(value: unknown, shape: unknown): asserts value is T {
  const place = misfit(value, shape, '');
  if (place !== null) throw notOfThisApi(place);
}

export function notOfThisApi(place = '', cause?: unknown): ProtocolError {
  return new ProtocolError(`The answer is not one of this API${place && ` (${place})`}. Is baseUrl right?`, { cause });
}

/** Returns the first place that does not have the shape; null if there is none. */
function misfit(value: unknown, shape: unknown, at: string): string | null {
  const isNothing = value === null || value === undefined;
  if (typeof shape !== 'object' || shape === null) {
    return (shape === null ? isNothing || typeof value !== 'object' : typeof value === typeof shape) ? null : at;
  }
  if ('?' in shape) return isNothing ? null : misfit(value, shape['?'], at);
  if (isNothing || typeof value !== 'object' || Array.isArray(value) !== Array.isArray(shape)) return at;
  const each: unknown = Array.isArray(shape) ? shape[0] : Reflect.get(shape, '*');
  for (const name of Object.keys(each === undefined ? shape : value)) {
    const found: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    const place = misfit(found, each ?? Reflect.get(shape, name), `${at}/${name}`);
    if (place !== null) return place;
  }
  return null;
}
