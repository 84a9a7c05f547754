import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Fields, SentBy, Shape } from '@iss/contract';
import { documented } from '../describe/openapi';

/** Extension with the schema of an operation's query, until the document shows its members as parameters. */
export const QUERY = 'x-query';

/** Marks a route that checks its query against a shape. */
export const TAKES_QUERY = Symbol('TAKES_QUERY');

/** Documents the parameters of a query that a parameter decorator reads. */
export function declareQuery(shape: Shape<Fields>): MethodDecorator {
  return applyDecorators(ApiExtension(QUERY, shape.schema), SetMetadata(TAKES_QUERY, true));
}

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

const readQuery = createParamDecorator((shape: Shape<Fields>, context: ExecutionContext): object =>
  sentQuery(context.switchToHttp().getRequest<Request>(), shape),
);

/** Injects the query and documents its parameters. Problems are named under `/query`. */
export function QueryOf(shape: Shape<Fields>): ParameterDecorator {
  return documented(readQuery(shape), declareQuery(shape));
}
