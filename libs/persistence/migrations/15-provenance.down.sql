ALTER TABLE tenants DROP COLUMN evidence_policy;
DROP TABLE subject_evidence, snapshot_provenance;
