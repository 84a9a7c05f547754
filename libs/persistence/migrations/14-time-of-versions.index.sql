CREATE INDEX CONCURRENTLY snapshots_by_effective_time
  ON snapshots (subject_key, effective_time(generated_at), snapshot_version) WHERE snapshot_version > 1
