/** First parts of the keys of immutable data. A change of the tenant's data does not reload queries with these keys. */
export const CONTENT = 'content';
export const PROVENANCE = 'provenance';
export const VERSIONS = 'versions';
