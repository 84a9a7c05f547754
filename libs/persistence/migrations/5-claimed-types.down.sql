DROP TABLE claimed_types;
