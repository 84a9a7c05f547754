/**
 * Why this library refuses:
 *
 * - `malformed`: a text, hash or key is not in its format
 * - `out_of_range`: an index or a size that no tree of this library has
 * - `proof_refused`: an inclusion or consistency proof that does not lead to the root
 * - `unreadable`: a reader gave other hashes or tiles than it was asked for
 * - `unsigned`: a note that none of the known keys signed
 * - `bad_signature`: a line of a known key that does not verify; the whole note counts for nothing
 * - `ambiguous_key`: two known keys of one name and key ID
 * - `unsupported_key`: a key of a signature type that is not known here, not allowed here, or not verifiable on this platform
 * - `wrong_log`: a checkpoint of a log that the policy does not name
 * - `no_quorum`: too few cosignatures for the policy
 */
export type TlogErrorCode =
  | 'malformed'
  | 'out_of_range'
  | 'proof_refused'
  | 'unreadable'
  | 'unsigned'
  | 'bad_signature'
  | 'ambiguous_key'
  | 'unsupported_key'
  | 'wrong_log'
  | 'no_quorum';

/** The one error of this library. `message` says what was wrong and what to do; it quotes no secret. */
export class TlogError extends Error {
  override readonly name = 'TlogError';

  constructor(
    readonly code: TlogErrorCode,
    message: string,
  ) {
    super(message);
  }
}
