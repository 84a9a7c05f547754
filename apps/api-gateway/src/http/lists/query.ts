import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { ApiExtension, ApiExtraModels } from '@nestjs/swagger';
import type { Request } from 'express';
import { documented } from '../describe/openapi';
import { requireShape } from '../request/shape';

/** Names the class that an operation's query is read by, until the document shows its fields as parameters. */
export const QUERY_CLASS = 'x-query-class';

const readQuery = createParamDecorator((shape: Type<object>, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  return requireShape(shape, { ...request.query }, ['query']);
});

/**
 * Injects the query as an instance of a class with class-validator rules; faults are named under `/query`. Its fields are
 * documented as the operation's query parameters.
 */
export function QueryOf(shape: Type<object>): ParameterDecorator {
  return documented(readQuery(shape), ApiExtraModels(shape), ApiExtension(QUERY_CLASS, shape.name));
}
