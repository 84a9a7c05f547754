import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { ApiExtension, ApiExtraModels } from '@nestjs/swagger';
import type { Request } from 'express';
import { documented } from '../describe/openapi';
import { requireShape } from '../request/shape';

/** Names the class that an operation's query is read by, until the document shows its fields as parameters. */
export const QUERY_CLASS = 'x-query-class';

const readQuery = createParamDecorator((shape: Type<object>, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  return request.url.includes('?') ? requireShape(shape, { ...request.query }, ['query']) : withoutQuery(shape);
});

const empty = new WeakMap<Type<object>, object>();

/** What every request without a query has. Checked once, not each time (fast/README.md). */
function withoutQuery(shape: Type<object>): object {
  const known = empty.get(shape) ?? Object.freeze(requireShape(shape, {}, ['query']));
  empty.set(shape, known);
  return known;
}

/**
 * Injects the query as an instance of a class with class-validator rules; faults are named under `/query`. Its fields are
 * documented as the operation's query parameters.
 */
export function QueryOf(shape: Type<object>): ParameterDecorator {
  return documented(readQuery(shape), ApiExtraModels(shape), ApiExtension(QUERY_CLASS, shape.name));
}
