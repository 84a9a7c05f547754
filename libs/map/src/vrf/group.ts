/**
 * The operations on ristretto255 (RFC 9496) that the VRF needs. Elements and scalars are their canonical encodings of
 * 32 bytes. Each operation throws if an element or scalar is invalid, or if a product is the identity.
 */
export interface VrfGroup {
  /** Hashes with SHA-512. */
  sha512(message: Uint8Array): Uint8Array;
  /** Checks whether these bytes encode an element other than the identity. */
  isElement(bytes: Uint8Array): boolean;
  /** Maps 64 uniform bytes to an element (RFC 9496 section 4.3.4). */
  elementOf(uniform: Uint8Array): Uint8Array;
  /** Reduces 64 little-endian bytes modulo the group order. */
  reduce(bytes: Uint8Array): Uint8Array;
  /** Returns factor · other + summand modulo the group order. */
  multiplyAdd(factor: Uint8Array, other: Uint8Array, summand: Uint8Array): Uint8Array;
  /** Multiplies the generator by a secret scalar. */
  multiplyBase(scalar: Uint8Array): Uint8Array;
  /** Multiplies an element by a secret scalar. */
  multiply(scalar: Uint8Array, element: Uint8Array): Uint8Array;
  /** Returns scalar · element − otherScalar · other for public scalars. A null element is the generator. */
  difference(scalar: Uint8Array, element: Uint8Array | null, otherScalar: Uint8Array, other: Uint8Array): Uint8Array;
}
