/** Bytes of a SHA-256 hash. */
export const HASH_SIZE = 32;

const BLOCK_SIZE = 64;
/** Offset of the message length in the last block. */
const LENGTH_OFFSET = 56;

/**
 * Returns the first 32 bits of the fractional part. FIPS 180-4 derives its constants from roots of primes in this way.
 */
const fractionBits = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0;

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}

const INITIAL = Int32Array.from(firstPrimes(8), (prime) => fractionBits(Math.sqrt(prime)));
const ROUND_CONSTANTS = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)));

// Working memory, shared by all calls. It is safe because a call runs synchronously to its end.
const state = new Int32Array(8);
const schedule = new Int32Array(64);
const lastBlocks = new Uint8Array(2 * BLOCK_SIZE);

/**
 * Computes SHA-256 (FIPS 180-4) synchronously, in browsers and in Node. Web Crypto returns a promise, which is
 * unsuitable for a tree of hashes. For the 65 bytes of a node, Node's own implementation is slower than this one.
 */
export function sha256(message: Uint8Array): Uint8Array {
  state.set(INITIAL);
  const whole = message.length - (message.length % BLOCK_SIZE);
  for (let offset = 0; offset < whole; offset += BLOCK_SIZE) compress(message, offset);

  const rest = message.length - whole;
  const padded = rest < LENGTH_OFFSET ? BLOCK_SIZE : 2 * BLOCK_SIZE;
  lastBlocks.fill(0);
  for (let index = 0; index < rest; index++) lastBlocks[index] = message[whole + index]!;
  lastBlocks[rest] = 0x80;
  // The message length in bits is a big-endian uint64. Its upper half is computed from bytes, because bits need more
  // than 32 bits.
  writeUint32(lastBlocks, padded - 8, Math.floor(message.length / 2 ** 29));
  writeUint32(lastBlocks, padded - 4, message.length << 3);
  for (let offset = 0; offset < padded; offset += BLOCK_SIZE) compress(lastBlocks, offset);

  const hash = new Uint8Array(HASH_SIZE);
  for (let word = 0; word < 8; word++) writeUint32(hash, 4 * word, state[word]!);
  return hash;
}

function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

/** FIPS 180-4 section 6.2.2, with its variable names. */
function compress(bytes: Uint8Array, offset: number): void {
  const w = schedule;
  for (let t = 0, at = offset; t < 16; t++, at += 4) {
    w[t] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  }
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15]!;
    const y = w[t - 2]!;
    const sigma0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const sigma1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = (sigma1 + w[t - 7]! + sigma0 + w[t - 16]!) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let t = 0; t < 64; t++) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = g ^ (e & (f ^ g));
    const t1 = (h + sum1 + choice + ROUND_CONSTANTS[t]! + w[t]!) | 0;
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const majority = (a & b) | (c & (a | b));
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + sum0 + majority) | 0;
  }
  state[0] = state[0]! + a;
  state[1] = state[1]! + b;
  state[2] = state[2]! + c;
  state[3] = state[3]! + d;
  state[4] = state[4]! + e;
  state[5] = state[5]! + f;
  state[6] = state[6]! + g;
  state[7] = state[7]! + h;
}
