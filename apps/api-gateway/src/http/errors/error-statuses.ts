import type { ErrorCode } from '@iss/domain';

/**
 * Maps error codes to HTTP statuses (specification, "Errors"; contract, "Codes not shown"). There is no other such
 * table.
 */
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

/** The target of the `Link: …; rel="help"` of an error, with the code as fragment. */
export const ERRORS_PATH = '/docs/errors';

/** The meaning of each code for its caller, and the remedy, in short. OpenAPI shows it; `docs/errors.md` has more. */
export const ERROR_HELP: Readonly<Record<ErrorCode, string>> = {
  validation_error: 'The request is not valid; nothing was changed. Correct each place that details names.',
  unauthorized: 'The bearer token is missing or not valid. Get a fresh one from the identity provider.',
  forbidden:
    'The caller may not do this. The message names the missing membership, role, ownership, scope or flag. A ' +
    'subject that does not exist gets the same response: `GET /v1/tenants/{tenant_id}/subjects` lists the ' +
    'subjects that the tenant owns.',
  limit_reached:
    'The tenant or the principal has reached a limit; nothing was changed. The message names the limit, its ' +
    'value and how to continue.',
  not_found: 'The route or resource does not exist, or the caller may not see it. Check the path and the ids.',
  not_logged_yet:
    'The fact is not in the published log yet. Wait for the seconds in Retry-After and try again, or send wait=10.',
  method_not_allowed: 'The path exists, but not with this method. Use a method that Allow lists.',
  conflict: 'The current state does not allow this. The message says why. Read the latest state and try again.',
  erased:
    'The content of this version was erased on purpose. `erased` names the erasure and its time. A retry does ' +
    'not help.',
  payload_too_large: 'The body is too large. Send a smaller one.',
  unsupported_media_type: 'Send Content-Type: application/json in UTF-8, without Content-Encoding.',
  human_principal_required: 'Only a human principal may do this. Send a human’s own token.',
  rate_limited: 'Too many requests. Wait for the seconds in Retry-After.',
  request_header_fields_too_large: 'The headers exceed 16 KiB. Send fewer.',
  internal_error: 'The service failed. Try again; if the error persists, report the request_id.',
  damaged: 'The stored text of a version was altered. The message names the version; the operator must restore it.',
  unavailable: 'A dependency is down, or the service is overloaded. Wait for the seconds in Retry-After and try again.',
};
