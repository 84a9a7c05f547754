ALTER TABLE map_streams RESET (fillfactor);
ALTER TABLE map_tiles RESET (fillfactor, toast_tuple_target, autovacuum_vacuum_scale_factor);
ALTER TABLE map_buckets RESET (fillfactor, autovacuum_vacuum_scale_factor);
