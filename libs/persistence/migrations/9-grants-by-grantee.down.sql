DROP INDEX grants_live_by_grantee;
