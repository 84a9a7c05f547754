-- Requests to wallets for credentials, which become attestations (docs/how-to/attestations.md).

CREATE TABLE presentation_requests (
  presentation_request_id uuid PRIMARY KEY,
  tenant_id               text COLLATE "C" NOT NULL REFERENCES tenants,
  vcts                    text[] NOT NULL,
  claims                  text[] NOT NULL,
  sealed                  text,
  status                  text COLLATE "C" NOT NULL DEFAULT 'pending',
  wrong_answers           integer NOT NULL DEFAULT 0 CHECK (wrong_answers BETWEEN 0 AND 5),
  problem                 text,
  attestation_id          uuid REFERENCES attestations,
  created_by              text COLLATE "C" NOT NULL,
  created_at              timestamptz NOT NULL DEFAULT now(),
  expires_at              timestamptz NOT NULL,
  CONSTRAINT presentation_requests_status CHECK (status IN ('pending', 'received', 'refused')),
  CONSTRAINT presentation_requests_sealed CHECK ((status = 'pending') = (sealed IS NOT NULL)),
  CONSTRAINT presentation_requests_received CHECK ((status = 'received') = (attestation_id IS NOT NULL))
);
CREATE INDEX presentation_requests_by_age ON presentation_requests (expires_at);
CREATE INDEX presentation_requests_pending ON presentation_requests (tenant_id, expires_at) WHERE status = 'pending';
COMMENT ON TABLE presentation_requests IS 'Requests that wallets answer. The worker deletes them soon after they expire';
COMMENT ON COLUMN presentation_requests.claims IS 'JSON Pointers to the claims that the credential must disclose';
COMMENT ON COLUMN presentation_requests.sealed IS 'The private key, the nonce and the audience of the answer, sealed; null once it has ended';
COMMENT ON COLUMN presentation_requests.problem IS 'Why the last answer was refused; null if none was';

-- A request is answered once, and what was asked stays.
CREATE FUNCTION refuse_presentation_request_change() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'presentation requests are answered once, and never change: % is refused', TG_OP
    USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER presentation_requests_immutable BEFORE UPDATE ON presentation_requests FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{sealed,status,wrong_answers,problem,attestation_id}'::text[]
          <> to_jsonb(NEW) - '{sealed,status,wrong_answers,problem,attestation_id}'::text[]
        OR OLD.status <> 'pending' OR NEW.sealed <> OLD.sealed OR NEW.wrong_answers < OLD.wrong_answers)
  EXECUTE FUNCTION refuse_presentation_request_change();

CREATE FUNCTION audit_presentation_request() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id, 'presentation.requested',
    jsonb_build_object('presentation_request_id', NEW.presentation_request_id),
    public.audit_details(NULL, to_jsonb(NEW), '{vcts,claims,expires_at}'));
  RETURN NULL;
END $$;
CREATE TRIGGER presentation_requests_audited AFTER INSERT ON presentation_requests
  FOR EACH ROW EXECUTE FUNCTION audit_presentation_request();

-- As in 61-attestations, with the new id. No earlier record has it, so the index stays valid.
CREATE OR REPLACE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'refresh_request_id', target ->> 'offer_id',
                  target ->> 'subscription_id', target ->> 'credential_id', target ->> 'kid', target ->> 'attestation_id',
                  target ->> 'issuer', target ->> 'presentation_request_id', target ->> 'principal_id', target ->> 'limit_name');
END $$;
