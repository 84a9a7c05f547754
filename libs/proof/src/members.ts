import { DomainError, isJsonObject, type JsonObject, type JsonValue, parseJson, parseJsonText } from '@iss/domain/pure';
import { UnreadableError } from './errors';
import { MAX_DEPTH } from './inclusion';
import type { LoggedText } from './leaf';

/** Reads the members of a JSON object. Each method throws an UnreadableError that names the place. */
export class Members {
  private constructor(
    private readonly where: string,
    readonly all: JsonObject,
  ) {}

  /** Parses a JSON text strictly, without duplicate members or inexact numbers. */
  static parse(where: string, json: string | Uint8Array): Members {
    const limits = { maxDepth: MAX_DEPTH };
    try {
      return Members.of(where, typeof json === 'string' ? parseJsonText(json, limits) : parseJson(json, limits));
    } catch (error) {
      throw error instanceof DomainError ? unreadable(`${where} is not JSON: ${error.message}`) : error;
    }
  }

  static of(where: string, value: JsonValue | undefined): Members {
    if (!isJsonObject(value)) throw unreadable(`${where} is not a JSON object.`);
    return new Members(where, value);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.all, name);
  }

  value(name: string): JsonValue {
    const value = this.has(name) ? this.all[name] : undefined;
    if (value === undefined) throw unreadable(`${this.where} has no member ${name}.`);
    return value;
  }

  text(name: string): string {
    const value = this.value(name);
    if (typeof value !== 'string') throw this.not(name, 'a text');
    return value;
  }

  textOrNull(name: string): string | null {
    return this.value(name) === null ? null : this.text(name);
  }

  /** Returns a whole number that a double represents exactly. */
  count(name: string): number {
    const value = this.value(name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw this.not(name, 'a whole number');
    return value;
  }

  counts(name: string): number[] {
    const value = this.value(name);
    const counts = Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];
    if (!Array.isArray(value) || counts.length !== value.length || !counts.every(Number.isSafeInteger)) {
      throw this.not(name, 'a list of whole numbers');
    }
    return counts;
  }

  texts(name: string): string[] {
    const value = this.value(name);
    const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
    if (!Array.isArray(value) || texts.length !== value.length) throw this.not(name, 'a list of texts');
    return texts;
  }

  /** Returns the entry with its keys. */
  logged(): LoggedText {
    return { entry: this.text('entry'), keys: this.keys() };
  }

  /** Returns the keys of the entry in the map; null if it has none. */
  keys(): string[] | null {
    return this.has('keys') && this.value('keys') !== null ? this.texts('keys') : null;
  }

  json(name: string): JsonObject {
    const value = this.value(name);
    if (!isJsonObject(value)) throw this.not(name, 'an object');
    return value;
  }

  object(name: string): Members {
    return Members.of(`${this.where}, ${name},`, this.value(name));
  }

  private not(name: string, what: string): UnreadableError {
    return unreadable(`${this.where}: ${name} is not ${what}.`);
  }
}

function unreadable(message: string): UnreadableError {
  return new UnreadableError('not_in_log', message);
}
