/** Under which names what does not change any more is kept, so that it is not asked anew with each change of the tenant. */
export const CONTENT = 'content';
export const PROVENANCE = 'provenance';
export const VERSIONS = 'versions';
