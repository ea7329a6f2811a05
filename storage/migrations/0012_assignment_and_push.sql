-- Conversations that are assigned by themselves, and notifications on people's devices.

ALTER TABLE teams ADD COLUMN assignment TEXT NOT NULL DEFAULT 'off' CHECK (assignment IN ('off', 'round_robin'));
ALTER TABLE teams ADD COLUMN assignment_limit INTEGER;
ALTER TABLE users ADD COLUMN available INTEGER NOT NULL DEFAULT 1 CHECK (available IN (0, 1));
ALTER TABLE users ADD COLUMN notify_about TEXT NOT NULL DEFAULT 'mine_and_unassigned'
    CHECK (notify_about IN ('everything', 'mine_and_unassigned', 'mentions', 'nothing'));
CREATE TABLE assignment_turns (
    user_id TEXT    PRIMARY KEY REFERENCES users (id),
    turn    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_held ON conversations (assignee_id) WHERE assignee_id IS NOT NULL AND status <> 'resolved';

CREATE TABLE push_devices (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    user_id         TEXT    NOT NULL REFERENCES users (id),
    session_id      TEXT    NOT NULL REFERENCES user_sessions (id) ON DELETE CASCADE,
    endpoint_hash   BLOB    NOT NULL,
    subscription    BLOB    NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_devices_of_user ON push_devices (user_id, endpoint_hash);
CREATE INDEX push_devices_of_organization ON push_devices (organization_id, id);
CREATE INDEX push_devices_of_session ON push_devices (session_id);
CREATE TABLE push_times (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    device_id       TEXT    NOT NULL REFERENCES push_devices (id) ON DELETE CASCADE,
    pushed_at       INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_times_of_device ON push_times (device_id);
