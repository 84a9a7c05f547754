import type { JsonValue } from '../json/value';

/**
 * A document that counts its accesses: each member read, and each key listed or tested. Tests measure work with it
 * without a clock and without a counter in the tested code.
 */
export class Counted {
  looks = 0;
  private readonly proxies = new Map<object, JsonValue>();

  of(value: JsonValue): JsonValue {
    if (value === null || typeof value !== 'object') return value;
    let proxy = this.proxies.get(value);
    if (proxy === undefined) {
      proxy = new Proxy<JsonValue & object>(value, {
        get: (target, key) => {
          const member: unknown = Reflect.get(target, key);
          if (typeof key === 'symbol' || typeof member === 'function') return member;
          this.looks++;
          return this.of(member as JsonValue);
        },
        has: (target, key) => {
          this.looks++;
          return Reflect.has(target, key);
        },
        // Called for each listed and each tested key.
        getOwnPropertyDescriptor: (target, key) => {
          this.looks++;
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
      });
      this.proxies.set(value, proxy);
    }
    return proxy;
  }
}

/** Counts the values in a value, including itself. Iterative, for any depth. */
export function countValues(value: JsonValue): number {
  let count = 0;
  for (const open = [value]; open.length > 0; count++) {
    const next = open.pop();
    if (next !== null && typeof next === 'object') for (const child of Object.values(next)) open.push(child);
  }
  return count;
}
