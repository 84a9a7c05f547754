import type { JsonValue } from './value';

/** Numbers by which values are compared before they are looked into. */
export class Digests {
  /** Of the elements of arrays: an array in an array is asked for them again. */
  private readonly known = new Map<JsonValue, number>();
  private readonly scalars = new Map<JsonValue, number>();

  ofAll(elements: JsonValue[]): Int32Array {
    const digests = new Int32Array(elements.length);
    for (let at = 0; at < elements.length; at++) digests[at] = this.of(elements[at]!);
    return digests;
  }

  /** Equal for equal values, whatever the order of their keys; different for most others. Only a hint: nothing rests on it. */
  of(element: JsonValue): number {
    if (element === null || typeof element !== 'object') return this.ofScalar(element);
    let hash = this.known.get(element);
    if (hash === undefined) {
      hash = this.inside(element);
      this.known.set(element, hash);
    }
    return hash;
  }

  private inside(value: JsonValue): number {
    if (value === null || typeof value !== 'object') return this.ofScalar(value);
    let hash = Array.isArray(value) ? 5 : 6;
    if (Array.isArray(value)) {
      for (const element of value) hash = (Math.imul(hash, 33) + this.of(element)) | 0;
    } else {
      for (const key of Object.keys(value)) {
        hash = (hash + Math.imul(this.ofScalar(key) ^ 0x5bd1e995, this.inside(value[key]!) | 1)) | 0;
      }
    }
    return hash;
  }

  /** By the order in which they are met: the map compares strings many times as fast as a loop over their characters does. */
  private ofScalar(value: null | boolean | number | string): number {
    let hash = this.scalars.get(value);
    if (hash === undefined) {
      hash = scatter(this.scalars.size);
      this.scalars.set(value, hash);
    }
    return hash;
  }
}

/** So that digests made of neighbouring numbers have nothing in common (the last steps of MurmurHash3). */
function scatter(number: number): number {
  let hash = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
