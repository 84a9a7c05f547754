DROP TRIGGER issuing_keys_replaced ON issuing_keys;
DROP TRIGGER erasures_credentials_invalid ON erasures;
DROP TRIGGER snapshots_supersede ON snapshots;
DROP TABLE credentials, status_list_waiting, status_lists;
DROP FUNCTION renew_status_lists, invalidate_erased_credentials, supersede_credentials, credentials_lock, mark_status_list,
  audit_credential, refuse_status_list_change, refuse_credential_change;
