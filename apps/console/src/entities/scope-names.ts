import type { Scope } from '@iss/domain/pure';

/** Short names of the scopes of a grant. The first view contains them without the rest of the words for grants. */
export const SCOPE_TITLES: Readonly<Record<Scope, string>> = {
  read_latest: 'Latest',
  read_lineage: 'Lineage',
  read_snapshot_by_id: 'By id',
  read_diff: 'Differences',
  issue_view: 'Credentials',
};

export function scopeNames(scopes: readonly Scope[]): string {
  return scopes.map((scope) => SCOPE_TITLES[scope]).join(', ');
}
