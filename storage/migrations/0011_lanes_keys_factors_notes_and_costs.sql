-- The jobs that wait in a lane go out by their ids, which never go back, and not by times.

DROP INDEX jobs_held;
CREATE INDEX jobs_held ON jobs (kind, lane, id) WHERE state = 'held';

-- Keys may be limited: to scopes, to numbers, and to a bot. Those of before are not.

ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(scopes));
ALTER TABLE api_keys ADD COLUMN account_ids TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(account_ids));
ALTER TABLE api_keys ADD COLUMN agent TEXT;

-- Media may be in object storage, where what is deleted stays for a while.

CREATE TABLE unused_objects (
    sha256 TEXT    PRIMARY KEY,
    since  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
