-- Who was shown what is forgotten.
DROP TABLE disclosures;
DROP FUNCTION refuse_record_change;
