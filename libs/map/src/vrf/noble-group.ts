import { mulAddUnsafe } from '@noble/curves/abstract/curve.js';
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

type Element = InstanceType<typeof Point>;

/** Decoded elements. Decoding takes a root, and each element is used several times. */
const decoded = new WeakMap<Uint8Array, Element>();

function elementIn(bytes: Uint8Array): Element {
  const known = decoded.get(bytes);
  if (known !== undefined) return known;
  const element = Point.fromBytes(bytes);
  decoded.set(bytes, element);
  return element;
}

/** Elements that have a table of their multiples. */
const tabled = new WeakSet<Uint8Array>();
/** Bits of the windows of a table. Larger ones cost more than one proof saves. */
const WINDOW = 4;

/** Implements the group with `@noble/curves`, for browsers and as the second implementation in tests. */
export const nobleGroup: VrfGroup = {
  sha512: (message) => sha512(message),
  isElement(bytes) {
    try {
      return !elementIn(bytes).is0();
    } catch {
      return false;
    }
  },
  elementOf(uniform) {
    const element = ristretto255_hasher.deriveToCurve?.(uniform);
    if (element === undefined) throw new Error('This version of @noble/curves has no one-way map of ristretto255.');
    const bytes = element.toBytes();
    decoded.set(bytes, element);
    return bytes;
  },
  reduce: (bytes) => Fn.toBytes(Fn.create(integerOf(bytes))),
  multiplyAdd: (factor, other, summand) =>
    Fn.toBytes(Fn.add(Fn.mul(Fn.fromBytes(factor), Fn.fromBytes(other)), Fn.fromBytes(summand))),
  multiplyBase: (scalar) => Point.BASE.multiply(Fn.fromBytes(scalar)).toBytes(),
  multiply: (scalar, element) => Point.fromBytes(element).multiply(Fn.fromBytes(scalar)).toBytes(),
  difference(scalar, element, otherScalar, other) {
    const [factor, otherFactor] = [Fn.fromBytes(scalar), Fn.fromBytes(otherScalar)];
    const subtrahend = elementIn(other);
    if (element !== null) {
      return mulAddUnsafe(Point, [elementIn(element), subtrahend.negate()], [factor, otherFactor]).toBytes();
    }
    // A public key, which verifies many proofs.
    if (!tabled.has(other)) subtrahend.precompute(WINDOW);
    tabled.add(other);
    return Point.BASE.multiplyUnsafe(factor).subtract(subtrahend.multiplyUnsafe(otherFactor)).toBytes();
  },
};
