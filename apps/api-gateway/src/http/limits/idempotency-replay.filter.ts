import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import type { Answer } from './idempotency-answer';

/** Thrown instead of running a request again. */
export class Replay extends Error {
  override readonly name = 'Replay';

  constructor(readonly answer: Answer) {
    super('The request was answered before.');
  }
}

/** Sends the first answer again. */
@Catch(Replay)
export class ReplayFilter implements ExceptionFilter<Replay> {
  catch({ answer }: Replay, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(answer.status);
    for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, String(value));
    response.setHeader('Idempotency-Replayed', 'true');
    if (answer.body !== '') response.setHeader('Content-Length', Buffer.byteLength(answer.body));
    response.end(answer.body);
  }
}
