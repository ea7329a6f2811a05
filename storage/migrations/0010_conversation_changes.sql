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
