import { createHash } from 'node:crypto';
import { DomainError } from '@iss/domain';
import { IdempotencyStore } from '@iss/persistence';
import { limitReached, type Logger, LOGGER, SecretBox, SecretBoxError } from '@iss/platform';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { readAnswer, type StoredAnswer, subjectOfAnswer, writeAnswer } from './idempotency-answer';
import { ReplayedAnswer } from './idempotency-replay.filter';
import { KeyLimiter } from './key-limiter';
import { ReplayAccess } from './replay-access';
import { readBody } from '../request/json-body';
import { traceFields } from '../request/request-id';
import { operationOf } from '../describe/operation.decorator';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const RETRY_AFTER_SECONDS = '1';

/**
 * Executes a POST with an `Idempotency-Key` once per principal, method, path and body (contract, "Idempotency"). A
 * repeated request gets the first response through {@link ReplayedAnswer}, if its caller still has access. New keys per
 * principal and day are limited; known keys are answered beyond the limit too. Runs after authentication and after the
 * rate limit. It is a guard because an interceptor would slow down every request of every route.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly keys: IdempotencyStore,
    private readonly newKeys: KeyLimiter,
    private readonly secrets: SecretBox,
    private readonly access: ReplayAccess,
    private readonly reflector: Reflector,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const key = request.headers['idempotency-key'];
    if (key === undefined || request.method !== 'POST') return true;
    if (operationOf(context)?.takesNoKey === true) throw keyNotTaken();
    return this.begin(context, request, key);
  }

  private async begin(context: ExecutionContext, request: Request, key: string | string[]): Promise<boolean> {
    const response = context.switchToHttp().getResponse<Response>();
    const keyHash = hashOfKey(request, requireKey(key));
    const bodyHash = sha256(await readBody(request));
    const principalId = principalIdOf(request);
    const { isAllowed, limit } = await this.newKeys.take(principalId);
    const outcome = await this.keys.begin(keyHash, bodyHash, isAllowed);
    if (isAllowed && outcome.kind !== 'began') this.newKeys.giveBack(principalId);
    switch (outcome.kind) {
      case 'began':
        interceptAnswer(response, (answer) => this.settle(request, keyHash, outcome.claim, answer));
        return true;
      case 'answered':
        await this.access.require(context);
        throw new ReplayedAnswer(this.open(outcome.answer, keyHash));
      case 'running':
        response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
        throw conflict(
          'The first request with this Idempotency-Key is still running. Send it again shortly.',
          'running',
        );
      case 'other_body':
        throw conflict('This Idempotency-Key was used with another body. Use a fresh key.', 'mismatch');
      case 'refused':
        throw limitReached('idempotency_keys_per_day', limit);
    }
  }

  private open(sealed: string, keyHash: Buffer): StoredAnswer {
    try {
      return readAnswer(this.secrets.open(sealed, keyHash.toString('hex')));
    } catch (error) {
      // The response was encrypted with a key that has left the ring. The request must not run twice because of that.
      if (error instanceof SecretBoxError) {
        throw conflict(
          'The first response to this Idempotency-Key can no longer be read. Use a fresh key.',
          'unreadable',
        );
      }
      throw error;
    }
  }

  /** Stores a final response. After any other response the key is free again, so that the next request is executed. */
  private async settle(request: Request, keyHash: Buffer, claim: string, answer: StoredAnswer | null): Promise<void> {
    try {
      if (answer !== null && isFinal(answer)) {
        const sealed = this.secrets.seal(writeAnswer(answer), keyHash.toString('hex'));
        await this.keys.keep(keyHash, claim, sealed, subjectOfAnswer(answer));
        return;
      }
    } catch (error) {
      this.logger.warn(
        { err: error, ...traceFields(request) },
        'could not store the first response to an Idempotency-Key',
      );
    }
    await this.keys.free(keyHash, claim).catch((error: unknown) => {
      this.logger.warn({ err: error, ...traceFields(request) }, 'could not free an Idempotency-Key');
    });
  }
}

/**
 * Returns whether a response is final: a success, or a conflict with the current state. Any other refusal may change
 * when the same request is sent again.
 */
function isFinal({ status }: StoredAnswer): boolean {
  return status < 400 || status === 409;
}

function requireKey(key: string | string[]): string {
  if (typeof key === 'string' && VISIBLE_ASCII.test(key)) return key;
  const message = 'must be 1 to 255 visible ASCII characters';
  throw new DomainError('validation_error', `Idempotency-Key ${message}.`, [
    { path: '/headers/idempotency-key', message, code: 'invalid_format' },
  ]);
}

function keyNotTaken(): DomainError {
  const message = 'is not allowed here';
  return new DomainError(
    'validation_error',
    'This request takes no Idempotency-Key. Leave it out; the operation’s description says how to retry each part.',
    [{ path: '/headers/idempotency-key', message, code: 'unknown_field' }],
  );
}

function conflict(message: string, code: string): DomainError {
  return new DomainError('conflict', message, [{ path: '/headers/idempotency-key', message, code }]);
}

/** Hashes the key together with the path as the route reads it: its pattern and its decoded parameters. */
function hashOfKey(request: Request, key: string): Buffer {
  const route: unknown = request.route;
  const pattern = typeof route === 'object' && route !== null && 'path' in route ? route.path : request.path;
  return sha256(JSON.stringify([principalIdOf(request), request.method, pattern, request.params, key]));
}

function principalIdOf({ principal }: Request): string {
  return principal?.principalId ?? '';
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/**
 * Passes the whole response of a request to `settle` and sends it only when that is done, whether the handler or the
 * error filter creates it. Passes null if the response was sent in parts. It does so even if the client is gone,
 * because the client's retry needs the response.
 */
function interceptAnswer(response: Response, settle: (answer: StoredAnswer | null) => Promise<void>): void {
  const { end } = response;
  response.end = (...sent: unknown[]): Response => {
    const [body = ''] = sent;
    const isWhole = !response.headersSent && (typeof body === 'string' || Buffer.isBuffer(body));
    const answer = isWhole ? { status: response.statusCode, headers: response.getHeaders(), body: String(body) } : null;
    const send = (): Response => Reflect.apply(end, response, sent);
    settle(answer).then(send, send);
    return response;
  };
}
