import type * as api from './generated/types.ts';

/** Why the service refused, as its error envelope has it (docs/errors.md). */
export type ErrorCode = api.Error['error']['code'];
export type ErrorDetail = api.ErrorDetail;
/** What is left of an erased version. */
export type ErasureReceipt = NonNullable<api.Error['error']['erased']>;

/** Every error that this library throws of itself. What a caller's own `AbortSignal` says is thrown as it is. */
export class IdentityStateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The service, or something on the way to it, answered with an error. Each code has a class of its own. */
export class ApiError extends IdentityStateError {
  readonly status: number;
  /** Null where what answered was not the service: a proxy, a load balancer. */
  readonly code: ErrorCode | null;
  readonly details: readonly ErrorDetail[];
  /** The request's id in the service's logs; null where the answer had none. */
  readonly requestId: string | null;
  /** How long the service asks to wait; null where it does not say. */
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

/** 400: `details` names each place. */
export class ValidationError extends ApiError {}
/** 401, also with a fresh token. */
export class UnauthorizedError extends ApiError {}
/** 403: the message says what is missing, and who can give it. */
export class ForbiddenError extends ApiError {}
/** 403: a cap is reached; the message names it. */
export class LimitReachedError extends ApiError {}
/** 404. */
export class NotFoundError extends ApiError {}
/** 404: it is there, and the log does not have it yet. */
export class NotLoggedYetError extends NotFoundError {}
export class MethodNotAllowedError extends ApiError {}
/** 409: the state does not allow it. */
export class ConflictError extends ApiError {}
/** 409: the change was made on a version that is not the latest any more. */
export class StaleBaseError extends ConflictError {
  /** The version to start from; null where another write came in between and the service did not say. */
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
/** 422: a human has to do it, with a token of its own. */
export class HumanPrincipalRequiredError extends ApiError {}
/** 429, after the retries. */
export class RateLimitedError extends ApiError {}
export class HeadersTooLargeError extends ApiError {}
/** 500: report `requestId`. */
export class InternalError extends ApiError {}
/** 500: the stored text of a version is not the one that was written. Its operator has to restore it. */
export class DamagedError extends ApiError {}
/** 503, after the retries. */
export class UnavailableError extends ApiError {}

/** The client cannot work with what it was given: `baseUrl`, a token, `trust`. Nothing was sent. */
export class ConfigurationError extends IdentityStateError {}
/** The store of checkpoints failed; `cause` has why. */
export class TrustStoreError extends IdentityStateError {}
/** No answer came: the network, a name, a certificate; `cause` has it. */
export class ConnectionError extends IdentityStateError {}
/** `timeoutMs` passed, retries included. Whether a write happened is not known: send it again with the same key. */
export class DeadlineError extends IdentityStateError {}
/** The answer is not one of this API: not JSON, members of other types, too long, endless. */
export class ProtocolError extends IdentityStateError {}

/**
 * What did not hold:
 *
 * - `other_subject`, `other_version`, `other_snapshot`: it answers another question than was asked
 * - `unhashed`: there is no `envelope_hash` (an import without hashes): nothing can be verified
 * - `envelope_missing`: the content is left out without an erasure
 * - `hash`: the content has another hash
 * - `header`: the answer says of the content what the content does not say
 * - `changed`: a version that was seen before was another one
 * - `chain`: `prev_hash` is not the hash of the version before
 * - `gap`: a history leaves out versions
 * - `rolled_back`: the latest version is older than one that was seen before
 * - `as_of`: it was not the newest version at the moment that was asked for
 * - `not_in_log`: the entry is not in the log's tree, or is of something else
 * - `logged_twice`: the log has two entries for one version
 * - `backdated`: it is written behind a checkpoint that was kept, and says that it is older
 * - `checkpoint`: its signatures do not satisfy the policy
 * - `checkpoint_older`: the log shows an older state than it has shown before
 * - `forked`: the log does not continue what it has shown before: keep `evidence`
 * - `clock`: a signature is of a time to come
 * - `written`: the service stored something else than was sent
 * - `feed`: the change feed repeats, or goes back
 */
export type VerificationFailure =
  | 'other_subject'
  | 'other_version'
  | 'other_snapshot'
  | 'unhashed'
  | 'envelope_missing'
  | 'hash'
  | 'header'
  | 'changed'
  | 'chain'
  | 'gap'
  | 'rolled_back'
  | 'as_of'
  | 'not_in_log'
  | 'logged_twice'
  | 'backdated'
  | 'checkpoint'
  | 'checkpoint_older'
  | 'forked'
  | 'clock'
  | 'written'
  | 'feed';

/** An answer that must not be believed. */
export class VerificationError extends IdentityStateError {
  readonly failure: VerificationFailure;
  /** Texts to keep: of a fork both checkpoints, as they were signed. */
  readonly evidence: readonly string[];

  constructor(
    failure: VerificationFailure,
    message: string,
    options: ErrorOptions & { evidence?: readonly string[] } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.evidence = options.evidence ?? [];
  }
}

/** What an error answer says. */
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
  unavailable: UnavailableError,
};

/** The error of an answer, by its code. */
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
