-- The change feed (docs/feed.md): the log entries that concern each tenant. A page is found by its reader and its place,
-- independent of the number of subjects and grants. Batches write it from the entries of the log, starting with the first
-- one, so it also has entries that were logged before this step.

CREATE TABLE log_feed (
  is_one   boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  size     bigint NOT NULL,
  began_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO log_feed (size) VALUES (0);
COMMENT ON COLUMN log_feed.size IS 'The number of log entries, from the first one on, that are in the feeds of all tenants that they concern';
COMMENT ON COLUMN log_feed.began_at IS 'Earlier facts have no events for grantees';

CREATE TABLE tenant_feed (
  tenant_id   text COLLATE "C" NOT NULL,
  last_index  bigint NOT NULL,
  log_indexes bigint[] NOT NULL CHECK (log_indexes[cardinality(log_indexes)] = last_index),
  PRIMARY KEY (tenant_id, last_index)
);
COMMENT ON TABLE tenant_feed IS 'Entries about a tenant''s own facts and about grants to it, ascending over consecutive rows';

CREATE TABLE shared_feed (
  tenant_id text COLLATE "C" NOT NULL,
  log_index bigint NOT NULL,
  PRIMARY KEY (tenant_id, log_index)
);
COMMENT ON TABLE shared_feed IS 'Entries about subjects that a tenant was granted; its right is checked when they are shown';
