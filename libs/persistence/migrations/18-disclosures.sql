-- Records the versions of subjects that were shown to principals of other tenants: the first time per UTC day, before the
-- answer. A row has a range of versions, so an export of any length is one row. Records are evidence: they are added and
-- never deleted.

CREATE TABLE disclosures (
  disclosure_id     bigint GENERATED ALWAYS AS IDENTITY,
  subject_key       bigint NOT NULL,
  disclosed_on      date NOT NULL,
  grantee_tenant_id text COLLATE "C" NOT NULL,
  principal_id      text COLLATE "C" NOT NULL,
  via               text COLLATE "C" NOT NULL,
  from_version      integer NOT NULL CHECK (from_version >= 1),
  to_version        integer NOT NULL CHECK (to_version >= from_version),
  request_id        text COLLATE "C" NOT NULL,
  first_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (disclosed_on, subject_key, grantee_tenant_id, principal_id, via, from_version, to_version)
);
CREATE INDEX disclosures_of_subject ON disclosures (subject_key, first_at DESC, disclosure_id DESC);
CREATE INDEX disclosures_to_grantee ON disclosures (grantee_tenant_id, first_at DESC, disclosure_id DESC);
COMMENT ON COLUMN disclosures.via IS 'The way of disclosure: a name of DISCLOSURE_WAYS (libs/domain)';
COMMENT ON COLUMN disclosures.request_id IS 'The first request of that day';

CREATE FUNCTION refuse_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'records stay as they were written: % of % is refused', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER disclosures_immutable BEFORE UPDATE OR DELETE ON disclosures
  FOR EACH ROW EXECUTE FUNCTION refuse_record_change();
CREATE TRIGGER disclosures_not_truncated BEFORE TRUNCATE ON disclosures
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_record_change();
