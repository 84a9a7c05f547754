-- Workers read the status lists of each founder in turn, so that one founder's slow or many lists delay no other.

ALTER TABLE attestation_lists ADD COLUMN share text COLLATE "C" NOT NULL DEFAULT '';
COMMENT ON COLUMN attestation_lists.share IS 'The party that takes turns: the founder of the tenant, or the tenant if the founder is unknown';

CREATE FUNCTION share_attestation_list() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.share := coalesce((SELECT t.founded_by FROM public.tenants t WHERE t.tenant_id = NEW.tenant_id), NEW.tenant_id);
  RETURN NEW;
END $$;
-- Older rows get their share when they are next read.
CREATE TRIGGER attestation_lists_shared BEFORE INSERT OR UPDATE ON attestation_lists
  FOR EACH ROW WHEN (NEW.share = '') EXECUTE FUNCTION share_attestation_list();

CREATE INDEX attestation_lists_by_share ON attestation_lists (share, due_at) WHERE due_at IS NOT NULL;
-- The condition, which always holds, keeps the index out of other searches.
CREATE INDEX attestation_lists_asked ON attestation_lists (share, asked_at) WHERE share IS NOT NULL;
