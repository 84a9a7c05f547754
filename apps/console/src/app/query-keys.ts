/** First parts of the keys of immutable data. The reload after a change of the tenant does not match them. */
export const CONTENT = 'content';
export const PROVENANCE = 'provenance';
export const VERSIONS = 'versions';
