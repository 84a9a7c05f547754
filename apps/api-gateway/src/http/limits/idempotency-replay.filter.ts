import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import type { StoredAnswer } from './idempotency-answer';

/** Thrown instead of executing a repeated request. */
export class ReplayedAnswer extends Error {
  override readonly name = 'ReplayedAnswer';

  constructor(readonly answer: StoredAnswer) {
    super('The request was answered before.');
  }
}

/** Sends the first response again. */
@Catch(ReplayedAnswer)
export class ReplayFilter implements ExceptionFilter<ReplayedAnswer> {
  catch({ answer }: ReplayedAnswer, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(answer.status);
    for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, String(value));
    response.setHeader('Idempotency-Replayed', 'true');
    if (answer.body !== '') response.setHeader('Content-Length', Buffer.byteLength(answer.body));
    response.end(answer.body);
  }
}
