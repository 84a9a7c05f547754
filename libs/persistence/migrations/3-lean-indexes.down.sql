DROP INDEX updates_request_key, updates_applied_snapshot_key;
ALTER TABLE updates ADD CONSTRAINT updates_request_key UNIQUE (tenant_id, request_id),
                    ADD CONSTRAINT updates_applied_snapshot_key UNIQUE (applied_snapshot_id);

ALTER TABLE subjects DROP CONSTRAINT subjects_identity_key;
ALTER TABLE subjects ADD CONSTRAINT subjects_identity_key UNIQUE (subject_type, subject_id);
