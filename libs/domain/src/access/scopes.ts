/** The rights that a grant can give its grantee on a subject (specification, "Grant"). */
export const READ_SCOPES = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'] as const;
export const SCOPES = [...READ_SCOPES, 'issue_view'] as const;
export type Scope = (typeof SCOPES)[number];
