-- Makes indexes cheaper for writes. The column that distinguishes subjects comes first, so that a look-up compares one text
-- per step. Updates have entries only for the values that they have: most have no `request_id`, and no snapshot yet.

ALTER TABLE subjects DROP CONSTRAINT subjects_identity_key;
ALTER TABLE subjects ADD CONSTRAINT subjects_identity_key UNIQUE (subject_id, subject_type);

ALTER TABLE updates DROP CONSTRAINT updates_request_key, DROP CONSTRAINT updates_applied_snapshot_key;
CREATE UNIQUE INDEX updates_request_key ON updates (tenant_id, request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX updates_applied_snapshot_key ON updates (applied_snapshot_id) WHERE applied_snapshot_id IS NOT NULL;
