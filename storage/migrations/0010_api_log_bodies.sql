-- What calls of the API sent and were answered, where log.bodies keeps it.

CREATE TABLE api_log_bodies (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL,
    account_id      INTEGER,
    request         TEXT    NOT NULL,
    request_bytes   INTEGER NOT NULL,
    response        TEXT    NOT NULL,
    response_bytes  INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX api_log_bodies_by_age ON api_log_bodies (created_at, id);
CREATE INDEX api_log_bodies_of_account ON api_log_bodies (account_id) WHERE account_id IS NOT NULL;
