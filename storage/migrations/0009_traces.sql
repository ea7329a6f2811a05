-- Failed tries at the provider are kept, so that a message can be traced, and an
-- organization's calls are found without those of others.

CREATE TABLE message_tries (
    message     INTEGER NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    try         INTEGER NOT NULL,
    began_at    INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    http_status INTEGER,
    code        INTEGER,
    reason      TEXT    NOT NULL,
    answer      TEXT,
    PRIMARY KEY (message, try)
) STRICT, WITHOUT ROWID;

CREATE INDEX api_log_of_organization ON api_log (organization_id, created_at, request_id) WHERE organization_id IS NOT NULL;
CREATE INDEX api_log_refused ON api_log (organization_id, created_at, request_id) WHERE organization_id IS NOT NULL AND status >= 400;
