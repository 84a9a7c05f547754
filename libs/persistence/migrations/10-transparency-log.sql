-- The transparency log (docs/log.md): one RFC 6962 tree per deployment, with a leaf for each fact that must be provable
-- years later. A trigger marks each fact in its own transaction, so that none is missed, whoever writes it. The worker turns
-- marks into entries.

CREATE TABLE owner_changes (
  owner_change_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id         text COLLATE "C" NOT NULL,
  principal_id      text COLLATE "C",
  from_principal_id text COLLATE "C",
  changed_at        timestamptz NOT NULL DEFAULT now(),
  CHECK (principal_id IS NOT NULL OR from_principal_id IS NOT NULL)
);
CREATE INDEX owner_changes_by_tenant ON owner_changes (tenant_id, (-owner_change_id));
COMMENT ON COLUMN owner_changes.principal_id IS 'The new owner; null if an owner left without a successor';
COMMENT ON COLUMN owner_changes.from_principal_id IS 'The former owner; null at founding, and if an owner was added';

CREATE TABLE log_waiting (
  waiting_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subject_key      bigint,
  owner_change_id  bigint,
  grant_id         uuid,
  snapshot_version integer,
  entry_type       smallint NOT NULL
);
COMMENT ON TABLE log_waiting IS 'Facts without an entry, in an order in which no version comes before its parent';

CREATE TABLE log_entries (
  log_index        bigint PRIMARY KEY CHECK (log_index >= 0),
  subject_key      bigint,
  owner_change_id  bigint,
  grant_id         uuid,
  snapshot_version integer,
  entry_type       smallint NOT NULL CHECK (CASE entry_type
    WHEN 1 THEN subject_key IS NOT NULL AND snapshot_version IS NOT NULL
    WHEN 2 THEN grant_id IS NOT NULL
    WHEN 3 THEN grant_id IS NOT NULL
    WHEN 4 THEN owner_change_id IS NOT NULL END),
  salt             bytea NOT NULL CHECK (octet_length(salt) = 16)
);
CREATE UNIQUE INDEX log_entries_of_snapshots ON log_entries (subject_key, snapshot_version) WHERE entry_type = 1;
CREATE UNIQUE INDEX log_entries_of_grants ON log_entries (grant_id, entry_type) WHERE grant_id IS NOT NULL;
CREATE UNIQUE INDEX log_entries_of_owner_changes ON log_entries (owner_change_id) WHERE owner_change_id IS NOT NULL;
COMMENT ON COLUMN log_entries.entry_type IS '1 snapshot.created, 2 grant.created, 3 grant.revoked, 4 tenant.owner_changed';
COMMENT ON COLUMN log_entries.salt IS '128 random bits, so that nobody can confirm a guessed fact by the hashes in the tree';

CREATE TABLE log_tree (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  size   bigint NOT NULL,
  root   bytea NOT NULL CHECK (octet_length(root) = 32)
);
INSERT INTO log_tree (size, root) VALUES (0, sha256(''));

CREATE TABLE log_tiles (
  level      smallint NOT NULL,
  tile_index bigint NOT NULL,
  hashes     bytea NOT NULL CHECK (octet_length(hashes) % 32 = 0 AND octet_length(hashes) BETWEEN 32 AND 8192),
  PRIMARY KEY (level, tile_index)
);
ALTER TABLE log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;
COMMENT ON TABLE log_tiles IS 'C2SP tlog-tiles with up to 256 hashes; only the last tile of a level grows';

CREATE TABLE log_checkpoints (
  checkpoint_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  origin        text COLLATE "C" NOT NULL,
  size          bigint NOT NULL,
  note          text NOT NULL,
  signed_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX log_checkpoints_by_size ON log_checkpoints (size);
CREATE INDEX log_checkpoints_by_age ON log_checkpoints (signed_at);
COMMENT ON TABLE log_checkpoints IS 'Published checkpoints, signed and cosigned according to the policy';

CREATE TABLE log_keys (
  vkey     text COLLATE "C" PRIMARY KEY,
  used_at  timestamptz NOT NULL DEFAULT now(),
  until_at timestamptz
);
COMMENT ON TABLE log_keys IS 'C2SP verifier keys of the log, each with the time during which it signed; until_at is null while it signs';

CREATE FUNCTION refuse_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the log only grows: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER owner_changes_immutable BEFORE UPDATE OR DELETE ON owner_changes
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_entries_immutable BEFORE UPDATE OR DELETE ON log_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_tree_grows BEFORE UPDATE ON log_tree
  FOR EACH ROW WHEN (NEW.size <= OLD.size) EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_tiles_grow BEFORE UPDATE ON log_tiles
  FOR EACH ROW WHEN (substr(NEW.hashes, 1, octet_length(OLD.hashes)) <> OLD.hashes
                     OR (NEW.level, NEW.tile_index) <> (OLD.level, OLD.tile_index))
  EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_tiles_stay BEFORE DELETE ON log_tiles FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER log_tree_stays BEFORE DELETE ON log_tree FOR EACH ROW EXECUTE FUNCTION refuse_log_change();

-- Marks are written with the rights of the tables' owner, so nobody else can write or omit one. The trigger runs once per
-- statement, not per row, so requests that share a statement share its cost.
CREATE FUNCTION mark_new_snapshots() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, subject_key, snapshot_version)
  SELECT 1, n.subject_key, n.snapshot_version FROM new_rows n
   WHERE n.envelope_hash IS NOT NULL AND (n.prev_hash IS NOT NULL OR n.snapshot_version = 1)
   ORDER BY n.subject_key, n.snapshot_version;
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_logged AFTER INSERT ON snapshots REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_new_snapshots();

-- A snapshot that was imported without hashes is logged when it gets them.
CREATE FUNCTION mark_sealed_snapshots() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, subject_key, snapshot_version)
  SELECT 1, n.subject_key, n.snapshot_version
    FROM new_rows n JOIN old_rows o ON o.subject_key = n.subject_key AND o.snapshot_version = n.snapshot_version
   WHERE n.envelope_hash IS NOT NULL AND (n.prev_hash IS NOT NULL OR n.snapshot_version = 1)
     AND NOT (o.envelope_hash IS NOT NULL AND (o.prev_hash IS NOT NULL OR o.snapshot_version = 1))
   ORDER BY n.subject_key, n.snapshot_version;
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_sealed_logged AFTER UPDATE ON snapshots REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_sealed_snapshots();

CREATE FUNCTION mark_grant() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, grant_id)
  VALUES (CASE TG_OP WHEN 'INSERT' THEN 2 ELSE 3 END, NEW.grant_id);
  RETURN NULL;
END $$;
CREATE TRIGGER grants_logged AFTER INSERT ON grants FOR EACH ROW EXECUTE FUNCTION mark_grant();
CREATE TRIGGER grants_revoked_logged AFTER UPDATE ON grants
  FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION mark_grant();

CREATE FUNCTION mark_owner_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, owner_change_id) VALUES (4, NEW.owner_change_id);
  RETURN NULL;
END $$;
CREATE TRIGGER owner_changes_logged AFTER INSERT ON owner_changes FOR EACH ROW EXECUTE FUNCTION mark_owner_change();

-- Records who owns a tenant, whichever statement changes it. A transfer takes two statements. It sets the previous owner for
-- its transaction (iss.owner_from), so that both are one change.
CREATE FUNCTION record_owner_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  handed_over_by text := nullif(current_setting('iss.owner_from', true), '');
  is_owner boolean := NEW.api_functional_role = 'tenant_owner' AND NEW.status = 'active';
BEGIN
  IF NOT is_owner AND NEW.principal_id = handed_over_by THEN RETURN NULL; END IF;
  INSERT INTO public.owner_changes (tenant_id, principal_id, from_principal_id)
  VALUES (NEW.tenant_id, CASE WHEN is_owner THEN NEW.principal_id END,
          CASE WHEN is_owner THEN handed_over_by ELSE NEW.principal_id END);
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_owner_made AFTER INSERT ON memberships
  FOR EACH ROW WHEN (NEW.api_functional_role = 'tenant_owner' AND NEW.status = 'active')
  EXECUTE FUNCTION record_owner_change();
CREATE TRIGGER memberships_owner_changed AFTER UPDATE ON memberships
  FOR EACH ROW WHEN ((NEW.api_functional_role = 'tenant_owner' AND NEW.status = 'active')
                     <> (OLD.api_functional_role = 'tenant_owner' AND OLD.status = 'active'))
  EXECUTE FUNCTION record_owner_change();

-- Existing facts are marked in the order in which they were made.
INSERT INTO owner_changes (tenant_id, principal_id, changed_at)
SELECT tenant_id, principal_id, created_at FROM memberships
 WHERE api_functional_role = 'tenant_owner' AND status = 'active' ORDER BY created_at, tenant_id, principal_id;
INSERT INTO log_waiting (entry_type, grant_id)
SELECT entry_type, grant_id
  FROM (SELECT 2 AS entry_type, grant_id, created_at AS at FROM grants
         UNION ALL SELECT 3, grant_id, revoked_at FROM grants WHERE revoked_at IS NOT NULL) facts
 ORDER BY at, grant_id, entry_type;

-- There may be many existing snapshots. They are marked in batches after this step is committed (13-log-backfill.batch). An
-- earlier version of this step marked them itself, and such databases lack this table.
CREATE TABLE log_backfill (
  is_one           boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  created_at       timestamptz NOT NULL DEFAULT '-infinity',
  subject_key      bigint NOT NULL DEFAULT 0,
  snapshot_version integer NOT NULL DEFAULT 0,
  waiting_id       bigint NOT NULL DEFAULT -(1::bigint << 52)
);
INSERT INTO log_backfill SELECT WHERE EXISTS (SELECT FROM snapshots);
