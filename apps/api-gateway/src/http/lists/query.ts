import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Fields } from '../describe/field';
import { documented } from '../describe/openapi';
import type { Shape } from '../request/shape';

/** Holds the schema of an operation's query, until the document shows its members as parameters. */
export const QUERY = 'x-query';

/** Marks a route that requires a shape of its query. */
export const TAKES_QUERY = Symbol('TAKES_QUERY');

/** Documents the parameters of a query that a parameter decorator reads. */
export function declareQuery(shape: Shape<Fields>): MethodDecorator {
  return applyDecorators(ApiExtension(QUERY, shape.schema), SetMetadata(TAKES_QUERY, true));
}

const readQuery = createParamDecorator((shape: Shape<Fields>, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  // Express parses the query when it is asked for, also where there is none.
  return shape.require(request.url.includes('?') ? { ...request.query } : {}, ['query']);
});

/** Injects the query, and documents its parameters. Faults are named under `/query`. */
export function QueryOf(shape: Shape<Fields>): ParameterDecorator {
  return documented(readQuery(shape), declareQuery(shape));
}
