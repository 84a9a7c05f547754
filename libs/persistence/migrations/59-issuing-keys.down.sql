DROP TABLE issuing_keys;
DROP FUNCTION audit_issuing_key, refuse_issuing_key_change;
