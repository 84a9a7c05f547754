import { DomainError } from '../errors';
import { DEFAULT_MAX_DEPTH, MAX_RECURSION } from '../limits';
import { formatPointer, setMember, shortPointer } from './pointer';
import { hasEscapedSurrogate } from './surrogates';
import { isWithinDepth, type JsonObject, type JsonValue } from './value';

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON text (RFC 8259) from its raw bytes and refuses anything that could not be returned unchanged:
 *
 * - invalid UTF-8 and a byte order mark
 * - duplicate keys, even if they are escaped differently, and lone surrogates
 * - nesting deeper than `limits.maxDepth`
 * - numbers that a double cannot represent. Accepted are integers that equal the double or its RFC 8785 text, and other
 *   numbers of up to 17 significant digits that neither overflow nor underflow to zero.
 *
 * `-0` becomes `0`. Every key is an own property of the result, including `__proto__`. Throws
 * `DomainError('validation_error')` with one detail. Its `path` is the JSON Pointer of the place, cut if it is long.
 */
export function parseJson(
  bytes: Uint8Array,
  limits: { maxDepth: number } = { maxDepth: DEFAULT_MAX_DEPTH },
): JsonValue {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidUtf8(bytes, limits.maxDepth);
  }
  return parseJsonText(text, limits);
}

/**
 * Parses a text that this service stored. It is canonical, and was within the limits when it was sent, so its depth is
 * not limited here.
 */
export function parseStoredJson(text: string): JsonValue {
  // In canonical text, `JSON.parse` has nothing to drop or round, and without an escape it cannot confuse keys.
  if (!text.includes('\\')) {
    try {
      return JSON.parse(text);
    } catch {
      // The parser below reports the problem and its place.
    }
  }
  return parseJsonText(text, { maxDepth: Infinity });
}

/** Does the same as {@link parseJson} for a text that is already decoded, such as a stored canonical text. */
export function parseJsonText(text: string, limits: { maxDepth: number } = { maxDepth: DEFAULT_MAX_DEPTH }): JsonValue {
  return parseCompact(text, limits.maxDepth) ?? new Parser(text, limits.maxDepth).document();
}

/**
 * Parses compact JSON several times as fast as the parser below. Returns undefined for any other text.
 *
 * `JSON.parse` alone cannot be trusted. It silently drops duplicate keys and rounds numbers, and V8 mistakes an escaped
 * key for another one if an earlier object in any document had a key that ends in a backslash (nodejs/node#63785). But
 * if `JSON.stringify` returns the same text, nothing was dropped, rounded or mistaken. The only exception is an escaped
 * surrogate, which is left to the parser below.
 */
function parseCompact(text: string, maxDepth: number): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    if (!isWithinDepth(value, Math.min(maxDepth, MAX_RECURSION))) return undefined;
    if (JSON.stringify(value) !== text || hasEscapedSurrogate(text)) return undefined;
    return value;
  } catch {
    return undefined;
  }
}

/** A number or the beginning of one. It ends in a digit only if it is complete. */
const NUMBER = /-?(?:0|\d*)(?:(?<=\d)\.\d*)?(?:(?<=\d)e[+-]?\d*)?/iy;

const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** Parses any text and reports what is wrong and where. It is not recursive, so that any depth is safe. */
class Parser {
  #position = 0;
  /** The arrays and objects around the current place, and its token in each of them. */
  readonly #around: (JsonValue[] | JsonObject)[] = [];
  readonly #path: (string | number)[] = [];

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  document(): JsonValue {
    if (this.text.charCodeAt(0) === 0xfeff) {
      throw this.#fault('byte_order_mark', 'The body starts with a byte order mark: leave it out', 0);
    }
    if (Number.isNaN(this.#skipSpace())) throw this.#fault('empty_body', 'The body is empty: send a JSON document', 0);
    const value = this.#value();
    if (!Number.isNaN(this.#skipSpace())) throw this.#unexpected('the end of the body');
    return value;
  }

  /** Reads one value including its content. */
  #value(): JsonValue {
    for (;;) {
      const value = this.#start();
      const whole = value === undefined ? undefined : this.#finish(value);
      if (whole !== undefined) return whole;
    }
  }

  /** Reads the start of a value. Returns undefined for an array or object that is not empty; its content follows. */
  #start(): JsonValue | undefined {
    const code = this.#skipSpace();
    switch (code) {
      case 0x22:
        return this.#string(this.#position);
      case 0x7b:
        return this.#enter({}, 0x7d);
      case 0x5b:
        return this.#enter([], 0x5d);
    }
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.#number();
    for (const [word, value] of LITERALS) {
      if (!this.text.startsWith(word, this.#position)) continue;
      this.#position += word.length;
      return value;
    }
    throw this.#unexpected('a value');
  }

  /**
   * Adds a complete value to its container. Returns the outermost value when it is complete, or undefined if more
   * follows.
   */
  #finish(value: JsonValue): JsonValue | undefined {
    for (let complete = value; ;) {
      const container = this.#around.at(-1);
      if (container === undefined) return complete;
      const token = this.#path.pop();
      const isArray = Array.isArray(container);
      if (isArray) container.push(complete);
      else setMember(container, String(token), complete);
      const code = this.#skipSpace();
      const end = isArray ? 0x5d : 0x7d;
      if (code !== 0x2c && code !== end) throw this.#unexpected(isArray ? '"," or "]"' : '"," or "}"');
      this.#position++;
      if (code === 0x2c) {
        this.#next(container);
        return undefined;
      }
      this.#around.pop();
      complete = container;
    }
  }

  /** Enters an array or object. Returns it if it is empty and therefore complete. */
  #enter(container: JsonValue[] | JsonObject, end: number): JsonValue | undefined {
    // The path has one token for each enclosing array and object.
    if (this.#path.length >= this.maxDepth) {
      const message = `Arrays and objects are nested more than ${this.maxDepth} levels deep`;
      throw this.#fault('too_deep', message, this.#position);
    }
    this.#position++;
    if (this.#skipSpace() === end) {
      this.#position++;
      return container;
    }
    this.#around.push(container);
    this.#next(container);
    return undefined;
  }

  /** Moves to the next element or member; its value follows. */
  #next(container: JsonValue[] | JsonObject): void {
    if (Array.isArray(container)) {
      this.#path.push(container.length);
      return;
    }
    if (this.#skipSpace() !== 0x22) throw this.#unexpected('a key in double quotes');
    const start = this.#position;
    const key = this.#string(start);
    this.#path.push(key);
    if (Object.hasOwn(container, key)) throw this.#fault('duplicate_key', 'The key occurs twice in one object', start);
    if (this.#skipSpace() !== 0x3a) throw this.#unexpected('":"');
    this.#position++;
  }

  #string(start: number): string {
    const { text } = this;
    let escaped = false;
    for (let at = start + 1; ; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        this.#position = at + 1;
        return escaped ? this.#unescape(start, at + 1) : text.slice(start + 1, at);
      }
      if (code === 0x5c) {
        escaped = true;
        at++;
      } else if (!(code >= 0x20)) {
        this.#position = at;
        throw this.#unexpected('the closing quote of the string (or an escape)');
      }
    }
  }

  #unescape(start: number, end: number): string {
    let string: string;
    try {
      string = String(JSON.parse(this.text.slice(start, end)));
    } catch {
      throw this.#fault('invalid_json', 'The string contains an escape that JSON does not know', start);
    }
    // Only an escape can produce one: UTF-8 has no surrogates.
    if (/\p{Surrogate}/u.test(string)) {
      throw this.#fault('lone_surrogate', 'The string contains half of a surrogate pair', start);
    }
    return string;
  }

  #number(): number {
    NUMBER.lastIndex = this.#position;
    const [token = ''] = NUMBER.exec(this.text) ?? [];
    const start = this.#position;
    this.#position += token.length;
    if (!/\d$/.test(token)) throw this.#unexpected('a digit');
    const value = Number(token);
    // A double represents every number of up to 15 digits without an exponent.
    const fault = token.length > 15 || /e/i.test(token) ? numberFault(token, value) : undefined;
    if (fault) throw this.#fault('number_not_carried', `${fault}: send it as a string`, start);
    return value === 0 ? 0 : value;
  }

  #skipSpace(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.#position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.#position++;
    }
  }

  #unexpected(expected: string): DomainError {
    const code = this.text.codePointAt(this.#position);
    const found = code === undefined ? 'the end of the body' : JSON.stringify(String.fromCodePoint(code));
    return this.#fault('invalid_json', `Expected ${expected}, found ${found}`, this.#position);
  }

  #fault(code: string, what: string, position: number): DomainError {
    const message = `${what} (character ${position}).`;
    return new DomainError('validation_error', message, [{ path: this.#place(), message, code }]);
  }

  #place(): string {
    return shortPointer(formatPointer(this.#path));
  }
}

/**
 * Returns the problem of a number with more than 15 digits or an exponent, or undefined if a double can represent it.
 */
function numberFault(token: string, value: number): string | undefined {
  const sent = decimal(token);
  if (sent.digits === '') return undefined;
  if (!Number.isFinite(value)) return 'The number is larger than a double can hold';
  if (value === 0) return 'The number is closer to zero than a double can hold';
  if (sent.exponent < 0) return sent.digits.length <= 17 ? undefined : 'The number has more than 17 significant digits';
  const carried = isSameDecimal(sent, decimal(String(value))) || isSameDecimal(sent, decimal(String(BigInt(value))));
  return carried ? undefined : 'A double cannot hold this integer exactly';
}

/** A number without its sign: `digits` × 10^`exponent`. `digits` has no zeros at either end, and is empty for zero. */
interface Decimal {
  digits: string;
  exponent: number;
}

function decimal(token: string): Decimal {
  const [mantissa = '', exponent = '0'] = (token.startsWith('-') ? token.slice(1) : token).split(/e/i);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return { digits: digits.slice(start, end), exponent: Number(exponent) - fraction.length + digits.length - end };
}

function isSameDecimal(a: Decimal, b: Decimal): boolean {
  return a.digits === b.digits && a.exponent === b.exponent;
}

/** Returns the JSON Pointer of the place at which a truncated text ends. */
function placeOfEnd(text: string, maxDepth: number): string {
  try {
    new Parser(text, maxDepth).document();
    return '';
  } catch (error) {
    if (error instanceof DomainError) return error.details?.[0]?.path ?? '';
    throw error;
  }
}

function invalidUtf8(bytes: Uint8Array, maxDepth: number): DomainError {
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
  // Decoding replaces invalid UTF-8, so the first byte that differs after encoding is the place.
  const replaced = new TextEncoder().encode(lenient.decode(bytes));
  const offset = replaced.findIndex((byte, at) => byte !== bytes[at]);
  const message = `The body is not valid UTF-8 at byte ${offset}.`;
  const path = placeOfEnd(lenient.decode(bytes.subarray(0, offset)), maxDepth);
  return new DomainError('validation_error', message, [{ path, message, code: 'invalid_utf8' }]);
}
