import { canonicalize } from './canonicalize';
import type { JsonValue } from './value';

/** Gives equal values the same number, and different ones different numbers. */
export interface ValueClasses {
  of(value: JsonValue): number;
}

/** By the canonical text of a value, which is made at each asking: short, and slow for arrays in arrays. */
export class TextClasses implements ValueClasses {
  private readonly known = new Map<string, number>();

  of(value: JsonValue): number {
    const text = canonicalize(value);
    const known = this.known.get(text) ?? this.known.size;
    this.known.set(text, known);
    return known;
  }
}

/**
 * Gives values numbers: equal values the same, whatever the order of their keys, and different values different ones. Each
 * value is looked at once, however often it is asked for, so that whole subtrees are compared by their numbers. The numbers are
 * given in the order of asking. Depth is the caller's to bound.
 */
export class Classes implements ValueClasses {
  private count = 0;
  private readonly containers = new Map<JsonValue, number>();
  private readonly contents = new Map<string, number>();
  private readonly strings = new Map<string, number>();
  private readonly numbers = new Map<number | string, number>();
  // Not beside the class: edge workers let no module ask for random values while it is loaded.
  private readonly secret = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

  of(value: JsonValue): number {
    if (typeof value === 'string') return this.classIn(this.strings, value);
    if (typeof value === 'number') return this.classIn(this.numbers, scattered(value, this.secret));
    if (typeof value !== 'object' || value === null) return this.classIn(this.contents, String(value));
    let known = this.containers.get(value);
    if (known === undefined) {
      known = this.classIn(this.contents, this.contentOf(value));
      this.containers.set(value, known);
    }
    return known;
  }

  /** A text of the classes of what a value holds, the same for the same classes alone. */
  private contentOf(value: object & JsonValue): string {
    if (Array.isArray(value)) {
      const codes: number[] = [ARRAY];
      for (const element of value) pushClass(codes, this.of(element));
      return textOf(codes);
    }
    const keys = Object.keys(value);
    const order = orderOf(keys.map((key) => this.classIn(this.strings, key)));
    const codes: number[] = [OBJECT];
    for (let at = 0; at < keys.length; at++) {
      const key = keys[order?.[at] ?? at]!;
      pushClass(codes, this.classIn(this.strings, key));
      pushClass(codes, this.of(value[key]!));
    }
    return textOf(codes);
  }

  private classIn<Key>(map: Map<Key, number>, key: Key): number {
    let known = map.get(key);
    if (known === undefined) map.set(key, (known = this.count++));
    return known;
  }
}

// First in a content. Nothing else begins with them: `null`, `true` and `false`.
const ARRAY = 0x5b;
const OBJECT = 0x7b;

/** One code unit, or a mark and two. */
function pushClass(codes: number[], number: number): void {
  if (number < 0xffff) codes.push(number);
  else codes.push(0xffff, number & 0xffff, number >>> 16);
}

/** The arguments of a call are on the stack. */
const MAX_ARGUMENTS = 4096;

function textOf(codes: number[]): string {
  if (codes.length <= MAX_ARGUMENTS) return String.fromCharCode(...codes);
  let text = '';
  for (let at = 0; at < codes.length; at += MAX_ARGUMENTS) {
    text += String.fromCharCode(...codes.slice(at, at + MAX_ARGUMENTS));
  }
  return text;
}

/** The indexes of different numbers by number; undefined where that is the order they are in. */
function orderOf(numbers: number[]): number[] | undefined {
  for (let at = 1; at < numbers.length; at++) {
    if (numbers[at - 1]! > numbers[at]!) return [...numbers.keys()].sort((a, b) => numbers[a]! - numbers[b]!);
  }
  return undefined;
}

/**
 * A key for a number that nobody outside can foresee. V8 spreads numbers over a `Map` by a function that everybody knows, so that
 * 30,000 of them could be sent that all meet in one place; strings it spreads by a secret.
 */
function scattered(value: number, secret: number): number | string {
  if ((value | 0) !== value) return `#${value}`;
  // One to one (the last steps of MurmurHash3).
  let key = value ^ secret;
  key = Math.imul(key ^ (key >>> 16), 0x85ebca6b);
  key = Math.imul(key ^ (key >>> 13), 0xc2b2ae35);
  return key ^ (key >>> 16);
}
