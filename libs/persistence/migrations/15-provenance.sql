-- Stores since when each leaf of a version has its value, and the evidence that its owner must mend (docs/provenance.md).
-- Both are written with the version. `npm run tool -- db/fill-provenance` adds them to older versions.

CREATE TABLE snapshot_provenance (
  subject_key      bigint NOT NULL,
  snapshot_version integer NOT NULL,
  changed_by       text NOT NULL,
  origins          bytea,
  PRIMARY KEY (subject_key, snapshot_version),
  CHECK ((origins IS NULL) = (snapshot_version = 1))
);
COMMENT ON TABLE snapshot_provenance IS 'One row per version of a subject with several; the row of the first is written with the second';
COMMENT ON COLUMN snapshot_provenance.changed_by IS 'audit.created_by as JSON text, because a JSON string may have characters that PostgreSQL refuses';
COMMENT ON COLUMN snapshot_provenance.origins IS 'Runs of leaves in canonical order, as varints: the length, then twice the version, plus one if evidence was carried';

CREATE TABLE subject_evidence (
  subject_key     bigint PRIMARY KEY,
  owner_tenant_id text COLLATE "C" NOT NULL,
  subject_type    text COLLATE "C" NOT NULL,
  subject_id      text COLLATE "C" NOT NULL,
  has_missing     boolean NOT NULL,
  has_carried     boolean NOT NULL,
  CHECK (has_missing OR has_carried)
);
CREATE INDEX subject_evidence_missing ON subject_evidence (owner_tenant_id, subject_type, subject_id) WHERE has_missing;
CREATE INDEX subject_evidence_carried ON subject_evidence (owner_tenant_id, subject_type, subject_id) WHERE has_carried;
COMMENT ON TABLE subject_evidence IS 'Only subjects whose latest version has leaves with missing or carried evidence';

ALTER TABLE tenants ADD COLUMN evidence_policy text NOT NULL DEFAULT 'open'
  CHECK (evidence_policy IN ('open', 'resolved', 'fresh'));
