-- A version says whether the world changed or an error was corrected. The envelope of a correction says so too, so that its hash
-- covers it. The constraints are not validated: existing rows have the default.
ALTER TABLE snapshots ADD COLUMN change_kind text COLLATE "C" NOT NULL DEFAULT 'change';
ALTER TABLE snapshots ADD CONSTRAINT snapshots_change_kind CHECK (change_kind IN ('change', 'correction')) NOT VALID;
ALTER TABLE updates ADD COLUMN change_kind text COLLATE "C" NOT NULL DEFAULT 'change';
ALTER TABLE updates ADD CONSTRAINT updates_change_kind CHECK (change_kind IN ('change', 'correction')) NOT VALID;
