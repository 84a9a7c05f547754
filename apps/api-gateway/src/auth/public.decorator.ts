import type { PublicWhen } from '@iss/contract';
import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/**
 * Opens one route to requests without a token, always or if a setting says so. It is a method decorator on purpose: no
 * controller is public as a whole.
 */
export const Public = (when: PublicWhen = 'always'): MethodDecorator => SetMetadata(IS_PUBLIC, when);
