-- Stores the principal type of each principal's last token, for membership records that are created without one.

CREATE TABLE claimed_types (
  principal_id text COLLATE "C" PRIMARY KEY,
  claimed_type text NOT NULL CHECK (claimed_type IN ('human', 'service_account', 'ai_agent')),
  seen_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE claimed_types IS 'The principal type in the last verified token; a principal whose tokens always said human has no row';
