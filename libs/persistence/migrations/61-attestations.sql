-- Credentials of others as evidence. A tenant says which issuers it trusts, and adds credentials that the service verifies. The
-- worker asks the status of each again and again.

CREATE TABLE trusted_issuers (
  tenant_id  text COLLATE "C" NOT NULL REFERENCES tenants,
  issuer     text COLLATE "C" NOT NULL,
  vcts       text[] NOT NULL,
  keys       jsonb NOT NULL,
  roots      text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, issuer)
);
COMMENT ON COLUMN trusted_issuers.vcts IS 'The types of credentials that the tenant accepts from the issuer';
COMMENT ON COLUMN trusted_issuers.keys IS 'An array of public JWKs';
COMMENT ON COLUMN trusted_issuers.roots IS 'Certificates, as base64 of DER';

CREATE TABLE attestations (
  attestation_id  uuid PRIMARY KEY,
  has_key_binding boolean NOT NULL,
  tenant_id       text COLLATE "C" NOT NULL REFERENCES tenants,
  issuer          text COLLATE "C" NOT NULL,
  vct             text COLLATE "C" NOT NULL,
  digest          bytea NOT NULL CHECK (octet_length(digest) = 32),
  added_by        text COLLATE "C" NOT NULL,
  verified_at     timestamptz NOT NULL DEFAULT now(),
  expires_at      timestamptz,
  status          text COLLATE "C" NOT NULL,
  status_at       timestamptz,
  status_uri      text COLLATE "C",
  status_idx      bigint,
  CONSTRAINT attestations_status CHECK (status IN ('none', 'pending', 'valid', 'suspended', 'revoked', 'other')),
  CONSTRAINT attestations_list CHECK ((status = 'none') = (status_uri IS NULL) AND (status_uri IS NULL) = (status_idx IS NULL))
);
-- The condition, which always holds, keeps the index out of searches by id.
CREATE INDEX attestations_of_tenant ON attestations (tenant_id, verified_at, attestation_id) WHERE status <> '';
-- For the sweep: a revoked credential stays revoked.
CREATE INDEX attestations_of_list ON attestations (tenant_id, issuer, status_uri, attestation_id)
  WHERE status_uri IS NOT NULL AND status <> 'revoked';
COMMENT ON TABLE attestations IS 'Verified credentials of others, without their text';
COMMENT ON COLUMN attestations.digest IS 'SHA-256 of the credential with its disclosures, without the key binding';

CREATE TABLE attestation_lists (
  list_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  issuer    text COLLATE "C" NOT NULL,
  uri       text COLLATE "C" NOT NULL,
  failures  integer NOT NULL DEFAULT 0,
  due_at    timestamptz,
  asked_at  timestamptz,
  issued_at timestamptz,
  problem   text,
  UNIQUE (tenant_id, issuer, uri)
);
CREATE INDEX attestation_lists_due ON attestation_lists (due_at) WHERE due_at IS NOT NULL;
COMMENT ON TABLE attestation_lists IS 'The status lists that attestations of a tenant name';
COMMENT ON COLUMN attestation_lists.due_at IS 'When the worker asks it again; null if no attestation needs it';
COMMENT ON COLUMN attestation_lists.issued_at IS 'The newest list seen, by the clock of its issuer. An older one is refused';
COMMENT ON COLUMN attestation_lists.problem IS 'Why it could not be read when it was last asked; null if it could';

CREATE FUNCTION audit_trusted_issuer() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  trusted public.trusted_issuers := coalesce(NEW, OLD);
BEGIN
  PERFORM public.write_audit_record(trusted.tenant_id,
    'trusted_issuer.' || CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'UPDATE' THEN 'changed' ELSE 'removed' END,
    jsonb_build_object('issuer', trusted.issuer), public.audit_details(to_jsonb(OLD), to_jsonb(NEW), '{vcts,keys,roots}'));
  RETURN NULL;
END $$;
CREATE TRIGGER trusted_issuers_audited AFTER INSERT OR UPDATE OR DELETE ON trusted_issuers
  FOR EACH ROW EXECUTE FUNCTION audit_trusted_issuer();

CREATE FUNCTION audit_attestation() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id, 'attestation.added',
    jsonb_build_object('attestation_id', 'att_' || NEW.attestation_id, 'issuer', NEW.issuer),
    public.audit_details(NULL, to_jsonb(NEW), '{vct,expires_at}'));
  RETURN NULL;
END $$;
-- What was verified stays provable: only the status changes, and a revocation is final.
CREATE FUNCTION refuse_attestation_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'attestations stay, and only their status changes: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER attestations_immutable BEFORE UPDATE ON attestations FOR EACH ROW
  WHEN (to_jsonb(OLD) - 'status' - 'status_at' <> to_jsonb(NEW) - 'status' - 'status_at' OR OLD.status = 'revoked')
  EXECUTE FUNCTION refuse_attestation_change();
CREATE TRIGGER attestations_kept BEFORE DELETE ON attestations FOR EACH ROW EXECUTE FUNCTION refuse_attestation_change();
CREATE TRIGGER attestations_not_truncated BEFORE TRUNCATE ON attestations
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_attestation_change();
CREATE TRIGGER attestations_audited AFTER INSERT ON attestations FOR EACH ROW EXECUTE FUNCTION audit_attestation();

-- No earlier record has these ids, so the index stays valid.
CREATE OR REPLACE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'refresh_request_id', target ->> 'offer_id',
                  target ->> 'subscription_id', target ->> 'credential_id', target ->> 'kid', target ->> 'attestation_id',
                  target ->> 'issuer', target ->> 'principal_id', target ->> 'limit_name');
END $$;

-- The subjects whose versions name an attestation as evidence: by the `locator` of the evidence.
CREATE TABLE attestation_uses (
  attestation_id uuid NOT NULL REFERENCES attestations,
  subject_key    bigint NOT NULL,
  PRIMARY KEY (subject_key, attestation_id)
);
-- An expression, so that it answers no search by subject.
CREATE INDEX attestation_uses_of_attestation ON attestation_uses ((attestation_id::text));

CREATE TABLE evidence_waiting (
  waiting_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  attestation_id uuid NOT NULL,
  subject_key    bigint NOT NULL,
  revoked_at     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE evidence_waiting IS 'Subjects with revoked evidence, of which nobody was told yet';

-- The lock makes a revocation and a use follow one another, so that one of them sees the other.
CREATE FUNCTION note_attestation_uses() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  WITH named AS (
    SELECT DISTINCT m[1]::uuid AS attestation_id
      FROM regexp_matches(NEW.envelope, '"locator":"att_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"', 'g') m
  ), locked AS (
    SELECT a.attestation_id, a.status FROM public.attestations a
     WHERE a.attestation_id IN (SELECT n.attestation_id FROM named n) AND a.tenant_id = NEW.tenant_id
     ORDER BY a.attestation_id FOR SHARE
  ), used AS (
    INSERT INTO public.attestation_uses (attestation_id, subject_key)
    SELECT l.attestation_id, NEW.subject_key FROM locked l ON CONFLICT DO NOTHING
    RETURNING attestation_id
  )
  INSERT INTO public.evidence_waiting (attestation_id, subject_key)
  SELECT u.attestation_id, NEW.subject_key FROM used u JOIN locked l USING (attestation_id) WHERE l.status = 'revoked';
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_use_attestations AFTER INSERT ON snapshots
  FOR EACH ROW WHEN (strpos(NEW.envelope, '"locator":"att_') > 0) EXECUTE FUNCTION note_attestation_uses();

CREATE FUNCTION note_revocation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.evidence_waiting (attestation_id, subject_key)
  SELECT u.attestation_id, u.subject_key FROM public.attestation_uses u WHERE u.attestation_id::text = NEW.attestation_id::text
   ORDER BY u.subject_key;
  RETURN NULL;
END $$;
CREATE TRIGGER attestations_revoked AFTER UPDATE ON attestations
  FOR EACH ROW WHEN (OLD.status <> 'revoked' AND NEW.status = 'revoked') EXECUTE FUNCTION note_revocation();
