DROP TABLE log_copy;
