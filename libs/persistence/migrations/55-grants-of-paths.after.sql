-- Runs after each call of `db:migrate` has built the indexes: disclosures_once then replaces the primary key.
ALTER TABLE disclosures DROP CONSTRAINT IF EXISTS disclosures_pkey
