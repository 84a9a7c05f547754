import sodium from 'libsodium-wrappers-sumo';
import type { VrfGroup } from './group';

/** Loads libsodium, which is several times faster than `nobleGroup` and too large for browsers. */
export async function loadSodiumGroup(): Promise<VrfGroup> {
  await sodium.ready;
  return {
    sha512: (message) => sodium.crypto_hash_sha512(message),
    isElement: (bytes) =>
      bytes.length === 32 && bytes.some((byte) => byte !== 0) && sodium.crypto_core_ristretto255_is_valid_point(bytes),
    elementOf: (uniform) => sodium.crypto_core_ristretto255_from_hash(uniform),
    reduce: (bytes) => sodium.crypto_core_ristretto255_scalar_reduce(bytes),
    multiplyAdd: (factor, other, summand) =>
      sodium.crypto_core_ristretto255_scalar_add(sodium.crypto_core_ristretto255_scalar_mul(factor, other), summand),
    multiplyBase: (scalar) => sodium.crypto_scalarmult_ristretto255_base(scalar),
    multiply: (scalar, element) => sodium.crypto_scalarmult_ristretto255(scalar, element),
    difference: (scalar, element, otherScalar, other) =>
      sodium.crypto_core_ristretto255_sub(
        element === null
          ? sodium.crypto_scalarmult_ristretto255_base(scalar)
          : sodium.crypto_scalarmult_ristretto255(scalar, element),
        sodium.crypto_scalarmult_ristretto255(otherScalar, other),
      ),
  };
}
