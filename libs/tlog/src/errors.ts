/**
 * The reason for a refusal:
 *
 * - `malformed`: a text, hash or key is not in its format
 * - `out_of_range`: no tree of this library can have this index or size
 * - `proof_refused`: an inclusion or consistency proof does not lead to the root
 * - `unreadable`: a reader returned other hashes or tiles than requested
 * - `unsigned`: none of the known keys signed the note
 * - `bad_signature`: the signature line of a known key does not verify, so the whole note is refused
 * - `ambiguous_key`: two known keys have the same name and key ID
 * - `unsupported_key`: the signature type of a key is unknown, not allowed here, or not supported by the platform
 * - `wrong_log`: the policy does not name the checkpoint's log
 * - `no_quorum`: the policy requires more cosignatures
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

/** The only error class of this library. `message` says what is wrong and what to do, and contains no secret. */
export class TlogError extends Error {
  override readonly name = 'TlogError';

  constructor(
    readonly code: TlogErrorCode,
    message: string,
  ) {
    super(message);
  }
}
