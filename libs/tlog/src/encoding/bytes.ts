/** Compares bytes. Not in constant time, because all compared values are public. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Returns the bytes of a text with one character per byte, as returned by `atob`. */
export function bytesOfBinary(binary: string): Uint8Array<ArrayBuffer> {
  // `Uint8Array.from` takes ten times as long.
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Returns lowercase hexadecimal with two digits per byte. */
export function toHex(bytes: Uint8Array): string {
  return bytes.reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '');
}

/** Encodes a big-endian uint64 (RFC 8446 section 3.3). */
export function uint64Bytes(value: bigint | number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** Reads a big-endian uint64 from the first eight bytes. */
export function readUint64(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes.subarray(0, 8))}`);
}

/** Reads a big-endian uint32 from the first four bytes. */
export function readUint32(bytes: Uint8Array): number {
  return parseInt(toHex(bytes.subarray(0, 4)), 16);
}

export function uint32Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
