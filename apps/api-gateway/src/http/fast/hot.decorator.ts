import { SetMetadata } from '@nestjs/common';

export const IS_HOT = Symbol('IS_HOT');

/**
 * Also serves a route by the hot lane (docs/decisions/0010-hot-lane.md). Use it for the few routes that carry nearly
 * all the load; others are only slower without it.
 */
export const Hot = (): MethodDecorator => SetMetadata(IS_HOT, true);
