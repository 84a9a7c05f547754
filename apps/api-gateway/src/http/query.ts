import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Request } from 'express';
import { requireShape } from './shape';

/** Injects the query as an instance of a class with class-validator rules; faults are named under `/query`. */
export const QueryOf = createParamDecorator((shape: Type<object>, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  return requireShape(shape, { ...request.query }, ['query']);
});
