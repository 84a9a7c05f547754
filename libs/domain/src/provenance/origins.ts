/** The origin of a leaf: the version that gave it its present value. */
export interface LeafOrigin {
  sinceVersion: number;
  /** True if the evidence that covers the value did not change when the value changed, and has not changed since. */
  isCarried: boolean;
}

/** The known origins of a version's leaves ({@link encodeOrigins}). Null for a first version. */
export interface KnownOrigins {
  origins: Uint8Array | null;
}

/** The origin of each leaf of a first version. */
export const FIRST_ORIGIN: LeafOrigin = { sinceVersion: 1, isCarried: false };

/**
 * Encodes origins as runs of equal origins. A run is two varints (LEB128): its length, and twice the version plus one if
 * it is carried. Most leaves change together or never, so that a change takes only a few bytes.
 */
export function encodeOrigins(origins: readonly LeafOrigin[]): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < origins.length;) {
    const run = origins[at]!;
    let end = at + 1;
    while (end < origins.length && isSameOrigin(origins[end]!, run)) end++;
    pushVarint(bytes, end - at);
    pushVarint(bytes, run.sinceVersion * 2 + (run.isCarried ? 1 : 0));
    at = end;
  }
  return Uint8Array.from(bytes);
}

/**
 * Decodes the origins of `count` leaves. `bytes` is null for a first version, which stores none. Throws if the bytes
 * belong to another number of leaves.
 */
export function decodeOrigins(bytes: Uint8Array | null, count: number): LeafOrigin[] {
  if (bytes === null) return new Array<LeafOrigin>(count).fill(FIRST_ORIGIN);
  const origins: LeafOrigin[] = [];
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) {
    const length = readVarint(reader);
    const code = readVarint(reader);
    if (length > count - origins.length) throw notOfThese(count);
    const origin = { sinceVersion: Math.floor(code / 2), isCarried: code % 2 === 1 };
    for (let left = length; left > 0; left--) origins.push(origin);
  }
  if (origins.length !== count) throw notOfThese(count);
  return origins;
}

function isSameOrigin(one: LeafOrigin, other: LeafOrigin): boolean {
  return one === other || (one.sinceVersion === other.sinceVersion && one.isCarried === other.isCarried);
}

// Uses arithmetic, because twice a version may need 33 bits.
function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
}

function readVarint(reader: { bytes: Uint8Array; at: number }): number {
  let value = 0;
  for (let scale = 1; ; scale *= 0x80) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined || scale > 2 ** 42) throw new Error('the origins of leaves end within a number');
    value += (byte % 0x80) * scale;
    if (byte < 0x80) return value;
  }
}

function notOfThese(count: number): Error {
  return new Error(`the origins are not those of ${count} leaves`);
}
