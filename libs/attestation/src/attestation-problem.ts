/** Why a credential or a status list is refused, for programs. */
export type AttestationProblemCode =
  | 'invalid_format'
  | 'invalid_type'
  | 'invalid_signature'
  | 'untrusted_issuer'
  | 'not_yet_valid'
  | 'expired'
  | 'invalid_key_binding'
  | 'rolled_back'
  | 'mismatch';

/** A credential or a status list that is refused. The message says what is wrong, without values of the credential. */
export class AttestationProblem extends Error {
  override readonly name = 'AttestationProblem';

  constructor(
    readonly code: AttestationProblemCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
