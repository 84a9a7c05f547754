import { concatBytes, encodeUtf8, equalBytes } from '@iss/tlog';
import { MapError } from '../errors';
import type { VrfGroup } from './group';

// The VRF of C2SP vrf-r255, ECVRF-RISTRETTO255-SHA512, with the letters of that page: the secret key x, the public key Y,
// the input alpha, the element H of the input, Gamma = x·H, the challenge c, and the output beta.

/** Bytes of a proof: Gamma, 16 bytes of challenge, and a scalar. */
export const VRF_PROOF_SIZE = 80;
const CHALLENGE_SIZE = 16;
const SUITE = concatBytes(Uint8Array.of(0xff), encodeUtf8('c2sp.org/vrf-r255'));
const END = Uint8Array.of(0x00);
/** The group order 2^252 + 27742317777372353535851937790883648493. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** A VRF key pair as bytes. `secretKey` must never be logged. */
export interface VrfKeys {
  readonly secretKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** The output of 64 bytes, and the proof that it is the output of its input. */
export interface VrfProved {
  readonly output: Uint8Array;
  readonly proof: Uint8Array;
}

/**
 * Computes the public key of a secret key.
 *
 * @throws MapError `malformed` unless the secret key is a scalar from 1 to the group order − 1
 */
export function vrfKeysOf(group: VrfGroup, secretKey: Uint8Array): VrfKeys {
  if (!isScalar(secretKey)) throw new MapError('malformed', 'The VRF secret key is not a scalar of ristretto255.');
  return { secretKey, publicKey: group.multiplyBase(secretKey) };
}

/** Makes a key pair from 64 random bytes. */
export function vrfKeysFromRandom(group: VrfGroup, random: Uint8Array): VrfKeys {
  if (random.length !== 64) throw new MapError('malformed', 'A VRF key is made from 64 random bytes.');
  return vrfKeysOf(group, group.reduce(random));
}

/** Computes the output of an input without a proof. */
export function vrfOutput(group: VrfGroup, keys: VrfKeys, alpha: Uint8Array): Uint8Array {
  return outputOf(group, group.multiply(keys.secretKey, encodeToCurve(group, keys.publicKey, alpha)));
}

/** Computes the output of an input and its proof (ECVRF_prove). */
export function vrfProve(group: VrfGroup, keys: VrfKeys, alpha: Uint8Array): VrfProved {
  const h = encodeToCurve(group, keys.publicKey, alpha);
  const gamma = group.multiply(keys.secretKey, h);
  const nonce = group.reduce(hash(group, 0x81, keys.secretKey, h));
  const c = challenge(group, [keys.publicKey, h, gamma, group.multiplyBase(nonce), group.multiply(nonce, h)]);
  const s = group.multiplyAdd(scalarOf(c), keys.secretKey, nonce);
  return { output: outputOf(group, gamma), proof: concatBytes(gamma, c, s) };
}

/**
 * Verifies a proof (ECVRF_verify) and returns the output.
 *
 * @throws MapError `vrf_refused` if the proof is not one for this input by the owner of this public key
 */
export function vrfVerify(group: VrfGroup, publicKey: Uint8Array, alpha: Uint8Array, proof: Uint8Array): Uint8Array {
  if (proof.length !== VRF_PROOF_SIZE) throw refused(`it has ${proof.length} bytes, not ${VRF_PROOF_SIZE}`);
  const gamma = proof.subarray(0, 32);
  const c = proof.subarray(32, 32 + CHALLENGE_SIZE);
  const s = proof.subarray(32 + CHALLENGE_SIZE);
  if (!group.isElement(publicKey)) throw refused('the public key is no element of ristretto255');
  if (!group.isElement(gamma)) throw refused('its first 32 bytes are no element of ristretto255');
  if (!isScalar(s) || c.every((byte) => byte === 0)) throw refused('it contains an invalid scalar');

  const h = encodeToCurve(group, publicKey, alpha);
  const u = group.difference(s, null, scalarOf(c), publicKey);
  const v = group.difference(s, h, scalarOf(c), gamma);
  if (!equalBytes(challenge(group, [publicKey, h, gamma, u, v]), c)) {
    throw refused('it belongs to another input or another key');
  }
  return outputOf(group, gamma);
}

function encodeToCurve(group: VrfGroup, publicKey: Uint8Array, alpha: Uint8Array): Uint8Array {
  return group.elementOf(hash(group, 0x82, publicKey, alpha));
}

function challenge(group: VrfGroup, elements: readonly Uint8Array[]): Uint8Array {
  return hash(group, 0x02, ...elements, END).slice(0, CHALLENGE_SIZE);
}

/** ECVRF_proof_to_hash. The cofactor is 1. */
function outputOf(group: VrfGroup, gamma: Uint8Array): Uint8Array {
  return hash(group, 0x03, gamma, END);
}

function hash(group: VrfGroup, separator: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return group.sha512(concatBytes(SUITE, Uint8Array.of(separator), ...parts));
}

/** Returns a challenge as a scalar of 32 bytes. */
function scalarOf(c: Uint8Array): Uint8Array {
  return concatBytes(c, new Uint8Array(32 - CHALLENGE_SIZE));
}

/** Checks whether 32 little-endian bytes are a scalar above 0 and below the group order. */
function isScalar(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false;
  const value = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return value > 0n && value < ORDER;
}

function refused(why: string): MapError {
  return new MapError('vrf_refused', `The VRF proof does not verify: ${why}.`);
}
