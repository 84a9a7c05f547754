import { type Scope, SCOPE_TITLES } from './scope-names.ts';

/** The scopes of a grant: a short name, and a sentence. */
export const SCOPES: Readonly<Record<Scope, { readonly name: string; readonly lets: string }>> = {
  read_latest: {
    name: SCOPE_TITLES.read_latest,
    lets: 'The latest version with its attributes and evidence. Search finds the subject by name and identifier.',
  },
  read_lineage: {
    name: SCOPE_TITLES.read_lineage,
    lets: 'Every past and future version: history, the origin of each value, chain proof, export.',
  },
  read_snapshot_by_id: {
    name: SCOPE_TITLES.read_snapshot_by_id,
    lets: 'A single version by its number or id, with its proof. Not the list of versions.',
  },
  read_diff: {
    name: SCOPE_TITLES.read_diff,
    lets: 'The changes between two versions, with the values before and after.',
  },
};

export const GRANT = {
  grantee: 'Grantee',
  owner: 'Owner',
  subject: 'Subject',
  allSubjects: 'All subjects',
  allSubjectsNote: 'Existing and future subjects',
  mayRead: 'May read',
  everything: 'Everything',
  until: 'Until',
  noEnd: 'No end',
  purpose: 'Purpose',
  noPurpose: 'none stated',
  status: 'Status',
  statuses: {
    live: 'Live',
    scheduled: 'Not started',
    expiring: 'Ends within 30 days',
    expired: 'Expired',
    revoked: 'Revoked',
  },
} as const;
