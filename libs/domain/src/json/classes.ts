import { canonicalize } from './canonicalize';
import type { JsonValue } from './value';

/** Assigns a number to each value. Two values get the same number if and only if they are equal. */
export interface ValueClasses {
  of(value: JsonValue): number;
}

/**
 * Compares values by their canonical text, which is computed at every call. The code is short, but slow for nested
 * arrays.
 */
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
 * Assigns numbers to values. Equal values get the same number, whatever the order of their keys. Each value is read
 * only once, so that whole subtrees can be compared by number. Numbers are assigned in the order of the calls. The
 * caller must limit the depth.
 */
export class Classes implements ValueClasses {
  private count = 0;
  private readonly containers = new Map<JsonValue, number>();
  private readonly contents = new Map<string, number>();
  private readonly strings = new Map<string, number>();
  private readonly numbers = new Map<number | string, number>();
  // Not at module level: edge workers do not allow random values while a module is loaded.
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

  /** Returns a text that identifies the content of a value by the classes of its children. */
  private contentOf(value: object & JsonValue): string {
    if (Array.isArray(value)) {
      const codes: number[] = [ARRAY];
      for (const element of value) pushClass(codes, this.of(element));
      return textOf(codes);
    }
    const keys = Object.keys(value);
    const names = keys.map((key) => this.classIn(this.strings, key));
    const order = orderOf(names);
    const codes: number[] = [OBJECT];
    for (let place = 0; place < keys.length; place++) {
      const at = order?.[place] ?? place;
      pushClass(codes, names[at]!);
      pushClass(codes, this.of(value[keys[at]!]!));
    }
    return textOf(codes);
  }

  private classIn<Key>(map: Map<Key, number>, key: Key): number {
    let known = map.get(key);
    if (known === undefined) map.set(key, (known = this.count++));
    return known;
  }
}

// The first code of the content of an array. The other contents are `null`, `true` and `false`.
const ARRAY = 0x5b;
const OBJECT = 0x7b;

/** Appends a number as one code unit, or as a marker and two code units. */
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

/** Returns the indexes sorted by their numbers, or undefined if the numbers are already in order. */
function orderOf(numbers: number[]): number[] | undefined {
  for (let at = 1; at < numbers.length; at++) {
    if (numbers[at - 1]! > numbers[at]!) return [...numbers.keys()].sort((a, b) => numbers[a]! - numbers[b]!);
  }
  return undefined;
}

/**
 * Returns a key for a number that no outsider can predict. V8 hashes numbers in a `Map` with a public function, so an
 * attacker could send 30,000 numbers that collide. V8 hashes strings with a secret.
 */
function scattered(value: number, secret: number): number | string {
  if ((value | 0) !== value) return `#${value}`;
  // A bijection (the last steps of MurmurHash3).
  let key = value ^ secret;
  key = Math.imul(key ^ (key >>> 16), 0x85ebca6b);
  key = Math.imul(key ^ (key >>> 13), 0xc2b2ae35);
  return key ^ (key >>> 16);
}
