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

-- What happens to conversations besides messages is kept from now on.

CREATE TABLE conversation_changes (
    id              TEXT    PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    account_id      INTEGER NOT NULL,
    kind            TEXT    NOT NULL,
    actor           TEXT    NOT NULL,
    user_id         TEXT,
    assignee_id     TEXT,
    label           TEXT,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX conversation_changes_of_conversation ON conversation_changes (conversation_id, id);
CREATE INDEX conversation_changes_by_age ON conversation_changes (created_at, id);
