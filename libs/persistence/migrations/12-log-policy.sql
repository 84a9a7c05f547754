-- The policy for cosignatures of published checkpoints, from the configuration of the signing worker. The gateway serves it.

CREATE TABLE log_policy (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  policy text NOT NULL
);
COMMENT ON TABLE log_policy IS 'The C2SP tlog-policy of the signing worker; no row if it needs no witnesses';
