ALTER FUNCTION effective_time(text) PARALLEL SAFE;
DROP TABLE log_copy;
