DROP TABLE provenance_backfill;
