DROP TRIGGER attestation_lists_shared ON attestation_lists;
DROP FUNCTION share_attestation_list();
ALTER TABLE attestation_lists DROP COLUMN share;
