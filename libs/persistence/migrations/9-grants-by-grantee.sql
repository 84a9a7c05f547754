-- A subject's live grants in the order of their grantees, which is also the order of a caller's tenants. So their
-- intersection is found without reading either completely. All keys are positive, and only a search with that condition uses
-- this index. So a search by grantee and subject has one way to its row: the index of live grants
-- (docs/decisions/0013-plans-whatever-statistics-say.md).

CREATE INDEX grants_live_by_grantee ON grants (subject_key, grantee_tenant_id) WHERE revoked_at IS NULL AND subject_key > 0;
