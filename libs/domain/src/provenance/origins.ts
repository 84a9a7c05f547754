/** Of a leaf: the version in which it became the value that it is. */
export interface LeafOrigin {
  sinceVersion: number;
  /** Its value changed in a version that changed nothing of the evidence which covered it, nor did a later one. */
  isCarried: boolean;
}

/** What is known of the leaves of a version, as bytes ({@link encodeOrigins}); null for a first version. */
export interface KnownOrigins {
  origins: Uint8Array | null;
}

/** Of each leaf of a first version. */
export const FIRST_ORIGIN: LeafOrigin = { sinceVersion: 1, isCarried: false };

/**
 * Origins as bytes: runs of equal ones, each as two varints (LEB128): how many, and twice the version, plus one where it is
 * carried. Most leaves of a document change together or never, so that this is a few bytes a change.
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

/** The origins of so many leaves; of a first version, for which nothing is kept, where `bytes` is null. Throws for bytes of another number. */
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

// By arithmetic: twice a version may have 33 bits.
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
