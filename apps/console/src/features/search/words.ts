/** Texts of the search. */
export const TEXT = {
  byName: 'By name',
  byId: 'By id',
  byIdentifier: 'By identifier',
  sharedByIdentifier: 'Shared with you: By identifier',
  records: 'With this id',
  version: (version: number) => `Version ${version} of`,
  grant: (grantee: string | null, grantor: string) =>
    grantee === null ? `Grant of ${grantor} on` : `Grant to ${grantee} on`,
  update: 'Proposal on',
  request: 'Refresh request on',
  allSubjects: 'all subjects',
  noneFound: (find: string) => `Nothing found for “${find}”`,
  noneFoundText:
    'Search matches the beginning of names and ids, whole identifiers, and whole ids of versions, grants, proposals and requests. A subject of another tenant is found only by name or identifier, and only if you may read its latest version.',
} as const;
