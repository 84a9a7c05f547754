-- A restarted log (21-log-restarts) has all entries of the previous one in their order, after the restart. So the places of
-- erased versions move by one, and the entries of erasures are written again with the new places.

CREATE FUNCTION move_erased() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.erasures SET erased_indexes = ARRAY(SELECT i + 1 FROM unnest(erased_indexes) AS i ORDER BY i)
   WHERE status = 'erased';
  RETURN NULL;
END $$;
CREATE TRIGGER log_restarts_move_erased AFTER INSERT ON log_restarts FOR EACH ROW EXECUTE FUNCTION move_erased();
