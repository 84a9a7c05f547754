-- An identifier is also found without its scheme. The expression on the owner matches no other search.
CREATE INDEX subject_identifiers_by_value
  ON subject_identifiers ((owner_tenant_id || '/'), value, subject_type, (-subject_key), scheme);
