DROP INDEX IF EXISTS log_backfill_order;
DROP TABLE log_backfill;
