import { IdentityStateError } from '@iss/proof';
import type * as api from './generated/types.ts';

export { IdentityStateError, VerificationError, type VerificationFailure } from '@iss/proof';

/** The code of a refusal (docs/errors.md). */
export type ErrorCode = api.Error['error']['code'];
export type ErrorDetail = api.ErrorDetail;
/** The remaining facts about an erased version. */
export type ErasureReceipt = NonNullable<api.Error['error']['erased']>;

/** The service, or a proxy before it, answered with an error. Each code has its own class. */
export class ApiError extends IdentityStateError {
  readonly status: number;
  /** Null if a proxy or load balancer answered instead of the service. */
  readonly code: ErrorCode | null;
  readonly details: readonly ErrorDetail[];
  /** The id of the request in the logs of the service; null if the answer had none. */
  readonly requestId: string | null;
  /** The wait that the service requests; null if it requests none. */
  readonly retryAfterMs: number | null;

  constructor(failure: Failure) {
    super(failure.message);
    this.status = failure.status;
    this.code = failure.code;
    this.details = failure.details;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** 400: `details` names each invalid place. */
export class ValidationError extends ApiError {}
/** 401, even with a new token. */
export class UnauthorizedError extends ApiError {}
/** 403: the message names the missing right, and who can grant it. */
export class ForbiddenError extends ApiError {}
/** 403: a limit is reached. The message names it. */
export class LimitReachedError extends ApiError {}
/** 404. */
export class NotFoundError extends ApiError {}
/** 404: the version exists, but the log does not have it yet. */
export class NotLoggedYetError extends NotFoundError {}
export class MethodNotAllowedError extends ApiError {}
/** 409: the state does not allow it. */
export class ConflictError extends ApiError {}
/** 409: the base of the change is no longer the latest version. */
export class StaleBaseError extends ConflictError {
  /** The version to start from; null if the service did not name it. */
  readonly latestVersion: number | null;

  constructor(failure: Failure) {
    super(failure);
    const said = failure.details.find(({ code }) => code === 'stale')?.message ?? failure.message;
    const version = /latest version is (\d+)/.exec(said)?.[1];
    this.latestVersion = version === undefined ? null : Number(version);
  }
}
/** 410: the content was erased on purpose. */
export class ErasedError extends ApiError {
  readonly receipt: ErasureReceipt | null;

  constructor(failure: Failure) {
    super(failure);
    this.receipt = failure.erased;
  }
}
export class PayloadTooLargeError extends ApiError {}
export class UnsupportedMediaTypeError extends ApiError {}
/** 422: only a human with their own token can do this. */
export class HumanPrincipalRequiredError extends ApiError {}
/** 429, after the retries. */
export class RateLimitedError extends ApiError {}
export class HeadersTooLargeError extends ApiError {}
/** 500: report `requestId`. */
export class InternalError extends ApiError {}
/** 500: the stored text of a version is damaged. The operator must restore it. */
export class DamagedError extends ApiError {}
/** 503, after the retries. */
export class UnavailableError extends ApiError {}

/** `baseUrl`, a token or `trust` is invalid. Nothing was sent. */
export class ConfigurationError extends IdentityStateError {}
/** The checkpoint store failed. `cause` has the reason. */
export class TrustStoreError extends IdentityStateError {}
/** No answer arrived, because of the network, a host name or a certificate. `cause` has the reason. */
export class ConnectionError extends IdentityStateError {}
/** `timeoutMs` passed, including retries. A write may have happened: repeat it with the same idempotency key. */
export class DeadlineError extends IdentityStateError {}
/** The answer does not fit this API: it is not JSON, has wrong types, or is too long or endless. */
export class ProtocolError extends IdentityStateError {}

/** The data of an error answer. */
export interface Failure {
  status: number;
  code: ErrorCode | null;
  message: string;
  details: readonly ErrorDetail[];
  requestId: string | null;
  retryAfterMs: number | null;
  erased: ErasureReceipt | null;
}

const CLASSES: Readonly<Record<ErrorCode, new (failure: Failure) => ApiError>> = {
  validation_error: ValidationError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  limit_reached: LimitReachedError,
  not_found: NotFoundError,
  not_logged_yet: NotLoggedYetError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  erased: ErasedError,
  payload_too_large: PayloadTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  human_principal_required: HumanPrincipalRequiredError,
  rate_limited: RateLimitedError,
  request_header_fields_too_large: HeadersTooLargeError,
  internal_error: InternalError,
  damaged: DamagedError,
  archive_damaged: DamagedError,
  unavailable: UnavailableError,
  archive_unavailable: UnavailableError,
};

/** Returns the error of an answer, by its code. */
export function apiErrorOf(failure: Failure): ApiError {
  const { code, details, message } = failure;
  if (code === null) return new ApiError(failure);
  const isStale =
    code === 'conflict' &&
    (details.some((one) => one.code === 'stale') || message.startsWith('The base snapshot is stale'));
  return new (isStale ? StaleBaseError : CLASSES[code])(failure);
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(CLASSES, code);
}
