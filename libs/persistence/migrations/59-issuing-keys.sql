-- Keys with which tenants sign credentials of their versions (docs/how-to/issue-credentials.md).

CREATE TABLE issuing_keys (
  kid         text COLLATE "C" PRIMARY KEY,
  tenant_id   text COLLATE "C" NOT NULL REFERENCES tenants,
  issuer      text COLLATE "C" NOT NULL,
  public_key  text COLLATE "C" NOT NULL,
  sealed      text COLLATE "C",
  created_by  text COLLATE "C" NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT statement_timestamp(),
  replaced_at timestamptz,
  retired_at  timestamptz,
  CONSTRAINT issuing_keys_sealed CHECK ((sealed IS NULL) = (replaced_at IS NOT NULL)),
  CONSTRAINT issuing_keys_retired CHECK (retired_at IS NULL OR replaced_at IS NOT NULL)
);
CREATE UNIQUE INDEX issuing_keys_signing ON issuing_keys (tenant_id) WHERE replaced_at IS NULL;
-- The condition, which always holds, keeps the index out of searches by kid.
CREATE INDEX issuing_keys_of_tenant ON issuing_keys (tenant_id, created_at, kid) WHERE kid <> '';
COMMENT ON COLUMN issuing_keys.kid IS 'The JWK thumbprint of the public key (RFC 7638)';
COMMENT ON COLUMN issuing_keys.issuer IS 'The iss of credentials that the key signs';
COMMENT ON COLUMN issuing_keys.public_key IS 'The x of an Ed25519 JWK';
COMMENT ON COLUMN issuing_keys.sealed IS 'The private part, sealed with SECRETS_KEYS. Destroyed when another key replaces it';
COMMENT ON COLUMN issuing_keys.retired_at IS 'From then on, nothing that the key signed verifies';

-- A key that was replaced never signs again, and a retired one is never trusted again.
CREATE FUNCTION refuse_issuing_key_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND to_jsonb(OLD) - '{sealed,replaced_at,retired_at}'::text[] = to_jsonb(NEW) - '{sealed,replaced_at,retired_at}'::text[]
     AND (OLD.replaced_at IS NULL OR NEW.replaced_at = OLD.replaced_at)
     AND (OLD.retired_at IS NULL OR NEW.retired_at = OLD.retired_at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'issuing keys stay, and can only be replaced and retired: % is refused', TG_OP
    USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER issuing_keys_stay BEFORE UPDATE OR DELETE ON issuing_keys
  FOR EACH ROW EXECUTE FUNCTION refuse_issuing_key_change();
CREATE TRIGGER issuing_keys_not_truncated BEFORE TRUNCATE ON issuing_keys
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

CREATE FUNCTION audit_issuing_key() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id, 'issuing_key.' || CASE TG_OP WHEN 'INSERT' THEN 'created' ELSE 'retired' END,
    jsonb_build_object('kid', NEW.kid), public.audit_details(NULL, to_jsonb(NEW), CASE TG_OP WHEN 'INSERT' THEN '{issuer}'::text[] ELSE '{}' END));
  RETURN NULL;
END $$;
CREATE TRIGGER issuing_keys_made_audited AFTER INSERT ON issuing_keys FOR EACH ROW EXECUTE FUNCTION audit_issuing_key();
CREATE TRIGGER issuing_keys_retired_audited AFTER UPDATE ON issuing_keys
  FOR EACH ROW WHEN (OLD.retired_at IS NULL AND NEW.retired_at IS NOT NULL) EXECUTE FUNCTION audit_issuing_key();
