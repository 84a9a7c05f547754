import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Fields } from '../describe/field';
import { documented } from '../describe/openapi';
import type { Shape } from '../request/shape';

/** Holds the schema of an operation's query, until the document shows its members as parameters. */
export const QUERY = 'x-query';

const readQuery = createParamDecorator((shape: Shape<Fields>, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  // Express parses the query when it is asked for, also where there is none.
  return shape.require(request.url.includes('?') ? { ...request.query } : {}, ['query']);
});

/** Injects the query, and documents its parameters. Faults are named under `/query`. */
export function QueryOf(shape: Shape<Fields>): ParameterDecorator {
  return documented(readQuery(shape), ApiExtension(QUERY, shape.schema));
}
