import type { api } from '@identity-state/client';

/** Short names of the scopes of a grant. */
export const SCOPE_NAMES = {
  read_latest: 'Latest',
  read_lineage: 'Lineage',
  read_snapshot_by_id: 'By id',
  read_diff: 'Differences',
} as const satisfies Record<api.Grant['scopes'][number], string>;
