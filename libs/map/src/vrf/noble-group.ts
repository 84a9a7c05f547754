import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import type { VrfGroup } from './group';

const { Point } = ristretto255;
const { Fn } = Point;

/** Reads a little-endian integer. */
function integerOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let at = bytes.length - 1; at >= 0; at--) value = (value << 8n) | BigInt(bytes[at] ?? 0);
  return value;
}

/** Implements the group with `@noble/curves`, for browsers and as the second implementation in tests. */
export const nobleGroup: VrfGroup = {
  sha512: (message) => sha512(message),
  isElement(bytes) {
    try {
      return !Point.fromBytes(bytes).is0();
    } catch {
      return false;
    }
  },
  elementOf(uniform) {
    const element = ristretto255_hasher.deriveToCurve?.(uniform);
    if (element === undefined) throw new Error('This version of @noble/curves has no one-way map of ristretto255.');
    return element.toBytes();
  },
  reduce: (bytes) => Fn.toBytes(Fn.create(integerOf(bytes))),
  multiplyAdd: (factor, other, summand) =>
    Fn.toBytes(Fn.add(Fn.mul(Fn.fromBytes(factor), Fn.fromBytes(other)), Fn.fromBytes(summand))),
  multiplyBase: (scalar) => Point.BASE.multiply(Fn.fromBytes(scalar)).toBytes(),
  multiply: (scalar, element) => Point.fromBytes(element).multiply(Fn.fromBytes(scalar)).toBytes(),
  difference(scalar, element, otherScalar, other) {
    const left =
      element === null
        ? Point.BASE.multiply(Fn.fromBytes(scalar))
        : Point.fromBytes(element).multiplyUnsafe(Fn.fromBytes(scalar));
    return left.subtract(Point.fromBytes(other).multiplyUnsafe(Fn.fromBytes(otherScalar))).toBytes();
  },
};
