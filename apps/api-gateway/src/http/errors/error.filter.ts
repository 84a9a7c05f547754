import { DomainError, type ErrorCode } from '@iss/domain';
import { toDomainError } from '@iss/persistence';
import { type Logger, LOGGER } from '@iss/platform';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Counter, Registry } from 'prom-client';
import { ERROR_STATUSES, ERRORS_PATH } from '@iss/contract';
import { OAuthError } from '../../auth/oauth-error';
import { AnonymousRequests } from '../limits/anonymous-requests';
import { errorBody } from './error-body';
import { NotAcceptable } from './not-acceptable';
import { traceFields } from '../request/request-id';
import { RouteTable } from './route-table';

const RETRY_AFTER_SECONDS = '1';
/** Errors that may be gone a moment later. */
const PASSES: readonly ErrorCode[] = ['unavailable', 'archive_unavailable', 'not_logged_yet'];
const DAMAGED: readonly ErrorCode[] = ['damaged', 'archive_damaged'];
const UNAVAILABLE: readonly ErrorCode[] = ['unavailable', 'archive_unavailable'];

/** Answers every failure with the specification's error envelope. An unexpected failure becomes 500 and a log line. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly refusals: Counter<'code'>;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly routes: RouteTable,
    private readonly anonymous: AnonymousRequests,
    registry: Registry,
  ) {
    this.refusals = new Counter({
      name: 'http_errors_total',
      help: 'Error responses, by the code in their body',
      labelNames: ['code'],
      registers: [registry],
    });
    // An alert on an increase needs an initial value.
    for (const code of Object.keys(ERROR_STATUSES)) this.refusals.inc({ code }, 0);
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.countAnonymous(this.explain(thrown, request, response), request, response);
    if (response.headersSent) {
      // A part of the response was sent, so only closing the connection can signal the failure.
      response.destroy();
      return;
    }
    this.refusals.inc({ code: error.code });
    if (PASSES.includes(error.code)) response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    // The rest of an unread body must not be read as the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('Link', `<${ERRORS_PATH}#${error.code}>; rel="help"`);
    response
      .status(error instanceof NotAcceptable ? 406 : ERROR_STATUSES[error.code])
      .json(error instanceof OAuthError ? error.body : errorBody(error, request.requestId));
  }

  /** Counts an error per address if the caller is unknown. Returns `rate_limited` instead if there were too many. */
  private countAnonymous(error: DomainError, request: Request, response: Response): DomainError {
    if (request.principal !== undefined || response.headersSent || error.code === 'rate_limited') return error;
    try {
      this.anonymous.count(request, response);
      return error;
    } catch (refusal) {
      response.removeHeader('WWW-Authenticate');
      response.removeHeader('Allow');
      return this.explain(refusal, request, response);
    }
  }

  private explain(thrown: unknown, request: Request, response: Response): DomainError {
    const error = toDomainError(thrown);
    if (error instanceof DomainError) {
      if (UNAVAILABLE.includes(error.code)) this.logger.warn({ err: thrown, ...traceFields(request) }, error.message);
      if (DAMAGED.includes(error.code))
        this.logger.error({ err: error, ...traceFields(request) }, 'A damaged text was requested');
      return error;
    }
    if (error instanceof HttpException) return this.explainHttp(error, request, response);
    this.logger.error({ err: error, ...traceFields(request) }, 'request failed');
    return new DomainError(
      'internal_error',
      'The service failed. Try again; if the error persists, report the request_id.',
    );
  }

  /** Explains Nest's own exceptions: an unknown route, or a path that cannot be decoded. */
  private explainHttp(error: HttpException, request: Request, response: Response): DomainError {
    const status = error.getStatus();
    if (status === 404) {
      const methods = this.routes.methodsOf(request.path);
      if (methods.length === 0)
        return new DomainError('not_found', 'No such route. The OpenAPI document lists the routes.');
      response.setHeader('Allow', methods.join(', '));
      const message = `This path does not support ${request.method}. Use ${methods.join(' or ')}.`;
      return new DomainError('method_not_allowed', message);
    }
    if (status === 400) {
      return new DomainError('validation_error', 'The path cannot be decoded: percent-encode it as UTF-8.', [
        { path: '/path', message: 'malformed percent-encoding', code: 'invalid_format' },
      ]);
    }
    const code: ErrorCode = status === 413 ? 'payload_too_large' : 'internal_error';
    return new DomainError(code, error.message);
  }
}
