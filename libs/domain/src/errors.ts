/**
 * One problem in the caller's input. `path` is an RFC 6901 JSON Pointer into the request body, or `/query/…`,
 * `/path/…`.
 */
export interface ErrorDetail {
  path: string;
  message: string;
  code?: string;
}

/** The codes of the specification's error envelope ("Errors") and those that the contract adds. */
export const ERROR_CODES = [
  'validation_error',
  'unauthorized',
  'forbidden',
  'limit_reached',
  'not_found',
  'not_logged_yet',
  'method_not_allowed',
  'conflict',
  'erased',
  'payload_too_large',
  'unsupported_media_type',
  'human_principal_required',
  'rate_limited',
  'request_header_fields_too_large',
  'internal_error',
  'damaged',
  'archive_damaged',
  'unavailable',
  'archive_unavailable',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * A failure that the caller can act on. It has a code of the specification and no HTTP status; the gateway maps codes
 * to statuses in one table. `message` says what the caller should do next.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: readonly ErrorDetail[],
    /** `cause` is the underlying failure, for the log. No response shows it. */
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
