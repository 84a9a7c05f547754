import type { ErrorCode } from '@iss/domain';

/** The one table from error code to HTTP status (specification, "Errors"; contract, "Codes not shown"). */
export const ERROR_STATUSES: Readonly<Record<ErrorCode, number>> = {
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  human_principal_required: 422,
  rate_limited: 429,
  request_header_fields_too_large: 431,
  internal_error: 500,
  unavailable: 503,
};
