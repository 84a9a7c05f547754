-- A subject's live grants in the order of their grantees, which a caller's tenants come in as well: what both have is found
-- without reading either whole. All keys are positive: only who says so is answered by this index, so that a search by
-- grantee and subject has one way to its row, the index of live grants (docs/decisions/0013-plans-whatever-statistics-say.md).

CREATE INDEX grants_live_by_grantee ON grants (subject_key, grantee_tenant_id) WHERE revoked_at IS NULL AND subject_key > 0;
