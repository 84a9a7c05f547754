import type { ErrorCode } from '@iss/domain';

/** The one table from error code to HTTP status (specification, "Errors"; contract, "Codes not shown"). */
export const ERROR_STATUSES: Readonly<Record<ErrorCode, number>> = {
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  limit_reached: 403,
  not_found: 404,
  not_logged_yet: 404,
  method_not_allowed: 405,
  conflict: 409,
  erased: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  human_principal_required: 422,
  rate_limited: 429,
  request_header_fields_too_large: 431,
  internal_error: 500,
  damaged: 500,
  unavailable: 503,
};

/** Where the `Link: …; rel="help"` of an error leads, with the code as fragment. */
export const ERRORS_PATH = '/docs/errors';

/** What each code means to its caller, and the way out, in short. Shown in OpenAPI; more stands in `docs/errors.md`. */
export const ERROR_HELP: Readonly<Record<ErrorCode, string>> = {
  validation_error:
    'Something in the request is not valid, and nothing was changed. Mend each place that details names.',
  unauthorized: 'No bearer token, or one that is not valid. Get a fresh one from the identity provider.',
  forbidden:
    'The caller may not do this. The message says which membership, role, ownership, scope or flag is missing. ' +
    'A subject that does not exist is answered alike: `GET /v1/tenants/{tenant_id}/subjects` lists what the tenant owns.',
  limit_reached:
    'The tenant or the principal holds as much as it may, and nothing was changed. The message names the limit, its value and the ways out.',
  not_found: 'No such route or resource, or none that the caller may see.',
  not_logged_yet:
    'What was written is not in the published log yet. Try again after as many seconds as Retry-After says, or send wait=10.',
  method_not_allowed: 'The path exists, the method does not. Allow lists the methods.',
  conflict:
    'The state does not allow it. The message says what stands in the way; read the latest state and try again.',
  erased:
    'The version was there, and its content was erased on purpose. `erased` says by what and when; asking again does not help.',
  payload_too_large: 'The body is too large. Send a smaller one.',
  unsupported_media_type: 'Send Content-Type: application/json in UTF-8, without Content-Encoding.',
  human_principal_required: 'Only a human principal, with its own token, may do this.',
  rate_limited: 'Too many requests. Wait for as many seconds as Retry-After says.',
  request_header_fields_too_large: 'The headers exceed 16 KiB. Send fewer.',
  internal_error: 'The service failed. Try again; if it persists, report the request_id.',
  damaged:
    'The stored text of a version is not the one that was written. The message names it; the operator has to restore it.',
  unavailable:
    'A dependency is down, or there is too much heavy work. Try again after as many seconds as Retry-After says.',
};
