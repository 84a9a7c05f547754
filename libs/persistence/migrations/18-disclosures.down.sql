-- Deletes all records of disclosures.
DROP TABLE disclosures;
DROP FUNCTION refuse_record_change;
