import { ERROR_CODES, type ErrorCode } from '@iss/domain';
import { part, view } from './view';
import { anyObject, hash, oneOf, text, time, uuid, version } from './fields';
import { listOf } from './field';
import type { ResponseFacts } from './operation';
import { EXAMPLE_IDS } from './example-ids';

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
  archive_damaged: 502,
  unavailable: 503,
  archive_unavailable: 503,
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
  archive_damaged:
    'The archive has no undamaged copy of the text of this version. The message names the version; the operator must ' +
    'restore it. Other versions are not affected.',
  unavailable: 'A dependency is down, or the service is overloaded. Wait for the seconds in Retry-After and try again.',
  archive_unavailable:
    'The text of this old version is in the archive, which does not answer. Wait for the seconds in Retry-After and try ' +
    'again. Latest versions are not affected.',
};

const ErrorDetail = view('ErrorDetail', {
  path: text.described(
    'The place in the request: a JSON Pointer (RFC 6901) into the body, or `/query/…`, `/path/…` or `/headers/…`.',
  ),
  message: text.described('The problem at this place.'),
  code: text.optional().described('The kind of problem, for programs.'),
});

/** Specification, "Errors". */
export const ErrorEnvelope = view('Error', {
  error: part({
    code: oneOf(ERROR_CODES).described(
      'The kind of error, for programs. [/docs/errors](/docs/errors) explains each code.',
    ),
    message: text.described('The problem and how to fix it.'),
    details: listOf(ErrorDetail).optional().described('The problems, one for each place in the request.'),
    request_id: text.described('The same id as in the header `X-Request-Id`.'),
    erased: part({
      erasure_id: uuid.described('The erasure.'),
      erased_at: time.described('When the content was destroyed.'),
      snapshot_id: uuid.described('The id of the version.'),
      snapshot_version: version,
      envelope_hash: hash.nullable().described('The envelope hash of the erased content.'),
      prev_hash: hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
      proof: anyObject
        .optional()
        .described(
          'Present if the request asked for a proof. `log_index`, `leaf_hash` and `inclusion` prove the version; ' +
            '`erasure` proves that the log records the erasure.',
        ),
    })
      .optional()
      .described('The remains of an erased version. Present only with the code `erased`.'),
  }).described('The error and how to fix it.'),
});
export const ERROR_SCHEMA = ErrorEnvelope.facts.shown;

const DETAILS_EXAMPLE = [{ path: '/query/limit', message: 'must be an integer from 1 to 200', code: 'out_of_range' }];

/** Returns the response for all errors of one status, with an example of each. */
export function errorAnswer(codes: readonly ErrorCode[]): ResponseFacts {
  const examples = codes.map((code) => [code, { value: errorExample(code) }] as const);
  const [first] = examples;
  return {
    description: codes.map((code) => ERROR_HELP[code]).join(' Or: '),
    content: {
      'application/json': {
        schema: ERROR_SCHEMA,
        ...(codes.length === 1 ? { example: first?.[1].value } : { examples: Object.fromEntries(examples) }),
      },
    },
  };
}

function errorExample(code: ErrorCode): object {
  const details = code === 'validation_error' ? { details: DETAILS_EXAMPLE } : {};
  return {
    error: { code, message: ERROR_HELP[code], ...details, request_id: EXAMPLE_IDS.request_id },
  };
}
