-- Webhooks may receive the provider's own envelopes.

ALTER TABLE subscriptions ADD COLUMN format TEXT NOT NULL DEFAULT 'svc' CHECK (format IN ('svc', 'provider'));
ALTER TABLE subscriptions ADD COLUMN verify_token BLOB;

-- What the clients of the gateway send, and the files that they use.

CREATE TABLE gateway_media (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    id         TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX gateway_media_by_id ON gateway_media (id);
CREATE INDEX gateway_media_by_age ON gateway_media (created_at);

CREATE TABLE gateway_sends (
    message      INTEGER PRIMARY KEY REFERENCES messages (number) ON DELETE CASCADE,
    tag          TEXT,
    status       INTEGER NOT NULL DEFAULT 0,
    content_type TEXT    NOT NULL DEFAULT '',
    answer       BLOB
) STRICT;
