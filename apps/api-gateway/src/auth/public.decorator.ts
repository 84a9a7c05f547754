import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/** When a route takes callers without a token. */
export type PublicWhen = 'always' | 'global_reads_are_public' | 'legacy_paths_are_public';

/**
 * Lets callers without a token reach one route, always or where a setting says so. A method decorator on purpose: no
 * controller is public as a whole.
 */
export const Public = (when: PublicWhen = 'always'): MethodDecorator => SetMetadata(IS_PUBLIC, when);
