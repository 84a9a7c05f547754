-- Whose cosignatures a checkpoint has before it is published, as the worker that signs was told: the gateway says it on.

CREATE TABLE log_policy (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  policy text NOT NULL
);
COMMENT ON TABLE log_policy IS 'C2SP tlog-policy of the worker that signs; no row: it needs no witnesses';
