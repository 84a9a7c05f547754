import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/** When a route accepts requests without a token. */
export type PublicWhen = 'always' | 'global_reads_are_public' | 'legacy_paths_are_public';

/**
 * Opens one route to requests without a token, always or if a setting says so. It is a method decorator on purpose: no
 * controller is public as a whole.
 */
export const Public = (when: PublicWhen = 'always'): MethodDecorator => SetMetadata(IS_PUBLIC, when);
