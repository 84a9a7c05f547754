-- Finds the version that was the newest at a moment (docs/decisions/0031-as-of.md). By the service's time that is a search
-- in the chain, whose times never decrease. The writer sets `generated_at` freely, so it needs an order of its own: an index
-- of all versions except for the first, so that creations do not pay for it. It is built beside writers, after the
-- migrations: `14-time-of-versions.index.sql`.

CREATE FUNCTION effective_time(generated_at text) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  part text[] := regexp_match(generated_at,
    '^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*(?:[Zz]|([+-])(\d\d):(\d\d))$');
BEGIN
  -- An offset may be up to 23:59, which is more than the type's own input takes.
  RETURN (part[1] || ' ' || part[2])::timestamp AT TIME ZONE 'UTC'
       - make_interval(hours => coalesce(part[3] || part[4], '0')::int, mins => coalesce(part[3] || part[5], '0')::int);
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $$;
COMMENT ON FUNCTION effective_time IS 'The instant of an RFC 3339 text, cut to microseconds; null if the text is invalid';
