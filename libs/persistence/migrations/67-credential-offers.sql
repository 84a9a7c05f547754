-- Offers of credentials, which wallets take (docs/how-to/issue-credentials.md).

CREATE TABLE credential_offers (
  offer_id          uuid PRIMARY KEY,
  tenant_id         text COLLATE "C" NOT NULL REFERENCES tenants,
  grantee_tenant_id text COLLATE "C",
  subject_key       bigint NOT NULL,
  snapshot_version  integer NOT NULL,
  snapshot_id       uuid NOT NULL,
  paths             text[],
  profile           text COLLATE "C",
  kid               text COLLATE "C" NOT NULL,
  expires_in        integer,
  code_hash         bytea NOT NULL,
  tx_code_hash      bytea,
  wrong_tx_codes    integer NOT NULL DEFAULT 0 CHECK (wrong_tx_codes BETWEEN 0 AND 5),
  token_hash        bytea,
  token_expires_at  timestamptz,
  taken_at          timestamptz,
  created_by        text COLLATE "C" NOT NULL,
  expires_at        timestamptz NOT NULL,
  CONSTRAINT credential_offers_token CHECK ((token_hash IS NULL) = (token_expires_at IS NULL)),
  CONSTRAINT credential_offers_taken CHECK (taken_at IS NULL OR token_hash IS NOT NULL)
);
CREATE UNIQUE INDEX credential_offers_by_code ON credential_offers (code_hash);
CREATE UNIQUE INDEX credential_offers_by_token ON credential_offers (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX credential_offers_by_age ON credential_offers (expires_at);
CREATE INDEX credential_offers_of_subject ON credential_offers (subject_key, snapshot_version);
CREATE INDEX credential_offers_of_key ON credential_offers (kid);
COMMENT ON TABLE credential_offers IS 'Offers that wallets take. The worker deletes them soon after they expire';
COMMENT ON COLUMN credential_offers.grantee_tenant_id IS 'The tenant that offers it by a grant; null for the owner';
COMMENT ON COLUMN credential_offers.expires_in IS 'How long the credential will be valid, in seconds; null: the default';
COMMENT ON COLUMN credential_offers.code_hash IS 'SHA-256 of the pre-authorized code, which is not stored';
COMMENT ON COLUMN credential_offers.tx_code_hash IS 'HMAC of the tx_code with the pre-authorized code; null if there is none';
COMMENT ON COLUMN credential_offers.token_hash IS 'SHA-256 of the access token; null until the code was used';

-- A code and a token are used once, and what was offered stays.
CREATE FUNCTION refuse_offer_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'offers are used once, and never change: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER credential_offers_immutable BEFORE UPDATE ON credential_offers FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{token_hash,token_expires_at,wrong_tx_codes,taken_at}'::text[]
          <> to_jsonb(NEW) - '{token_hash,token_expires_at,wrong_tx_codes,taken_at}'::text[]
        OR OLD.token_hash <> NEW.token_hash OR OLD.token_expires_at <> NEW.token_expires_at
        OR (OLD.token_hash IS NOT NULL AND NEW.token_hash IS NULL)
        OR NEW.wrong_tx_codes < OLD.wrong_tx_codes OR OLD.taken_at IS NOT NULL)
  EXECUTE FUNCTION refuse_offer_change();

CREATE FUNCTION audit_credential_offer() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject public.subjects;
BEGIN
  SELECT * INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  PERFORM public.write_audit_record(NEW.tenant_id, 'credential.offered',
    jsonb_build_object('offer_id', NEW.offer_id, 'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(NULL, to_jsonb(NEW), '{snapshot_version,paths,profile,grantee_tenant_id,expires_at}'));
  RETURN NULL;
END $$;
CREATE TRIGGER credential_offers_audited AFTER INSERT ON credential_offers
  FOR EACH ROW EXECUTE FUNCTION audit_credential_offer();

CREATE FUNCTION end_offers_of_erased() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.credential_offers o
   WHERE o.subject_key = NEW.subject_key AND o.snapshot_version = ANY (NEW.versions);
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_offers_end AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION end_offers_of_erased();

CREATE FUNCTION end_offers_of_retired() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.credential_offers o WHERE o.kid = NEW.kid;
  RETURN NULL;
END $$;
CREATE TRIGGER issuing_keys_offers_end AFTER UPDATE ON issuing_keys
  FOR EACH ROW WHEN (OLD.retired_at IS NULL AND NEW.retired_at IS NOT NULL) EXECUTE FUNCTION end_offers_of_retired();

ALTER TABLE credentials ADD COLUMN profile text COLLATE "C", ADD COLUMN offer_id uuid;
COMMENT ON COLUMN credentials.profile IS 'The published type to which the version was mapped; null: the view of the version';
COMMENT ON COLUMN credentials.offer_id IS 'The offer by which a wallet took it; null if it was issued directly';

-- As in 60-credentials, with the profile and the offer.
CREATE OR REPLACE FUNCTION audit_credential() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject public.subjects;
BEGIN
  SELECT * INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  PERFORM public.write_audit_record(NEW.tenant_id, 'credential.' || CASE TG_OP WHEN 'INSERT' THEN 'issued' ELSE 'withdrawn' END,
    jsonb_build_object('credential_id', 'cred_' || NEW.credential_id, 'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW),
                         '{snapshot_version,format,paths,profile,offer_id,has_holder_key,kid,grantee_tenant_id,expires_at,status}'));
  RETURN NULL;
END $$;
