import type { api } from '@identity-state/client';

export type Scope = api.Grant['scopes'][number];

/** Short names of the scopes of a grant. The first view contains them without the rest of the words for grants. */
export const SCOPE_TITLES: Readonly<Record<Scope, string>> = {
  read_latest: 'Latest',
  read_lineage: 'Lineage',
  read_snapshot_by_id: 'By id',
  read_diff: 'Differences',
  issue_view: 'Credentials',
};

/** In the order in which they are shown. */
export const SCOPES: readonly Scope[] = [
  'read_latest',
  'read_lineage',
  'read_snapshot_by_id',
  'read_diff',
  'issue_view',
];

export function scopeNames(scopes: readonly Scope[]): string {
  return scopes.map((scope) => SCOPE_TITLES[scope]).join(', ');
}
