import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Fields, SentBy, Shape } from '@iss/contract';
import { operationOf } from '../describe/operation.decorator';

/** A moment whose `+` was not escaped. In a query, that is a space. */
const MOMENT_WITHOUT_PLUS = /^\d{4}-\d\d-\d\dT[\d:.]+ \d\d:\d\d$/;

/** Returns the query, checked against a shape. Throws `validation_error`, with problems under `/query`. */
export function sentQuery<F extends Fields>(request: Request, shape: Shape<F>): SentBy<F> {
  // Express parses the query on access, even if there is none.
  const sent: Record<string, unknown> = request.url.includes('?') ? { ...request.query } : {};
  for (const [name, value] of Object.entries(sent)) {
    if (typeof value === 'string' && MOMENT_WITHOUT_PLUS.test(value)) sent[name] = value.replace(' ', '+');
  }
  return shape.require(sent, ['query']);
}

/** Injects the query, checked by its operation. Problems are named under `/query`. */
export const QueryOf = createParamDecorator((_: unknown, context: ExecutionContext): object => {
  const { query } = operationOf(context) ?? {};
  if (query === undefined) throw new Error(`${context.getHandler().name} takes no query`);
  return sentQuery(context.switchToHttp().getRequest<Request>(), query);
});
