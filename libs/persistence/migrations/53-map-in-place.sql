-- Rows of the map are replaced all the time, and their paths never change. With free space in their pages, PostgreSQL replaces most of them
-- in place and reuses the space of former rows without VACUUM. A full tile is larger than what PostgreSQL moves out of its row by default.
ALTER TABLE map_buckets SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE map_tiles SET (fillfactor = 80, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE map_streams SET (fillfactor = 80);
