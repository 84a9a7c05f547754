import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/** Lets callers without a token reach one route. A method decorator on purpose: no controller is public as a whole. */
export const Public = (): MethodDecorator => SetMetadata(IS_PUBLIC, true);
