-- A label that was deleted stays as a row, out of sight, until a job has taken it
-- off everything that has it.

ALTER TABLE labels ADD COLUMN deleted_at INTEGER NOT NULL DEFAULT 0;

DROP INDEX labels_name;
CREATE UNIQUE INDEX labels_name ON labels (team_id, name_folded) WHERE deleted_at = 0;

DROP INDEX labels_of_organization;
CREATE INDEX labels_of_organization ON labels (organization_id, created_at, id) WHERE deleted_at = 0;
