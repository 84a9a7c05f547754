/**
 * The reason for a refusal:
 *
 * - `malformed`: a text, key or row is not in its format
 * - `out_of_range`: a number, index or count exceeds its bounds
 * - `vrf_refused`: a VRF proof does not verify under the public key for this stream and number
 * - `path_refused`: a path does not lead to the root of the map
 * - `root_refused`: the last leaf of the log is not the root that the proof contains
 * - `ladder_refused`: the look-ups are incomplete or contradict each other
 * - `doubled`: a key is in several log entries, so the operator logged one number twice
 */
export type MapErrorCode =
  'malformed' | 'out_of_range' | 'vrf_refused' | 'path_refused' | 'root_refused' | 'ladder_refused' | 'doubled';

/** The error class of this library. `message` says what is wrong and contains no secret. */
export class MapError extends Error {
  override readonly name = 'MapError';

  constructor(
    readonly code: MapErrorCode,
    message: string,
  ) {
    super(message);
  }
}
