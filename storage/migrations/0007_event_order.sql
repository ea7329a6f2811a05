-- Events get a number that is never used again, in the order in which they were stored:
-- the rowid, which they had before, is used again once the newest rows are deleted. The
-- file gets an epoch, unless it was restored by a build that gave it one.

CREATE TABLE new_events (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,
    organization_id INTEGER NOT NULL,
    account_id      INTEGER,
    type            TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    event_id        TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    payload         BLOB    NOT NULL
) STRICT;
INSERT INTO new_events (seq, id, organization_id, account_id, type, source, event_id, created_at, payload)
SELECT rowid, id, organization_id, account_id, type, source, event_id, created_at, payload FROM events ORDER BY rowid;

DROP TABLE events;
ALTER TABLE new_events RENAME TO events;
CREATE INDEX events_of_organization ON events (organization_id, seq, type, created_at);
CREATE INDEX events_of_account ON events (account_id) WHERE account_id IS NOT NULL;

CREATE TABLE removed_events (
    organization_id INTEGER PRIMARY KEY,
    seq             INTEGER NOT NULL
) STRICT;

CREATE INDEX deliveries_replayed ON deliveries (job_id) WHERE replayed_from IS NOT NULL;

INSERT OR IGNORE INTO meta (name, value) VALUES ('event_epoch', randomblob(8));
