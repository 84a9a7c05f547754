import { decodeBase64, encodeBase64, encodeUtf8 } from '@iss/tlog';
import { MapError } from './errors';
import { KEY_SIZE, MAX_NUMBER } from './limits';
import type { VrfGroup } from './vrf/group';
import { vrfKeysOf, vrfOutput, type VrfKeys } from './vrf/vrf';

/** The version of the map: of its keys and of its public entries. */
export const MAP_VERSION = 'iss_map_v1';

const SECRET_START = 'PRIVATE+VRF+';
const PUBLIC_START = 'VRF+';

/** Writes a secret key as `PRIVATE+VRF+<base64>`. Never log it. */
export function formatVrfSecretKey(secretKey: Uint8Array): string {
  return SECRET_START + encodeBase64(secretKey);
}

/** Writes a public key as `VRF+<base64>`. */
export function formatVrfPublicKey(publicKey: Uint8Array): string {
  return PUBLIC_START + encodeBase64(publicKey);
}

/**
 * Parses `PRIVATE+VRF+<base64 of 32 bytes>` and computes its public key.
 *
 * @throws MapError or TlogError `malformed`; the message does not contain the text
 */
export function parseVrfSecretKey(group: VrfGroup, text: string): VrfKeys {
  return vrfKeysOf(group, keyBytes(text, SECRET_START, 'VRF secret key'));
}

/**
 * Parses `VRF+<base64 of 32 bytes>`.
 *
 * @throws MapError or TlogError `malformed`
 */
export function parseVrfPublicKey(text: string): Uint8Array {
  return keyBytes(text, PUBLIC_START, 'VRF public key');
}

/**
 * Returns the VRF's input for a number of a stream. The origin is the log's.
 *
 * @throws MapError `malformed` if the origin or stream contains a newline; `out_of_range` for an invalid number
 */
export function vrfInput(origin: string, stream: string, number: number): Uint8Array {
  if (origin.includes('\n') || stream.includes('\n')) {
    throw new MapError('malformed', 'An origin or stream of the map contains a newline.');
  }
  requireNumber(number);
  return encodeUtf8(`${MAP_VERSION}\n${origin}\n${stream}\n${number}`);
}

/** Returns the key of the map for a VRF output: its first 32 bytes. */
export function keyOfOutput(output: Uint8Array): Uint8Array {
  return output.slice(0, KEY_SIZE);
}

/** Computes the key for a number of a stream. It takes about 0.3 ms with libsodium. */
export function mapKey(group: VrfGroup, keys: VrfKeys, input: Uint8Array): Uint8Array {
  return keyOfOutput(vrfOutput(group, keys, input));
}

/** @throws MapError `out_of_range` */
export function requireNumber(number: number): void {
  if (Number.isSafeInteger(number) && number >= 1 && number <= MAX_NUMBER) return;
  throw new MapError('out_of_range', `The number ${number} is not a whole number from 1 to ${MAX_NUMBER}.`);
}

function keyBytes(text: string, start: string, what: string): Uint8Array {
  const bytes = text.startsWith(start) && text.length < 100 ? decodeBase64(text.slice(start.length), what) : undefined;
  if (bytes?.length === KEY_SIZE) return bytes;
  throw new MapError('malformed', `The ${what} is not ${start} and ${KEY_SIZE} bytes in base64.`);
}
