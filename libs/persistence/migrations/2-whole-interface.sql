-- Adds refresh requests, transfer offers, first answers by Idempotency-Key, rate limits, traces of events, retention, and
-- hashes for imports without them.

CREATE TABLE refresh_requests (
  refresh_request_id        uuid PRIMARY KEY,
  subject_key               bigint NOT NULL,
  requesting_tenant_id      text COLLATE "C" NOT NULL,
  requested_by              text COLLATE "C" NOT NULL,
  origin_type               text NOT NULL CHECK (origin_type IN ('owner', 'counterparty')),
  status                    text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'fulfilled')),
  reason_code               text,
  message                   text,
  requested_paths           text[] NOT NULL DEFAULT '{}',
  created_at                timestamptz NOT NULL DEFAULT now(),
  expires_at                timestamptz,
  resolved_at               timestamptz,
  resolved_snapshot_id      uuid,
  resolved_snapshot_version integer,
  CONSTRAINT refresh_requests_resolved_check CHECK (
    (status = 'fulfilled') = (resolved_at IS NOT NULL AND resolved_snapshot_id IS NOT NULL
                              AND resolved_snapshot_version IS NOT NULL))
);
CREATE INDEX refresh_requests_by_subject ON refresh_requests (subject_key, created_at DESC, refresh_request_id DESC);
CREATE INDEX refresh_requests_by_requester
  ON refresh_requests (subject_key, requesting_tenant_id, created_at DESC, refresh_request_id DESC);

CREATE TABLE transfer_offers (
  offer_id          uuid PRIMARY KEY,
  tenant_id         text COLLATE "C" NOT NULL REFERENCES tenants,
  from_principal_id text COLLATE "C" NOT NULL,
  to_principal_id   text COLLATE "C" NOT NULL,
  message           text,
  status            text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'declined', 'cancelled', 'expired')),
  created_at        timestamptz NOT NULL DEFAULT now(),
  expires_at        timestamptz,
  resolved_at       timestamptz
);
CREATE UNIQUE INDEX transfer_offers_pending_key ON transfer_offers (tenant_id) WHERE status = 'pending';
CREATE INDEX transfer_offers_by_tenant ON transfer_offers (tenant_id, created_at DESC, offer_id DESC);
CREATE INDEX transfer_offers_by_recipient ON transfer_offers (tenant_id, to_principal_id, created_at DESC, offer_id DESC);

CREATE TABLE idempotency_keys (
  key_hash   bytea PRIMARY KEY CHECK (octet_length(key_hash) = 32),
  body_hash  bytea NOT NULL CHECK (octet_length(body_hash) = 32),
  started_at timestamptz NOT NULL DEFAULT now(),
  answer     text
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (started_at);
COMMENT ON TABLE idempotency_keys IS 'key_hash covers principal, method, path and key; answer is sealed, because it may have a secret, and null while the first request runs';

CREATE UNLOGGED TABLE rate_limits (
  principal_id text COLLATE "C" PRIMARY KEY,
  window_start timestamptz NOT NULL,
  used         integer NOT NULL
) WITH (fillfactor = 50);

ALTER TABLE outbox_events ADD COLUMN traceparent text;

DROP INDEX updates_by_tenant, updates_by_subject;
CREATE INDEX updates_by_tenant ON updates (tenant_id, status, created_at DESC, update_id DESC);
CREATE INDEX updates_by_subject ON updates (subject_key, status, created_at DESC, update_id DESC);

ALTER TABLE deliveries ADD COLUMN retries_from integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN deliveries.retries_from IS 'The number of attempts before the last redelivery, which restarts the retry schedule';

CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX outbox_events_done ON outbox_events (fanned_out_at, event_id) WHERE fanned_out_at IS NOT NULL;
CREATE INDEX rate_limits_by_age ON rate_limits (window_start);

CREATE INDEX snapshots_unsealed ON snapshots (subject_key, snapshot_version)
  WHERE envelope_hash IS NULL OR (prev_hash IS NULL AND snapshot_version > 1);
COMMENT ON INDEX snapshots_unsealed IS 'Imported snapshots without hashes, for npm run tool -- db/fill-hashes; empty otherwise';

CREATE OR REPLACE FUNCTION refuse_snapshot_change() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  filled snapshots;
BEGIN
  -- An import may leave hashes out. Each may be filled in, once, with the one value that it can have, alone.
  IF TG_OP = 'UPDATE' THEN
    IF OLD.envelope_hash IS NULL THEN
      filled := OLD;
      filled.envelope_hash := sha256(convert_to(OLD.envelope, 'UTF8'));
      IF NEW IS NOT DISTINCT FROM filled THEN RETURN NEW; END IF;
    END IF;
    IF OLD.prev_hash IS NULL AND NEW.prev_hash IS NOT NULL THEN
      filled := OLD;
      filled.prev_hash := (SELECT parent.envelope_hash FROM snapshots parent
                            WHERE parent.subject_key = OLD.subject_key
                              AND parent.snapshot_version = OLD.snapshot_version - 1);
      IF NEW IS NOT DISTINCT FROM filled THEN RETURN NEW; END IF;
    END IF;
  END IF;
  RAISE EXCEPTION 'snapshots are immutable: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
