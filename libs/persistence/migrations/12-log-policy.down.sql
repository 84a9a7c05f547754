DROP TABLE log_policy;
