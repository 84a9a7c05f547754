DROP TABLE limit_overrides;
DROP INDEX tenants_by_founder;
ALTER TABLE tenants DROP COLUMN founded_by;
