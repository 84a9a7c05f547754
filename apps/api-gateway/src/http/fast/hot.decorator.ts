import { SetMetadata } from '@nestjs/common';

export const IS_HOT = Symbol('IS_HOT');

/**
 * Has a route served by the hot lane too (docs/decisions/0010-hot-lane.md). For the few that carry nearly all the load:
 * any other is merely slower without it.
 */
export const Hot = (): MethodDecorator => SetMetadata(IS_HOT, true);
