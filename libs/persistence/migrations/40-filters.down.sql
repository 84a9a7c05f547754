DROP INDEX grants_of_pair, grants_issued_on, grants_received_on, disclosures_to_principal, disclosures_to_tenant_of,
  audit_records_of_target, audit_records_of_subject;
DROP FUNCTION audit_target_id;
