-- Credentials of versions, and the status lists that say which of them are still valid (docs/how-to/issue-credentials.md).

CREATE TABLE status_lists (
  list_id    uuid PRIMARY KEY,
  tenant_id  text COLLATE "C" NOT NULL REFERENCES tenants,
  issuer     text COLLATE "C" NOT NULL,
  uri        text COLLATE "C" NOT NULL,
  used       integer NOT NULL DEFAULT 0,
  token      text COLLATE "C" NOT NULL,
  signed_at  timestamptz NOT NULL,
  due_at     timestamptz
);
-- Expressions, so that each answers one search.
CREATE INDEX status_lists_of_tenant ON status_lists ((tenant_id || '/'), issuer, used);
CREATE INDEX status_lists_due ON status_lists (due_at) WHERE due_at IS NOT NULL;
COMMENT ON COLUMN status_lists.used IS 'The number of indexes that credentials have';
COMMENT ON COLUMN status_lists.token IS 'The signed list, as it is served';
COMMENT ON COLUMN status_lists.signed_at IS 'The iat of the token. It never goes back, so that verifiers can refuse an older list';
COMMENT ON COLUMN status_lists.due_at IS 'When the worker signs it again; null if no credential needs it';

CREATE TABLE status_list_waiting (
  waiting_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  list_id    uuid NOT NULL,
  marked_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE status_list_waiting IS 'Lists with a changed status. Marks, so that the writers of a tenant do not wait for one another';

CREATE TABLE credentials (
  credential_id    uuid PRIMARY KEY,
  tenant_id        text COLLATE "C" NOT NULL REFERENCES tenants,
  subject_key      bigint NOT NULL,
  snapshot_version integer NOT NULL,
  format           text COLLATE "C" NOT NULL,
  paths            text[],
  has_holder_key   boolean NOT NULL,
  kid              text COLLATE "C" NOT NULL REFERENCES issuing_keys,
  list_id          uuid NOT NULL REFERENCES status_lists,
  status_idx       integer NOT NULL CHECK (status_idx BETWEEN 0 AND 131071),
  issued_by        text COLLATE "C" NOT NULL,
  grantee_tenant_id text COLLATE "C",
  issued_at        timestamptz NOT NULL DEFAULT statement_timestamp(),
  expires_at       timestamptz NOT NULL,
  status           text COLLATE "C" NOT NULL CONSTRAINT credentials_status CHECK (status IN ('valid', 'superseded', 'invalid')),
  status_at        timestamptz NOT NULL DEFAULT statement_timestamp(),
  invalid_reason   text COLLATE "C" CONSTRAINT credentials_reason CHECK (invalid_reason IN ('withdrawn', 'erased', 'key_retired')),
  CONSTRAINT credentials_invalid CHECK ((status = 'invalid') = (invalid_reason IS NOT NULL)),
  CONSTRAINT credentials_place UNIQUE (list_id, status_idx)
);
-- A condition that always holds, or an expression, keeps an index out of other searches.
CREATE INDEX credentials_of_tenant ON credentials (tenant_id, issued_at, credential_id) WHERE status <> '';
CREATE INDEX credentials_of_grantee ON credentials (grantee_tenant_id, issued_at, credential_id) WHERE grantee_tenant_id IS NOT NULL;
CREATE INDEX credentials_live ON credentials ((tenant_id || '/'), expires_at) WHERE status <> 'invalid';
CREATE INDEX credentials_of_subject ON credentials (subject_key) WHERE status <> 'invalid';
CREATE INDEX credentials_of_key ON credentials (kid, expires_at);
CREATE INDEX credentials_not_valid ON credentials ((list_id::text), status_idx) WHERE status <> 'valid';
CREATE INDEX credentials_of_list ON credentials (list_id, expires_at) WHERE status <> '';
COMMENT ON COLUMN credentials.grantee_tenant_id IS 'The tenant that issued it by a grant; null for the owner';
COMMENT ON TABLE credentials IS 'Issued credentials, without their text. Rows stay, so that no index of a list is used twice';

-- Only the status changes, and an invalid credential stays invalid.
CREATE FUNCTION refuse_credential_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'credentials stay, and only their status changes: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER credentials_immutable BEFORE UPDATE ON credentials FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{status,status_at,invalid_reason}'::text[] <> to_jsonb(NEW) - '{status,status_at,invalid_reason}'::text[]
        OR OLD.status = 'invalid' OR (OLD.status = 'superseded' AND NEW.status = 'valid'))
  EXECUTE FUNCTION refuse_credential_change();
CREATE TRIGGER credentials_kept BEFORE DELETE ON credentials FOR EACH ROW EXECUTE FUNCTION refuse_credential_change();
CREATE TRIGGER credentials_not_truncated BEFORE TRUNCATE ON credentials
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

CREATE FUNCTION refuse_status_list_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'status lists stay and are never rolled back: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER status_lists_grow BEFORE UPDATE ON status_lists FOR EACH ROW
  WHEN ((OLD.list_id, OLD.tenant_id, OLD.issuer, OLD.uri) <> (NEW.list_id, NEW.tenant_id, NEW.issuer, NEW.uri)
        OR NEW.used < OLD.used OR NEW.signed_at < OLD.signed_at)
  EXECUTE FUNCTION refuse_status_list_change();
CREATE TRIGGER status_lists_stay BEFORE DELETE ON status_lists FOR EACH ROW EXECUTE FUNCTION refuse_status_list_change();
CREATE TRIGGER status_lists_not_truncated BEFORE TRUNCATE ON status_lists
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

CREATE FUNCTION audit_credential() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject public.subjects;
BEGIN
  SELECT * INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  PERFORM public.write_audit_record(NEW.tenant_id, 'credential.' || CASE TG_OP WHEN 'INSERT' THEN 'issued' ELSE 'withdrawn' END,
    jsonb_build_object('credential_id', 'cred_' || NEW.credential_id, 'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW),
                         '{snapshot_version,format,paths,has_holder_key,kid,grantee_tenant_id,expires_at,status}'));
  RETURN NULL;
END $$;
CREATE TRIGGER credentials_issued_audited AFTER INSERT ON credentials FOR EACH ROW EXECUTE FUNCTION audit_credential();
-- Other statuses follow from a write, an erasure or a retired key, which have records of their own.
CREATE TRIGGER credentials_withdrawn_audited AFTER UPDATE ON credentials
  FOR EACH ROW WHEN (NEW.invalid_reason = 'withdrawn' AND OLD.invalid_reason IS NULL) EXECUTE FUNCTION audit_credential();

CREATE FUNCTION mark_status_list() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.status_list_waiting (list_id) VALUES (NEW.list_id);
  RETURN NULL;
END $$;
CREATE TRIGGER credentials_made_marked AFTER INSERT ON credentials
  FOR EACH ROW WHEN (NEW.status <> 'valid') EXECUTE FUNCTION mark_status_list();
CREATE TRIGGER credentials_changed_marked AFTER UPDATE ON credentials
  FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION mark_status_list();

-- The lock under which a credential is issued (exclusive), and a version is written or erased (shared). So either a new credential
-- sees the newer version, or the write sees the credential. Subjects share 1,024 locks, so that a large import does not need more.
CREATE FUNCTION credentials_lock(subject_key bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtextextended('credentials', subject_key & 1023)
$$;

-- A first version has no credentials. The scan never reads the whole table, even if a plan is older than its rows.
CREATE FUNCTION supersede_credentials() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(public.credentials_lock(n.subject_key)) FROM new_rows n WHERE n.snapshot_version > 1;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE public.credentials c SET status = 'superseded', status_at = statement_timestamp()
    FROM (SELECT o.credential_id
            FROM (SELECT n.subject_key, max(n.snapshot_version) AS snapshot_version FROM new_rows n
                   WHERE n.snapshot_version > 1 GROUP BY n.subject_key) n
           CROSS JOIN LATERAL (SELECT o.credential_id FROM public.credentials o
                                WHERE o.subject_key = n.subject_key AND o.status <> 'invalid' AND o.status <> 'superseded'
                                  AND o.snapshot_version < n.snapshot_version FOR NO KEY UPDATE) o) found
   WHERE c.credential_id = found.credential_id AND c.status = 'valid';
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_supersede AFTER INSERT ON snapshots REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION supersede_credentials();

CREATE FUNCTION invalidate_erased_credentials() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(public.credentials_lock(NEW.subject_key));
  UPDATE public.credentials c SET status = 'invalid', status_at = statement_timestamp(), invalid_reason = 'erased'
   WHERE c.subject_key = NEW.subject_key AND c.status <> 'invalid' AND c.snapshot_version = ANY (NEW.versions);
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_credentials_invalid AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION invalidate_erased_credentials();

-- Nothing that a retired key signed verifies any more. Lists are signed with the key that replaced it.
CREATE FUNCTION renew_status_lists() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NEW.retired_at IS NOT NULL AND OLD.retired_at IS NULL THEN
    UPDATE public.credentials c SET status = 'invalid', status_at = statement_timestamp(), invalid_reason = 'key_retired'
     WHERE c.kid = NEW.kid AND c.expires_at > statement_timestamp() AND c.status <> 'invalid';
  END IF;
  UPDATE public.status_lists l SET due_at = statement_timestamp()
   WHERE l.tenant_id || '/' = NEW.tenant_id || '/' AND l.due_at IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER issuing_keys_replaced AFTER UPDATE ON issuing_keys
  FOR EACH ROW WHEN (OLD.replaced_at IS DISTINCT FROM NEW.replaced_at OR OLD.retired_at IS DISTINCT FROM NEW.retired_at)
  EXECUTE FUNCTION renew_status_lists();
