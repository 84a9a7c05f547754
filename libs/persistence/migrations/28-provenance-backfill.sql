-- The progress of the search for the provenance of older versions (15-provenance.sql), so that npm run db:migrate can
-- continue it after an interruption. A database in which it was complete is searched once more.

CREATE TABLE provenance_backfill (
  is_one           boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  subject_key      bigint NOT NULL DEFAULT 0,
  snapshot_version integer NOT NULL DEFAULT 0
);
INSERT INTO provenance_backfill SELECT WHERE EXISTS (SELECT FROM snapshots);
COMMENT ON TABLE provenance_backfill IS 'The last examined version; no row if all were examined';
