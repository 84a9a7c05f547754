-- The first schema. Its rules:
-- - Identifiers compare byte for byte: `COLLATE "C"`.
-- - Nothing is updated by every write: heads, usage and counters are read from indexes, and hot tables have
--   no foreign keys, because each check would lock the parent row (docs/decisions/0003-schema-for-many-writers.md).
-- - Snapshots are insert-only: privileges for the application (privileges.sql), and triggers for the owner of the tables.

CREATE TABLE tenants (
  tenant_id      text COLLATE "C" PRIMARY KEY,
  name           text NOT NULL,
  slug           text COLLATE "C" CONSTRAINT tenants_slug_key UNIQUE,
  chain_enforced boolean NOT NULL DEFAULT true,
  created_at     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE memberships (
  tenant_id                 text COLLATE "C" NOT NULL REFERENCES tenants,
  principal_id              text COLLATE "C" NOT NULL,
  tenancy_role              text NOT NULL DEFAULT 'member' CHECK (tenancy_role IN ('account_admin', 'member')),
  api_functional_role       text NOT NULL CHECK (api_functional_role IN
    ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')),
  principal_type            text NOT NULL DEFAULT 'human' CHECK (principal_type IN ('human', 'service_account', 'ai_agent')),
  allow_counterparty_access boolean NOT NULL DEFAULT false,
  status                    text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'removed')),
  created_at                timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, principal_id)
);
CREATE INDEX memberships_by_principal ON memberships (principal_id, tenant_id) WHERE status = 'active';

CREATE TABLE subjects (
  subject_key     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subject_type    text COLLATE "C" NOT NULL CHECK (subject_type IN ('individual', 'organization', 'entity')),
  subject_id      text COLLATE "C" NOT NULL,
  owner_tenant_id text COLLATE "C" NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT subjects_identity_key UNIQUE (subject_type, subject_id)
);
CREATE INDEX subjects_by_owner ON subjects (owner_tenant_id, subject_type, subject_id);

CREATE TABLE snapshots (
  subject_key      bigint NOT NULL,
  snapshot_version integer NOT NULL CHECK (snapshot_version >= 1),
  snapshot_id      uuid NOT NULL CONSTRAINT snapshots_snapshot_id_key UNIQUE,
  tenant_id        text COLLATE "C" NOT NULL,
  generated_at     text NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now(),
  envelope_hash    bytea CHECK (octet_length(envelope_hash) = 32),
  prev_hash        bytea CHECK (prev_hash IS NULL OR (octet_length(prev_hash) = 32 AND snapshot_version > 1)),
  envelope         text NOT NULL,
  CONSTRAINT snapshots_version_key PRIMARY KEY (subject_key, snapshot_version)
);
CREATE INDEX snapshots_by_tenant ON snapshots (tenant_id, created_at);
COMMENT ON COLUMN snapshots.envelope IS 'The RFC 8785 text that was hashed; text, because jsonb would change it';

CREATE FUNCTION refuse_snapshot_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'snapshots are immutable: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER snapshots_immutable BEFORE UPDATE OR DELETE ON snapshots
  FOR EACH ROW EXECUTE FUNCTION refuse_snapshot_change();
CREATE TRIGGER snapshots_not_truncated BEFORE TRUNCATE ON snapshots
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_snapshot_change();

ALTER TABLE snapshots ENABLE ROW LEVEL SECURITY;
CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app USING (true);
CREATE POLICY snapshots_sealed ON snapshots FOR INSERT TO iss_app
  WITH CHECK (envelope_hash = sha256(convert_to(envelope, 'UTF8')));

CREATE TABLE updates (
  update_id             uuid PRIMARY KEY,
  tenant_id             text COLLATE "C" NOT NULL,
  subject_key           bigint NOT NULL,
  base_snapshot_id      uuid NOT NULL,
  base_snapshot_version integer NOT NULL,
  patch_ops             text NOT NULL,
  status                text NOT NULL DEFAULT 'proposed' CHECK (status IN ('proposed', 'applied', 'withdrawn')),
  request_id            text COLLATE "C",
  initiated_by          text,
  proposed_by           text COLLATE "C" NOT NULL,
  created_at            timestamptz NOT NULL DEFAULT now(),
  applied_at            timestamptz,
  applied_snapshot_id   uuid CONSTRAINT updates_applied_snapshot_key UNIQUE,
  withdrawn_at          timestamptz,
  CONSTRAINT updates_request_key UNIQUE (tenant_id, request_id)
);
CREATE INDEX updates_by_tenant ON updates (tenant_id, created_at DESC, update_id DESC);
CREATE INDEX updates_by_subject ON updates (subject_key, created_at DESC, update_id DESC);

CREATE TABLE grants (
  grant_id          uuid PRIMARY KEY,
  grantor_tenant_id text COLLATE "C" NOT NULL,
  grantee_tenant_id text COLLATE "C" NOT NULL,
  subject_key       bigint NOT NULL,
  scopes            text[] NOT NULL CHECK (cardinality(scopes) > 0),
  expires_at        timestamptz,
  created_at        timestamptz NOT NULL DEFAULT now(),
  revoked_at        timestamptz
);
CREATE INDEX grants_live ON grants (grantee_tenant_id, subject_key) WHERE revoked_at IS NULL;
CREATE INDEX grants_by_grantor ON grants (grantor_tenant_id, created_at DESC, grant_id DESC);
CREATE INDEX grants_by_subject ON grants (subject_key, created_at DESC, grant_id DESC);

CREATE TABLE webhook_subscriptions (
  subscription_id        uuid PRIMARY KEY,
  tenant_id              text COLLATE "C" NOT NULL REFERENCES tenants,
  target_url             text NOT NULL,
  event_types            text[] NOT NULL CHECK (cardinality(event_types) > 0),
  status                 text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  disabled_reason        text,
  disabled_at            timestamptz,
  secret_sealed          text NOT NULL,
  secret_fingerprint     text NOT NULL,
  secret_last_rotated_at timestamptz NOT NULL DEFAULT now(),
  previous_secret_sealed text,
  previous_secret_until  timestamptz,
  failing_since          timestamptz,
  created_at             timestamptz NOT NULL DEFAULT now(),
  deleted_at             timestamptz
);
CREATE INDEX webhook_subscriptions_by_tenant ON webhook_subscriptions (tenant_id, created_at, subscription_id) WHERE deleted_at IS NULL;

CREATE TABLE outbox_events (
  event_id      uuid PRIMARY KEY,
  tenant_id     text COLLATE "C" NOT NULL,
  event_type    text NOT NULL,
  body          text NOT NULL,
  request_id    text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  fanned_out_at timestamptz
);
CREATE INDEX outbox_events_waiting ON outbox_events (created_at) WHERE fanned_out_at IS NULL;
COMMENT ON TABLE outbox_events IS 'Written in the transaction of the change; body is the exact bytes that are signed and sent';

CREATE TABLE deliveries (
  delivery_id     uuid PRIMARY KEY,
  event_id        uuid NOT NULL,
  subscription_id uuid NOT NULL,
  tenant_id       text COLLATE "C" NOT NULL,
  event_type      text NOT NULL,
  status          text NOT NULL CHECK (status IN ('pending', 'succeeded', 'dead', 'skipped')),
  attempt         integer NOT NULL DEFAULT 0,
  next_at         timestamptz NOT NULL DEFAULT now(),
  lease_until     timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now(),
  finished_at     timestamptz,
  CONSTRAINT deliveries_event_subscription_key UNIQUE (event_id, subscription_id)
) WITH (fillfactor = 70);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE status = 'pending';
CREATE INDEX deliveries_log ON deliveries (subscription_id, created_at DESC, delivery_id DESC);

CREATE TABLE delivery_attempts (
  delivery_id uuid NOT NULL REFERENCES deliveries ON DELETE CASCADE,
  attempt     integer NOT NULL,
  started_at  timestamptz NOT NULL,
  latency_ms  integer NOT NULL,
  status_code integer,
  error_phase text,
  error       text,
  PRIMARY KEY (delivery_id, attempt)
);
