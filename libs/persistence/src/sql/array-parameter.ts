/** Element types of {@link arrayParameter}, with their object ids in PostgreSQL's catalogue. */
const ELEMENT_OIDS = { bigint: 20, boolean: 16, bytea: 17, int: 23, text: 25, uuid: 2950 } as const;
export type ElementType = keyof typeof ELEMENT_OIDS;

export function isElementType(type: string): type is ElementType {
  return Object.hasOwn(ELEMENT_OIDS, type);
}

const INT32_BYTES = 4;
const INT64_BYTES = 8;
const UUID_BYTES = 16;
/**
 * The header: number of dimensions, whether there are nulls, element type, then the size and lower bound of the only dimension.
 */
const HEAD_BYTES = 5 * INT32_BYTES;
const NULL_LENGTH = -1;

const HYPHEN = 0x2d;
const NO_DIGIT = 0xff;
/** Hexadecimal digits by character code. A loop over 36 characters is faster than one call of `Buffer`'s decoder. */
const HEX_DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) {
  const character = digit.toString(16);
  for (const form of [character, character.toUpperCase()]) HEX_DIGITS[form.charCodeAt(0)] = digit;
}

/**
 * Encodes a one-dimensional array in PostgreSQL's binary format, as `array_recv` reads it. `pg` would send text, in which the
 * client escapes every quote of a JSON document and the server unescapes it.
 *
 * Undefined elements become null. Throws `TypeError` for an element of another type.
 */
export function arrayParameter(type: ElementType, values: readonly unknown[]): Buffer {
  const lengths = values.map((value) => (value === null || value === undefined ? NULL_LENGTH : lengthOf(type, value)));
  const size = lengths.reduce((sum, length) => sum + INT32_BYTES + Math.max(0, length), HEAD_BYTES);
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  const writeInt = (value: number): void => {
    at = buffer.writeInt32BE(value, at);
  };
  writeInt(1);
  writeInt(lengths.includes(NULL_LENGTH) ? 1 : 0);
  writeInt(ELEMENT_OIDS[type]);
  writeInt(values.length);
  writeInt(1);
  values.forEach((value, index) => {
    const length = lengths[index] ?? NULL_LENGTH;
    writeInt(length);
    if (length === NULL_LENGTH) return;
    writeElement(buffer, at, type, value);
    at += length;
  });
  return buffer;
}

function lengthOf(type: ElementType, value: unknown): number {
  switch (type) {
    case 'bigint':
      if (Number.isSafeInteger(value)) return INT64_BYTES;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return 1;
      break;
    case 'bytea':
      if (Buffer.isBuffer(value)) return value.length;
      break;
    case 'int':
      if (typeof value === 'number') return INT32_BYTES;
      break;
    case 'text':
      if (typeof value === 'string') return Buffer.byteLength(value);
      break;
    case 'uuid':
      if (typeof value === 'string') return UUID_BYTES;
      break;
  }
  throw new TypeError(`A ${typeof value} is not a value of type ${type}`);
}

function writeElement(buffer: Buffer, at: number, type: ElementType, value: unknown): void {
  if (typeof value === 'boolean') buffer[at] = value ? 1 : 0;
  else if (typeof value === 'number' && type === 'bigint') buffer.writeBigInt64BE(BigInt(value), at);
  else if (typeof value === 'number') buffer.writeInt32BE(value, at);
  else if (Buffer.isBuffer(value)) value.copy(buffer, at);
  else if (typeof value === 'string' && type === 'text') buffer.write(value, at);
  else if (typeof value === 'string') writeUuid(buffer, at, value);
}

function writeUuid(buffer: Buffer, at: number, value: string): void {
  let digits = 0;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code === HYPHEN) continue;
    const digit = HEX_DIGITS[code] ?? NO_DIGIT;
    if (digit === NO_DIGIT || digits === 2 * UUID_BYTES) throw noUuid();
    const byte = at + (digits >> 1);
    buffer[byte] = digits % 2 === 0 ? digit << 4 : (buffer[byte] ?? 0) | digit;
    digits++;
  }
  if (digits < 2 * UUID_BYTES) throw noUuid();
}

const noUuid = (): TypeError => new TypeError('A uuid has 32 hexadecimal digits');
