-- The change feed (docs/feed.md): the log entries that concern each tenant. A page is found by its reader and its place,
-- independent of the number of subjects and grants. Batches write it from the entries of the log, starting with the first
-- one, so it also has entries that were logged before this step.

CREATE TABLE log_feed (
  is_one   boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  size     bigint NOT NULL,
  began_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO log_feed (size) VALUES (0);
COMMENT ON COLUMN log_feed.size IS 'Entries of the log, from the first one on, that are in the feeds of all whom they concern';
COMMENT ON COLUMN log_feed.began_at IS 'What happened before made no events for those a subject is shared with';

CREATE TABLE tenant_feed (
  tenant_id   text COLLATE "C" NOT NULL,
  last_index  bigint NOT NULL,
  log_indexes bigint[] NOT NULL CHECK (log_indexes[cardinality(log_indexes)] = last_index),
  PRIMARY KEY (tenant_id, last_index)
);
COMMENT ON TABLE tenant_feed IS 'Entries about what a tenant owns, and of grants to it: ascending, in rows that follow one another';

CREATE TABLE shared_feed (
  tenant_id text COLLATE "C" NOT NULL,
  log_index bigint NOT NULL,
  PRIMARY KEY (tenant_id, log_index)
);
COMMENT ON TABLE shared_feed IS 'Entries about subjects that a tenant was granted; whether it may still read them is asked when they are shown';
