CREATE INDEX CONCURRENTLY subjects_by_name
  ON subjects ((owner_tenant_id || '/'), subject_type, name, subject_key) WHERE name IS NOT NULL
