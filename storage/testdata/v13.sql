-- A database of schema 13 as it was released, with rows in every table.
--
-- Frozen: tests upgrade it and read it back.
-- Its master key is "frozen databases share this key."
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1668179554;
PRAGMA user_version = 13;
BEGIN;
---- schema ----
-- confab: the whole database, newest version, commented table by table.
--
-- This file makes new databases; storage/migrations upgrades older ones, and a
-- test proves that both ways lead to the same schema.
--
-- How it is kept:
--   * Times are integers: milliseconds since 1970 UTC. 0 or NULL means "never";
--     a column that takes part in an order is NOT NULL and says 0, because a
--     NULL would drop its row out of keyset paging.
--   * Public ids (msg_…, lbl_…) are the primary key of what they name. They
--     start with a time, so new rows land at the end of every tree.
--   * Rows are in the order in which they were stored, also when the clock was set back:
--     ids, and created_at and updated_at of what lists and clients sort or compare, go on
--     from where they were until the clock has caught up. Whatever falls due or ends at a
--     time, and the logs, go by the clock.
--   * Organizations, teams and accounts are the first column of almost every
--     index; so they have a small integer key beside their public id.
--   * JSON is TEXT and checked, in the busiest tables by the program alone. What goes out byte for byte (events) is a BLOB.
--   * Secrets are BLOBs sealed with AES-256-GCM under the master key.
--   * Every index that serves a list ends in the list's order and then id.
--   * Busy tables check a word by comparisons, not by IN: for a list of more than two,
--     SQLite would build a temporary index at every insert. The busiest check nothing
--     that the program has checked: `confab doctor` does it for them.

-- Facts about this file: the value by which its master key is recognized, what the clock
-- said when a server last looked, so that a wrong one deletes nothing, with how far the rows
-- were (as JSON), the epoch of its events, which a restored backup changes, a number that
-- counts on while a server serves, by which an older file is recognized, how far the clock of a
-- sandbox was moved, and the key that signs push messages, sealed.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

----------------------------------------------------------------- tenancy ----

-- A tenant. Everything below belongs to exactly one.
CREATE TABLE organizations (
    id             INTEGER PRIMARY KEY,
    public_id      TEXT    NOT NULL UNIQUE,                 -- org_…
    name           TEXT    NOT NULL,
    plan           TEXT    NOT NULL,                        -- a [plans.NAME] of the settings
    subscription   TEXT    NOT NULL DEFAULT 'active' CHECK (subscription IN ('active', 'inactive')),
    require_opt_in INTEGER NOT NULL DEFAULT 0 CHECK (require_opt_in IN (0, 1)),
    suspended_at   INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    handover_return_minutes INTEGER NOT NULL DEFAULT 0      -- after which a person who is silent holds a conversation no longer; 0: never
) STRICT;

-- A part of an organization. Labels, accounts and customers belong to one.
CREATE TABLE teams (
    id              INTEGER PRIMARY KEY,
    public_id       TEXT    NOT NULL UNIQUE,                -- team_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    name            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    assignment       TEXT   NOT NULL DEFAULT 'off' CHECK (assignment IN ('off', 'round_robin')),
    assignment_limit INTEGER                                -- open and pending conversations that a person may hold; NULL: any number
) STRICT;
CREATE INDEX teams_of_organization ON teams (organization_id, id);

-- A person: whom conversations can be assigned to, and who may sign in to the console.
-- The id is a bare ULID.
CREATE TABLE users (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    team_id         INTEGER NOT NULL REFERENCES teams (id),
    name            TEXT    NOT NULL,
    email           TEXT,
    created_at      INTEGER NOT NULL,
    role            TEXT    NOT NULL DEFAULT 'agent' CHECK (role IN ('admin', 'agent')),
    sign_in_email   TEXT,                                   -- the address without case, of those who can sign in or are invited
    password_hash   TEXT,                                   -- argon2id with its salt; NULL: cannot sign in
    disabled_at     INTEGER NOT NULL DEFAULT 0,
    last_sign_in_at INTEGER NOT NULL DEFAULT 0,
    available       INTEGER NOT NULL DEFAULT 1 CHECK (available IN (0, 1)), -- 0: away, and gets no conversation by itself
    notify_about    TEXT    NOT NULL DEFAULT 'mine_and_unassigned'          -- what is pushed to the person's devices
                            CHECK (notify_about IN ('everything', 'mine_and_unassigned', 'mentions', 'nothing'))
) STRICT;
CREATE INDEX users_of_organization ON users (organization_id, id);
CREATE UNIQUE INDEX users_sign_in ON users (sign_in_email) WHERE sign_in_email IS NOT NULL;

-- Links by which people choose their first or a new password, or sign in once. Only a hash of
-- the token is kept. One that has ended stays for some weeks, so that its page can say so.
CREATE TABLE user_invitations (
    token_hash BLOB    PRIMARY KEY,                         -- SHA-256
    user_id    TEXT    NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL DEFAULT 0,                  -- used, replaced by a newer one, or taken back
    signs_in   INTEGER NOT NULL DEFAULT 0 CHECK (signs_in IN (0, 1)) -- 1: it signs in, and no password is chosen
) STRICT, WITHOUT ROWID;
CREATE INDEX user_invitations_of_user ON user_invitations (user_id, ended_at);

-- The second factors of people. An app on their phone shares the secret, and makes a code of it
-- for each step of 30 seconds. A person's first factor, of either kind, brings recovery codes,
-- each good once: using one deletes it.
CREATE TABLE user_codes (
    user_id      TEXT    PRIMARY KEY REFERENCES users (id),
    secret       BLOB    NOT NULL,                          -- sealed
    last_step    INTEGER NOT NULL,                          -- accepted: none at or below it is accepted again
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE user_recovery_codes (
    user_id   TEXT NOT NULL REFERENCES users (id),
    code_hash BLOB NOT NULL,                                -- SHA-256
    PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_passkeys (
    id            TEXT    PRIMARY KEY,                      -- psk_…
    user_id       TEXT    NOT NULL REFERENCES users (id),
    credential_id BLOB    NOT NULL UNIQUE,                  -- by which the browser names it
    credential    BLOB    NOT NULL,                         -- sealed: its public key, how often it was used …
    host          TEXT    NOT NULL,                         -- the only one for which browsers use it
    name          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX user_passkeys_of_user ON user_passkeys (user_id, id);

-- Whom the identity provider (OpenID Connect) knows as which person.
CREATE TABLE user_identities (
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    TEXT    NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX user_identities_of_user ON user_identities (user_id, issuer);

-- Browsers in which people are signed in. Only a hash of the cookie is kept. Signing out
-- deletes the row.
CREATE TABLE user_sessions (
    id           TEXT    PRIMARY KEY,                       -- ses_…
    token_hash   BLOB    NOT NULL UNIQUE,                   -- SHA-256
    user_id      TEXT    NOT NULL REFERENCES users (id),
    user_agent   TEXT    NOT NULL,
    ip           TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL                           -- written in batches, up to a minute late
) STRICT;
CREATE INDEX user_sessions_of_user ON user_sessions (user_id, id);

-- Who got conversations by itself, in the order of the last one: the lowest, or who has no row,
-- gets the next. It is no column of users, which every request of the console has in memory.
CREATE TABLE assignment_turns (
    user_id TEXT    PRIMARY KEY REFERENCES users (id),
    turn    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Browsers that show notifications (web push). A device goes with the session that it belongs to.
CREATE TABLE push_devices (
    id              TEXT    PRIMARY KEY,                    -- dev_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    user_id         TEXT    NOT NULL REFERENCES users (id),
    session_id      TEXT    NOT NULL REFERENCES user_sessions (id) ON DELETE CASCADE,
    endpoint_hash   BLOB    NOT NULL,                       -- SHA-256
    subscription    BLOB    NOT NULL,                       -- endpoint and keys as JSON, sealed
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_devices_of_user ON push_devices (user_id, endpoint_hash);
CREATE INDEX push_devices_of_organization ON push_devices (organization_id, id);
CREATE INDEX push_devices_of_session ON push_devices (session_id);

-- Who did what that matters for safety or cannot be undone, kept console.audit_days. The
-- name is repeated, because the one who did it may be renamed or deleted later.
CREATE TABLE audit (
    id              TEXT    PRIMARY KEY,                    -- aud_…
    organization_id INTEGER REFERENCES organizations (id),  -- NULL: it concerns the whole server
    actor_type      TEXT    NOT NULL CHECK (actor_type IN ('user', 'key', 'command_line', 'system')),
    actor_id        TEXT,
    actor_name      TEXT,
    action          TEXT    NOT NULL,                       -- object.verb
    target_type     TEXT,
    target_id       TEXT,
    ip              TEXT,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_of_organization ON audit (organization_id, created_at, id);
CREATE INDEX audit_by_age ON audit (created_at, id);

-- API keys. The key itself is shown once and never stored. What a key may do never changes.
CREATE TABLE api_keys (
    id              TEXT    PRIMARY KEY,                    -- key_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    label           TEXT,
    hash            BLOB    NOT NULL UNIQUE,                -- SHA-256 of the whole key
    last4           TEXT    NOT NULL,
    expires_at      INTEGER NOT NULL DEFAULT 0,
    revoked_at      INTEGER NOT NULL DEFAULT 0,
    last_used_at    INTEGER NOT NULL DEFAULT 0,             -- written in batches, a few seconds late
    created_at      INTEGER NOT NULL,
    scopes          TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(scopes)), -- JSON list, sorted; none: all
    account_ids     TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(account_ids)), -- JSON list of the accounts that it is bound to, removed ones too; none: all
    agent           TEXT                                    -- the bot that uses it; NULL for none
) STRICT;
CREATE INDEX api_keys_of_organization ON api_keys (organization_id, created_at, id);

-- Outbound messages accepted per calendar month (UTC), counted for the quota.
CREATE TABLE usage (
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    month           INTEGER NOT NULL,                       -- 202611
    messages        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, month)
) STRICT, WITHOUT ROWID;

----------------------------------------------------------- platform mode ----

-- An end-customer of a platform.
CREATE TABLE customers (
    id              TEXT    PRIMARY KEY,                    -- cus_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    team_id         INTEGER NOT NULL REFERENCES teams (id),
    name            TEXT    NOT NULL,
    email           TEXT,
    status          TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'active', 'suspended', 'archived')),
    restore_status  TEXT    CHECK (restore_status IN ('pending', 'active', 'suspended')), -- what archiving replaced
    metadata        TEXT    CHECK (metadata IS NULL OR json_valid(metadata)),
    archived_at     INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX customers_of_organization ON customers (organization_id, created_at, id);
CREATE INDEX customers_in_use ON customers (organization_id, created_at, id) WHERE status <> 'archived';
CREATE INDEX customers_by_status ON customers (organization_id, status, created_at, id);
CREATE INDEX customers_by_email ON customers (organization_id, email COLLATE NOCASE, created_at, id) WHERE email IS NOT NULL;

-- A link through which a customer connects its own number. Only a hash of its token is kept.
CREATE TABLE setup_links (
    id                   TEXT    PRIMARY KEY,               -- csl_…
    customer_id          TEXT    NOT NULL REFERENCES customers (id),
    token_hash           BLOB    NOT NULL UNIQUE,           -- SHA-256
    token_last4          TEXT    NOT NULL,
    status               TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'consumed', 'revoked')), -- that it expired is not stored: see expires_at
    success_redirect_url TEXT,
    failure_redirect_url TEXT,
    account_id           INTEGER REFERENCES accounts (id),  -- the account that its last signup connects or connected
    job_id               INTEGER,                           -- the job that does so; the signup is under way while it exists
    failure_reason       TEXT,                              -- why that signup failed
    expires_at           INTEGER NOT NULL,
    consumed_at          INTEGER NOT NULL DEFAULT 0,
    created_at           INTEGER NOT NULL
) STRICT;
CREATE INDEX setup_links_of_customer ON setup_links (customer_id, created_at, id);
CREATE INDEX setup_links_of_account ON setup_links (account_id) WHERE account_id IS NOT NULL;

---------------------------------------------------------------- accounts ----

-- A connected business number. A removed one stays, with deleted_at set.
CREATE TABLE accounts (
    id                INTEGER PRIMARY KEY,
    public_id         TEXT    NOT NULL UNIQUE,              -- acc_…
    organization_id   INTEGER NOT NULL REFERENCES organizations (id),
    team_id           INTEGER NOT NULL REFERENCES teams (id),
    customer_id       TEXT    REFERENCES customers (id),    -- NULL: the organization's own
    phone_number_id   TEXT,                                 -- NULL while onboarding is in flight
    waba_id           TEXT,
    phone_number      TEXT,                                 -- E.164
    name              TEXT,
    status            TEXT    NOT NULL CHECK (status IN ('connected', 'disconnected', 'degraded', 'onboarding')),
    status_reason     TEXT,
    provider_status   TEXT,                                 -- the provider's own word, NULL if never fetched
    restricted        INTEGER NOT NULL DEFAULT 0 CHECK (restricted IN (0, 1)),
    access_token      BLOB,                                 -- sealed
    pin               BLOB,                                 -- sealed
    cooldown_until    INTEGER NOT NULL DEFAULT 0,           -- after 131048 or 80007
    templates_synced_at INTEGER NOT NULL DEFAULT 0,
    checked_at        INTEGER NOT NULL DEFAULT 0,           -- the hourly check
    onboarded_at      INTEGER NOT NULL DEFAULT 0,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    deleted_at        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX accounts_live_number ON accounts (phone_number_id) WHERE deleted_at = 0;
CREATE INDEX accounts_removed_number ON accounts (phone_number_id) WHERE deleted_at <> 0; -- callbacks for it still come
CREATE INDEX accounts_of_organization ON accounts (organization_id, created_at, public_id) WHERE deleted_at = 0;
CREATE INDEX accounts_of_customer ON accounts (customer_id, id) WHERE customer_id IS NOT NULL AND deleted_at = 0;
CREATE INDEX accounts_of_waba ON accounts (waba_id, id) WHERE deleted_at = 0;

-- Message templates as last seen at the provider.
CREATE TABLE templates (
    id                   TEXT    PRIMARY KEY,               -- tmpl_…
    account_id           INTEGER NOT NULL REFERENCES accounts (id),
    name                 TEXT    NOT NULL,
    language             TEXT    NOT NULL,
    status               TEXT    NOT NULL CHECK (status IN ('pending', 'approved', 'rejected')),
    provider_status      TEXT,
    provider_template_id TEXT,
    category             TEXT,
    parameter_format     TEXT    NOT NULL DEFAULT 'POSITIONAL' CHECK (parameter_format IN ('POSITIONAL', 'NAMED')),
    content              TEXT    NOT NULL DEFAULT '',
    components           TEXT    NOT NULL CHECK (json_valid(components)),
    reason               TEXT,                              -- why it was rejected or paused
    reviewed_at          INTEGER NOT NULL DEFAULT 0,        -- when a callback last reported its review
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    category_change_to   TEXT,                              -- the category that the provider has announced,
    category_change_at   INTEGER NOT NULL DEFAULT 0         -- and for when
) STRICT;
CREATE UNIQUE INDEX templates_name ON templates (account_id, name, language);
CREATE INDEX templates_of_account ON templates (account_id, created_at, id);
CREATE INDEX templates_by_status ON templates (account_id, status, created_at, id);
CREATE INDEX templates_at_provider ON templates (provider_template_id) WHERE provider_template_id IS NOT NULL;

------------------------------------------------------------------- inbox ----

-- A person, as one business number knows it: by phone number, by BSUID, or by both;
-- or only by the BSUID of a parent portfolio, to which a message was sent.
CREATE TABLE contacts (
    id                  TEXT    PRIMARY KEY,                -- ctc_…
    account_id          INTEGER NOT NULL REFERENCES accounts (id),
    phone_number        TEXT,                               -- E.164, as the provider writes it once that is known
    bsuid               TEXT,
    parent_bsuid        TEXT,
    username            TEXT,
    name                TEXT,
    name_is_ours        INTEGER NOT NULL DEFAULT 0 CHECK (name_is_ours IN (0, 1)), -- set through the API: profile names no longer replace it
    email               TEXT,
    metadata            TEXT    CHECK (metadata IS NULL OR json_valid(metadata)),
    marketing_opted_out INTEGER NOT NULL DEFAULT 0 CHECK (marketing_opted_out IN (0, 1)),
    opted_in            INTEGER NOT NULL DEFAULT 0 CHECK (opted_in IN (0, 1)),
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    opted_out_by_word   INTEGER NOT NULL DEFAULT 0 CHECK (opted_out_by_word IN (0, 1)) -- marketing_opted_out is what a stop word set, and a start word may clear it
) STRICT;
CREATE UNIQUE INDEX contacts_phone ON contacts (account_id, phone_number) WHERE phone_number IS NOT NULL;
CREATE UNIQUE INDEX contacts_bsuid ON contacts (account_id, bsuid) WHERE bsuid IS NOT NULL;
CREATE INDEX contacts_parent ON contacts (account_id, parent_bsuid, created_at, id) WHERE parent_bsuid IS NOT NULL;
CREATE INDEX contacts_of_account ON contacts (account_id, created_at, id, updated_at); -- with updated_at, so that updated_since can skip rows without reading them
CREATE INDEX contacts_by_username ON contacts (account_id, username COLLATE NOCASE, created_at, id) WHERE username IS NOT NULL;
CREATE INDEX contacts_by_email ON contacts (account_id, email COLLATE NOCASE, created_at, id) WHERE email IS NOT NULL;

-- Further numbers by which a contact is found: other forms of its own, which clients
-- write to. A number is one contact's own, or one contact's alias, or neither.
CREATE TABLE contact_aliases (
    account_id   INTEGER NOT NULL,
    phone_number TEXT    NOT NULL,                          -- E.164
    contact_id   TEXT    NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, phone_number)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_aliases_of_contact ON contact_aliases (contact_id);

-- Files of contacts that are taken in by a job, step by step, and how far that is. The
-- file lies in the data directory, under the id, until it is done.
CREATE TABLE contact_imports (
    id         TEXT    PRIMARY KEY,                         -- imp_…
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    status     TEXT    NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    dry_run    INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
    label_id   TEXT,                                        -- that every contact of the file gets
    "offset"   INTEGER NOT NULL,                            -- in the file, of what comes next
    line       INTEGER NOT NULL,                            -- the number of the last one that was read; the header is 1
    lines      INTEGER NOT NULL DEFAULT 0,                  -- how many were read, without the header and blank ones
    created    INTEGER NOT NULL DEFAULT 0,
    updated    INTEGER NOT NULL DEFAULT 0,
    unchanged  INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0,
    errors     TEXT    NOT NULL CHECK (json_valid(errors)), -- the first hundred
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contact_imports_of_account ON contact_imports (account_id, id);

-- One thread per account and contact.
CREATE TABLE conversations (
    id              TEXT    PRIMARY KEY,                    -- cnv_…
    account_id      INTEGER NOT NULL REFERENCES accounts (id),
    contact_id      TEXT    NOT NULL UNIQUE REFERENCES contacts (id) ON DELETE CASCADE,
    status          TEXT    NOT NULL DEFAULT 'open',        -- open, resolved, pending
    assignee_id     TEXT    REFERENCES users (id),
    unread_count    INTEGER NOT NULL DEFAULT 0,             -- the newest so many of those that came in; no more than there are
    last_message_at INTEGER NOT NULL DEFAULT 0,             -- 0 is shown as null and sorts last; stays when the message is deleted
    last_inbound_at INTEGER NOT NULL DEFAULT 0,             -- likewise: the 24-hour window counts from it
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    waiting_since   INTEGER NOT NULL DEFAULT 0,             -- when the oldest message came that nobody has answered; 0: nobody waits
    waits_from      TEXT    NOT NULL DEFAULT '',            -- the first message that can wait: those before it went with the last resolve
    snoozed_until   INTEGER NOT NULL DEFAULT 0,             -- only of one that is not resolved
    waiting_order   INTEGER GENERATED ALWAYS AS (9007199254740991 - waiting_since) VIRTUAL, -- lists descend, and who waits longest is first
    holder_type     TEXT    NOT NULL DEFAULT 'none',        -- none, user, agent: a bot
    holder_id       TEXT,                                   -- a user, NULL for whoever has the phone, or the name of a bot
    holder_since    INTEGER NOT NULL DEFAULT 0,
    holder_wrote_at INTEGER NOT NULL DEFAULT 0,             -- when the holder last wrote, or else took it
    -- The spell that lasts, as the table spells has it once it is over; of a resolved one all is 0.
    spell_opened_at  INTEGER NOT NULL DEFAULT 0,
    spell_inbound_at INTEGER NOT NULL DEFAULT 0,
    spell_replied_at INTEGER NOT NULL DEFAULT 0,
    spell_replied_by TEXT,
    spell_in         INTEGER NOT NULL DEFAULT 0,
    spell_out        INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Every message moves its conversation in an index, so there is but one for that: lists
-- of all states are merged of one for each. What a message does not change is updated
-- when its last message came, and only those are in the other that were updated since.
CREATE INDEX conversations_by_update ON conversations (account_id, updated_at, id) WHERE updated_at <> last_message_at;
-- These end in one column more, so that it can be held against a row without reading that.
CREATE INDEX conversations_by_status ON conversations (account_id, status, last_message_at, id, assignee_id);
CREATE INDEX conversations_assigned ON conversations (account_id, assignee_id, last_message_at, id, status) WHERE assignee_id IS NOT NULL;
CREATE INDEX conversations_unread ON conversations (account_id, last_message_at, id, status) WHERE unread_count > 0;
CREATE INDEX conversations_waiting ON conversations (account_id, waiting_order, id) WHERE waiting_since > 0;
CREATE INDEX conversations_held ON conversations (assignee_id) WHERE assignee_id IS NOT NULL AND status <> 'resolved';
CREATE INDEX conversations_snoozed ON conversations (account_id, last_message_at, id, status, assignee_id) WHERE snoozed_until > 0;
CREATE INDEX conversations_by_opening ON conversations (account_id, spell_opened_at) WHERE spell_opened_at > 0;
CREATE INDEX conversations_by_holder ON conversations (account_id, holder_type, id) WHERE holder_type <> 'none';

-- Spells that are over: the times of conversations from their opening to their resolution, in the
-- order in which reports read them. Deleting messages changes none.
CREATE TABLE spells (
    account_id      INTEGER NOT NULL,
    opened_at       INTEGER NOT NULL,
    number          INTEGER NOT NULL,                       -- tells those of one instant apart
    conversation_id TEXT,                                   -- NULL: its contact was deleted
    inbound_at      INTEGER NOT NULL,                       -- the first message of the person; 0: none
    replied_at      INTEGER NOT NULL,                       -- our first answer after that; 0: none
    replied_by      TEXT,                                   -- a user, or the source of the message
    resolved_at     INTEGER NOT NULL,                       -- 0: its contact was deleted before
    resolved_by     TEXT,                                   -- a user, or what is none
    assignee_id     TEXT,                                   -- at its end
    labels          TEXT    NOT NULL,                       -- at its end: ids, with spaces between them
    messages_in     INTEGER NOT NULL,
    messages_out    INTEGER NOT NULL,
    -- What reports add up, ready to be read: see EachSpell.
    figures         TEXT    NOT NULL GENERATED ALWAYS AS (
        ',' || opened_at || ',' || iif(replied_at > 0, replied_at - inbound_at, '') || ','
        || iif(resolved_at > 0, resolved_at - opened_at, '') || ',' || messages_in || ',' || messages_out || ';') STORED,
    PRIMARY KEY (account_id, opened_at, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX spells_of_conversation ON spells (conversation_id) WHERE conversation_id IS NOT NULL;

-- When a device was last notified of a conversation. A row is deleted when it holds nothing back any more.
CREATE TABLE push_times (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    device_id       TEXT    NOT NULL REFERENCES push_devices (id) ON DELETE CASCADE,
    pushed_at       INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_times_of_device ON push_times (device_id);

-- What happened to conversations besides messages, as the console shows it between them. It
-- is deleted with the messages of its age.
CREATE TABLE conversation_changes (
    id              TEXT    PRIMARY KEY,                    -- chg_…
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    account_id      INTEGER NOT NULL,
    kind            TEXT    NOT NULL,                       -- assigned, labeled, unlabeled, resolved, reopened, pending, snoozed, woken, handed_over
    actor           TEXT    NOT NULL,                       -- user, api, contact, time, assignment, rule
    user_id         TEXT,                                   -- the actor, when that is a user
    assignee_id     TEXT,                                   -- to whom it was assigned or handed over; NULL: to nobody
    label           TEXT,                                   -- its name at that time; of handed_over the bot
    created_at      INTEGER NOT NULL,
    until           INTEGER NOT NULL DEFAULT 0              -- of snoozed
) STRICT;
CREATE INDEX conversation_changes_of_conversation ON conversation_changes (conversation_id, id);
CREATE INDEX conversation_changes_by_age ON conversation_changes (created_at, id);

-- What happens by itself when somebody writes, or has been quiet for a while.
CREATE TABLE rules (
    id              TEXT    PRIMARY KEY,                    -- rul_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    position        INTEGER NOT NULL,                       -- they run in this order, from 1
    name            TEXT    NOT NULL,
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason TEXT,                                   -- what it needs and is gone: label_gone, user_gone, …
    on_event        TEXT    NOT NULL,                       -- message_received, conversation_opened, conversation_idle
    conditions      TEXT    NOT NULL CHECK (json_valid(conditions)), -- as the API shows them
    actions         TEXT    NOT NULL CHECK (json_valid(actions)),    -- likewise
    templates       TEXT    NOT NULL CHECK (json_valid(templates)),  -- of each action, as it goes to the provider; null for others
    once_per        TEXT    NOT NULL,                       -- spell, day, message
    stop            INTEGER NOT NULL CHECK (stop IN (0, 1)),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_of_organization ON rules (organization_id, position, id);

-- What a rule did, for 30 days. It outlives its rule: it is a part of the message's trace.
CREATE TABLE rule_firings (
    id              TEXT    PRIMARY KEY,                    -- fir_…, never shown
    rule_id         TEXT    NOT NULL,
    account_id      INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      TEXT    NOT NULL,                       -- that it answers, or since which the conversation was idle
    scope           TEXT    NOT NULL,                       -- in which it fires once: a spell, a day or a message
    actions         TEXT    NOT NULL CHECK (json_valid(actions)), -- with the outcome of each
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX rule_firings_once ON rule_firings (conversation_id, rule_id, scope);
CREATE INDEX rule_firings_of_rule ON rule_firings (rule_id, id);
CREATE INDEX rule_firings_of_message ON rule_firings (message_id, id);
CREATE INDEX rule_firings_by_age ON rule_firings (created_at, id);

-- What a number has for rules: NULL for what was never set.
CREATE TABLE number_settings (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
    hours      TEXT    CHECK (hours IS NULL OR json_valid(hours)),
    opt_out    TEXT    CHECK (opt_out IS NULL OR json_valid(opt_out))
) STRICT;

-- What colleagues write to each other in a conversation. Nothing can send it, so it is no
-- message. It is deleted with the messages of its age.
CREATE TABLE notes (
    id              TEXT    PRIMARY KEY,                    -- not_…
    account_id      INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    author_type     TEXT    NOT NULL CHECK (author_type IN ('user', 'key', 'rule')),
    author_id       TEXT    NOT NULL,
    author_name     TEXT,                                   -- at that time
    text            TEXT    NOT NULL,
    mentions        TEXT    NOT NULL CHECK (json_valid(mentions)), -- ids of users
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_of_conversation ON notes (conversation_id, id);
CREATE INDEX notes_by_age ON notes (created_at, id);

-- Who is mentioned in a note and has not opened the conversation since.
CREATE TABLE unread_mentions (
    user_id         TEXT    NOT NULL REFERENCES users (id),
    account_id      INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL,
    note_id         TEXT    NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, account_id, conversation_id, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unread_mentions_of_note ON unread_mentions (note_id);

-- Lists of conversations that people saved under a name.
CREATE TABLE views (
    id              TEXT    PRIMARY KEY,                    -- viw_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    owner_id        TEXT    REFERENCES users (id),          -- NULL: made with an API key
    account_id      INTEGER REFERENCES accounts (id),       -- NULL: for every number
    name            TEXT    NOT NULL,
    shared          INTEGER NOT NULL CHECK (shared IN (0, 1)),
    filter          TEXT    NOT NULL CHECK (json_valid(filter)),
    sort            TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX views_of_organization ON views (organization_id, created_at, id, owner_id, shared);
CREATE INDEX views_of_account ON views (account_id) WHERE account_id IS NOT NULL;

-- Labels of a team; names are unique in it without regard to case.
CREATE TABLE labels (
    id              TEXT    PRIMARY KEY,                    -- lbl_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    team_id         INTEGER NOT NULL REFERENCES teams (id),
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,                       -- without case
    color           TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    deleted_at      INTEGER NOT NULL DEFAULT 0              -- deleted for the client; the row is deleted when nothing has the label any more
) STRICT;
CREATE UNIQUE INDEX labels_name ON labels (team_id, name_folded) WHERE deleted_at = 0;
CREATE INDEX labels_of_organization ON labels (organization_id, created_at, id) WHERE deleted_at = 0;

-- Labels of contacts. The account and the age of the contact are repeated here,
-- because the contacts with a label are listed for one account, newest first.
CREATE TABLE contact_labels (
    contact_id         TEXT    NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
    label_id           TEXT    NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    account_id         INTEGER NOT NULL,
    contact_created_at INTEGER NOT NULL,
    PRIMARY KEY (contact_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_labels_by_label ON contact_labels (label_id, account_id, contact_created_at, contact_id);

-- Labels of conversations.
CREATE TABLE conversation_labels (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    label_id        TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (conversation_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_labels_by_label ON conversation_labels (label_id, conversation_id);

-- Texts that the people of a team insert by a short word.
CREATE TABLE quick_replies (
    id              TEXT    PRIMARY KEY,                    -- qrp_…
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    team_id         INTEGER NOT NULL REFERENCES teams (id),
    shortcut        TEXT    NOT NULL,                       -- a-z, 0-9, _ and -
    text            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    interactive     TEXT    CHECK (json_valid(interactive)) -- buttons or a list to the text; NULL: none
) STRICT;
CREATE UNIQUE INDEX quick_replies_shortcut ON quick_replies (team_id, shortcut);
CREATE INDEX quick_replies_of_organization ON quick_replies (organization_id, created_at, id);

---------------------------------------------------------------- messages ----

-- Messages in both directions. The content is the object that stands under the name
-- of its type, exactly as it was sent or received, but without the fields that a send
-- ignores.
--
-- Every message costs the writer this table and its indexes, so there is nothing in them
-- that could be left out. An id holds the time at which its message was stored: the order
-- of ids is that of created_at, and lists need no other. References and words are checked
-- by the program alone; `confab doctor` looks whether they are sound.
CREATE TABLE messages (
    number              INTEGER PRIMARY KEY,                -- by which its row is found fastest; used again when it is free
    id                  TEXT    NOT NULL,                   -- msg_…
    account_id          INTEGER NOT NULL,
    conversation_id     TEXT    NOT NULL,
    contact_id          TEXT    NOT NULL,                   -- the conversation's
    direction           TEXT    NOT NULL,                   -- inbound, outbound
    type                TEXT    NOT NULL,
    status              TEXT    NOT NULL,                   -- queued, pending, sent, delivered, read, failed
    source              TEXT    NOT NULL,                   -- api, app, console, broadcast, rule, gateway
    provider_id         TEXT,                               -- wamid…, NULL until known
    recipient           TEXT,                               -- BSUID, when the send named one instead of a number
    phone_number        TEXT,                               -- the person's at that time: the contact's may change
    content             TEXT    NOT NULL,                   -- JSON
    body                TEXT,                               -- text, caption, or a template's filled-in text, as events show it
    context             TEXT,                               -- JSON
    media_id            TEXT    REFERENCES media (id) ON DELETE SET NULL,
    media_status        TEXT,                               -- fetching, ready, failed
    error_code          TEXT,
    error_message       TEXT,
    error_provider_code INTEGER,
    is_revoked          INTEGER NOT NULL DEFAULT 0,         -- 0, 1
    reported            INTEGER NOT NULL DEFAULT 0,         -- the states that callbacks have reported, a bit each, so that a repeat makes no second event
    played_at           INTEGER NOT NULL DEFAULT 0,
    edited_at           INTEGER NOT NULL DEFAULT 0,
    sent_at             INTEGER NOT NULL DEFAULT 0,         -- the provider's time of an inbound or echoed message
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    sent_by             TEXT,                               -- the user who sent it in the console
    request_id          TEXT,                               -- of the API call that made it
    scheduled_at        INTEGER NOT NULL DEFAULT 0,         -- when it is to be sent; 0: at once
    place               TEXT,                               -- of one whose time has come: its id with that time, by which lists order it
    broadcast           INTEGER,                            -- the number of the broadcast that made it,
    recipient_number    INTEGER,                            -- and of the recipient in it
    pricing             TEXT,                               -- JSON: the provider's object, of the first callback that had one
    delivered_at        INTEGER NOT NULL DEFAULT 0,         -- the earliest time at which a callback says that it was delivered or read
    rule_id             TEXT                                -- the rule that sent it
) STRICT;
CREATE UNIQUE INDEX messages_of_account ON messages (account_id, id);
CREATE UNIQUE INDEX messages_at_provider ON messages (account_id, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX messages_of_conversation ON messages (conversation_id, id);
CREATE INDEX messages_failed ON messages (account_id, id) WHERE status = 'failed';
CREATE INDEX messages_inbound ON messages (account_id, id) WHERE direction = 'inbound';
CREATE INDEX messages_with_media ON messages (media_id) WHERE media_id IS NOT NULL;
-- Of messages that are sent later: those that wait, and those whose time has come, in their
-- place.
CREATE INDEX messages_scheduled ON messages (account_id, scheduled_at, id)
    WHERE scheduled_at <> 0 AND place IS NULL AND status = 'queued';
CREATE INDEX messages_placed ON messages (account_id, place) WHERE place IS NOT NULL;
CREATE INDEX messages_placed_in_conversation ON messages (conversation_id, place) WHERE place IS NOT NULL;

-- How the messages of a number went, and why some failed, counted when it happens, in the
-- hour in which each was made. A contact that is deleted changes nothing here.
CREATE TABLE message_hours (
    account_id INTEGER NOT NULL,
    hour       INTEGER NOT NULL,                            -- when it began
    sent       INTEGER NOT NULL,                            -- at least so far: one that was read counts as delivered and sent too
    delivered  INTEGER NOT NULL,
    was_read   INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    received   INTEGER NOT NULL,
    PRIMARY KEY (account_id, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_hours_by_age ON message_hours (hour);
CREATE TABLE message_failures (
    account_id    INTEGER NOT NULL,
    hour          INTEGER NOT NULL,
    error_code    TEXT    NOT NULL,
    provider_code INTEGER NOT NULL,                         -- 0: none
    failures      INTEGER NOT NULL,
    PRIMARY KEY (account_id, hour, error_code, provider_code)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_failures_by_age ON message_failures (hour);

-- Messages that cost: those that were delivered and whose pricing is known, counted when
-- both are so, on the day (UTC) of their delivery. Deleting messages changes nothing here.
CREATE TABLE message_costs (
    account_id INTEGER NOT NULL,
    day        INTEGER NOT NULL,                            -- when it began
    category   TEXT    NOT NULL,                            -- the provider's, or unknown
    prefix     TEXT    NOT NULL,                            -- the first six digits of the recipient; '': not known
    broadcast  INTEGER NOT NULL,                            -- the number of the one that made them; 0: none
    messages   INTEGER NOT NULL,
    billable   INTEGER NOT NULL,                            -- of them
    PRIMARY KEY (account_id, day, category, prefix, broadcast)
) STRICT, WITHOUT ROWID;

-- What a message costs, as the operator has imported it: of those whose prefix begins a
-- number the longest, and of its prices the newest that is not of a later day.
CREATE TABLE rates (
    prefix     TEXT    NOT NULL,                            -- a calling code; '': everywhere else
    category   TEXT    NOT NULL,
    valid_from INTEGER NOT NULL,                            -- a day (UTC)
    price      TEXT    NOT NULL,                            -- an exact decimal
    currency   TEXT    NOT NULL,                            -- the same in all rows
    PRIMARY KEY (prefix, category, valid_from)
) STRICT, WITHOUT ROWID;

-- Messages that were changed or deleted, for the search index, which lies in a file of its
-- own and removes them from here. The triggers cost nothing where a message is stored,
-- sent or reported.
CREATE TABLE search_changes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    message    TEXT    NOT NULL,                            -- msg_…
    top_number INTEGER NOT NULL                             -- the highest of messages then: what is above it is new
) STRICT;
CREATE TRIGGER messages_changed AFTER UPDATE OF type, content, body, is_revoked ON messages BEGIN
    INSERT INTO search_changes (account_id, message, top_number) VALUES (old.account_id, old.id, (SELECT max(number) FROM messages));
END;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
    INSERT INTO search_changes (account_id, message, top_number) VALUES (old.account_id, old.id, (SELECT coalesce(max(number), 0) FROM messages));
END;

-- What is kept of messages of the gateway's clients that gave a tag, or an Idempotency-Key.
CREATE TABLE gateway_sends (
    message      INTEGER PRIMARY KEY REFERENCES messages (number) ON DELETE CASCADE,
    tag          TEXT,                                      -- the client's own biz_opaque_callback_data
    status       INTEGER NOT NULL DEFAULT 0,                -- of what the provider answered; 0: nothing yet
    content_type TEXT    NOT NULL DEFAULT '',
    answer       BLOB                                       -- as it came
) STRICT, WITHOUT ROWID;

-- Earlier versions of an edited message, and the edit that replaced each.
CREATE TABLE message_edits (
    message     INTEGER NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    version     INTEGER NOT NULL,                           -- 1 is the first
    content     TEXT    NOT NULL CHECK (json_valid(content)),
    body        TEXT,                                       -- its text or caption
    edited_at   INTEGER NOT NULL,                           -- when it was replaced
    provider_id TEXT    NOT NULL,                           -- of the edit, so that its repeat makes no second one
    PRIMARY KEY (message, version)
) STRICT, WITHOUT ROWID;

-- The status callbacks with a state that has no bit in messages.reported: one that the
-- provider has invented since.
CREATE TABLE message_statuses (
    message INTEGER NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    status  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (message, status)
) STRICT, WITHOUT ROWID;

-- Tries to hand a message to the provider that failed, with the answer. One that succeeded
-- writes none: its event tells when.
CREATE TABLE message_tries (
    message     INTEGER NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    try         INTEGER NOT NULL,                           -- 1 is the first
    began_at    INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    http_status INTEGER,                                    -- NULL: there was no answer
    code        INTEGER,                                    -- the provider's
    reason      TEXT    NOT NULL,
    answer      TEXT,                                       -- its body, without secrets and not all of a long one
    PRIMARY KEY (message, try)
) STRICT, WITHOUT ROWID;

-- Callbacks that arrived before their message: statuses, edits and deletions. They are
-- applied when it arrives, and deleted after a day.
CREATE TABLE parked_statuses (
    account_id  INTEGER NOT NULL REFERENCES accounts (id),
    provider_id TEXT    NOT NULL,
    status      TEXT    NOT NULL,                           -- or 'change ' and the id of an edit or a deletion
    payload     TEXT    NOT NULL CHECK (json_valid(payload)),
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, provider_id, status)
) STRICT, WITHOUT ROWID;
CREATE INDEX parked_statuses_by_age ON parked_statuses (created_at);

-- Callbacks from the provider that are kept as they came, because they could not be read
-- or are not handled.
CREATE TABLE raw_callbacks (
    id              INTEGER PRIMARY KEY,
    account_id      INTEGER,                                -- whose number it is about; NULL: nobody's
    phone_number_id TEXT,                                   -- what it is about, as far as it says,
    waba_id         TEXT,                                   -- so that it can go with the account
    field           TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    payload         BLOB    NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX raw_callbacks_by_age ON raw_callbacks (created_at);

-- Media: library uploads and what came with messages. The bytes lie in files named by
-- their hash; the public URL carries a random token of its own.
CREATE TABLE media (
    id                   TEXT    PRIMARY KEY,               -- med_…
    account_id           INTEGER NOT NULL REFERENCES accounts (id),
    origin               TEXT    NOT NULL CHECK (origin IN ('library', 'message')),
    url_token            TEXT    NOT NULL UNIQUE,
    sha256               TEXT    NOT NULL,
    mime_type            TEXT    NOT NULL,
    size                 INTEGER NOT NULL,
    filename             TEXT,
    created_at           INTEGER NOT NULL,
    deleted_at           INTEGER NOT NULL DEFAULT 0         -- deleted for the client; the row is deleted when no send can need it
) STRICT;
CREATE INDEX media_of_account ON media (account_id, created_at, id);
CREATE INDEX media_by_content ON media (sha256);

-- Library media as the provider has it, for each number that has sent it: a file may
-- be sent from every number of its team.
CREATE TABLE media_uploads (
    media_id          TEXT    NOT NULL REFERENCES media (id) ON DELETE CASCADE,
    account_id        INTEGER NOT NULL REFERENCES accounts (id),
    provider_media_id TEXT    NOT NULL,                     -- reused until expires_at
    expires_at        INTEGER NOT NULL,
    PRIMARY KEY (media_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX media_uploads_of_account ON media_uploads (account_id);

-- Files that the provider knows by an id that clients of the gateway use: they uploaded them, or
-- a callback brought them. The provider keeps none for longer than 30 days.
CREATE TABLE gateway_media (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    id         TEXT    NOT NULL,                            -- the provider's
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX gateway_media_by_id ON gateway_media (id);
CREATE INDEX gateway_media_by_age ON gateway_media (created_at);

-- Objects of media that no row of media names any more, and since when that is known. Object
-- storage keeps them for as long as a restored database could name them again.
CREATE TABLE unused_objects (
    sha256 TEXT    PRIMARY KEY,
    since  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-------------------------------------------------------------- broadcasts ----

-- One template for many recipients. The counts are kept as they change: to count a million
-- rows would take too long. They are exclusive and sum to total.
--
--   making      not shown: its recipients are being stored; what a crash leaves is deleted
--   preparing   its label's audience is being read
--   scheduled   waits for scheduled_at
--   running     recipients have their turn, in the order of their numbers
--   paused      until somebody resumes it, or after a cooldown by itself
--   completed   nobody waits any more
--   cancelled   likewise: those who waited count as skipped, though their rows say waiting
CREATE TABLE broadcasts (
    number            INTEGER PRIMARY KEY AUTOINCREMENT,    -- never reused: a job must not go on with another one
    id                TEXT    NOT NULL UNIQUE,              -- bcs_…
    account_id        INTEGER NOT NULL REFERENCES accounts (id),
    name              TEXT    NOT NULL,
    content           TEXT    NOT NULL CHECK (json_valid(content)), -- the template as the provider gets it, with {{fields}} in its texts
    template_name     TEXT    NOT NULL,
    template_language TEXT    NOT NULL,
    body              TEXT,                                 -- the template's text with the values of content filled in
    audience_type     TEXT    NOT NULL CHECK (audience_type IN ('label', 'contacts', 'recipients')),
    label_id          TEXT,                                 -- of the audience; the label may be gone
    status            TEXT    NOT NULL CHECK (status IN ('making', 'preparing', 'scheduled', 'running', 'paused', 'completed', 'cancelled')),
    paused_reason     TEXT,
    prepared          INTEGER NOT NULL DEFAULT 0 CHECK (prepared IN (0, 1)), -- all recipients are stored
    copied_at         INTEGER NOT NULL DEFAULT 0,           -- how far a label's contacts are stored: the age and
    copied_id         TEXT    NOT NULL DEFAULT '',          -- the id of the last
    position          INTEGER NOT NULL DEFAULT 0,           -- the number of the last recipient that had its turn
    open              INTEGER NOT NULL DEFAULT 0,           -- of those that wait, how many have a message
    total             INTEGER NOT NULL DEFAULT 0,
    waiting           INTEGER NOT NULL DEFAULT 0,
    sent              INTEGER NOT NULL DEFAULT 0,
    delivered         INTEGER NOT NULL DEFAULT 0,
    read              INTEGER NOT NULL DEFAULT 0,
    failed            INTEGER NOT NULL DEFAULT 0,
    skipped           INTEGER NOT NULL DEFAULT 0,
    scheduled_at      INTEGER NOT NULL DEFAULT 0,
    started_at        INTEGER NOT NULL DEFAULT 0,
    completed_at      INTEGER NOT NULL DEFAULT 0,           -- of one that was being made: since then it is taken back
    created_by        TEXT,                                 -- a user's or a key's id; NULL: the command line
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX broadcasts_of_account ON broadcasts (account_id, created_at, id) WHERE status <> 'making';
CREATE INDEX broadcasts_unfinished ON broadcasts (account_id, number) WHERE status <> 'completed' AND status <> 'cancelled';
CREATE INDEX broadcasts_of_label ON broadcasts (label_id) WHERE prepared = 0 AND label_id IS NOT NULL;

-- Whom a broadcast goes to. There may be millions, so rows are narrow, and in the order in
-- which they have their turn. Whoever is addressed as a contact has no number of its own here.
-- Recipients whose contact was deleted keep only what became of their message.
CREATE TABLE broadcast_recipients (
    broadcast    INTEGER NOT NULL,
    number       INTEGER NOT NULL,                          -- from 1 on
    status       INTEGER NOT NULL DEFAULT 0,                -- 0 waiting, 1 sent, 2 delivered, 3 read, 4 failed, 5 skipped
    phone_number TEXT,                                      -- E.164; in a skipped one what the file said
    contact_id   TEXT,                                      -- known from its turn on, or from the beginning
    fields       TEXT,                                      -- JSON: its values for the fields of the template
    message_id   TEXT,                                      -- msg_…, which may have been purged
    reason       TEXT,                                      -- why it was skipped, or the error's code
    error        TEXT,                                      -- the error's text
    code         INTEGER,                                   -- the provider's
    PRIMARY KEY (broadcast, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX broadcast_recipients_phone ON broadcast_recipients (broadcast, phone_number) WHERE phone_number IS NOT NULL;
CREATE INDEX broadcast_recipients_of_contact ON broadcast_recipients (contact_id) WHERE contact_id IS NOT NULL;

-- Contacts that got or lost a label while the audience of a broadcast was read, so that it
-- is read as it stood when the broadcast was made.
CREATE TABLE broadcast_label_changes (
    broadcast  INTEGER NOT NULL,
    contact_id TEXT    NOT NULL,
    had        INTEGER NOT NULL CHECK (had IN (0, 1)),      -- the label, before
    PRIMARY KEY (broadcast, contact_id)
) STRICT, WITHOUT ROWID;

---------------------------------------------------------------- webhooks ----

-- Events, rendered once. Retries and replays send the same bytes. Where there are few
-- subscriptions, their deliveries are made with the event; where there are many, by a
-- job of the kind webhook.fan_out. The order of their numbers is that in which they were
-- committed: clients follow the events by it, and remember how far they came. What goes to
-- webhooks of the format provider is no event: it has the negative number of its organization,
-- so that no list and no stream finds it.
CREATE TABLE events (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,      -- never used again: who has read up to a number must not miss what comes later
    id              TEXT    NOT NULL UNIQUE,                -- evt_…
    organization_id INTEGER NOT NULL,
    account_id      INTEGER,                                -- NULL: belongs to no number
    type            TEXT    NOT NULL,
    source          TEXT    NOT NULL,                       -- 'provider' or 'svc'
    event_id        TEXT    NOT NULL,                       -- X-Svc-Event-Id
    created_at      INTEGER NOT NULL,
    payload         BLOB    NOT NULL                        -- last, so that the others are found without reading it
) STRICT;
CREATE INDEX events_of_organization ON events (organization_id, seq, type, created_at); -- with type and time, so that filters can skip rows without reading them
CREATE INDEX events_of_account ON events (account_id) WHERE account_id IS NOT NULL;

-- How far an organization's events were removed because of their age: who comes back with
-- an earlier position has missed some. Those that went with a number are not counted.
CREATE TABLE removed_events (
    organization_id INTEGER PRIMARY KEY,
    seq             INTEGER NOT NULL                        -- the newest that was removed
) STRICT;

-- Webhook endpoints, and which events they want.
CREATE TABLE subscriptions (
    id                   TEXT    PRIMARY KEY,               -- wbs_…
    organization_id      INTEGER NOT NULL REFERENCES organizations (id),
    url                  TEXT    NOT NULL,
    description          TEXT,
    events               TEXT    NOT NULL CHECK (json_valid(events)),              -- ["*"] or names
    phone_number_ids     TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(phone_number_ids)),
    custom_headers       BLOB,                              -- sealed JSON
    status               TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'disabled')),
    disabled_reason      TEXT,
    consecutive_failures INTEGER NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0),
    failing_since        INTEGER NOT NULL DEFAULT 0,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    deleted_at           INTEGER NOT NULL DEFAULT 0,        -- deleted for the client; the row is deleted after its deliveries
    format               TEXT    NOT NULL DEFAULT 'svc' CHECK (format IN ('svc', 'provider')), -- 'provider': it receives the provider's own envelopes
    verify_token         BLOB                               -- sealed: what the endpoint is verified by; only of those
) STRICT;
CREATE INDEX subscriptions_of_organization ON subscriptions (organization_id, created_at, id);

-- Secrets that sign the deliveries of a subscription. Several may be valid at once,
-- and one of them never expires (expires_at 0): nothing goes out unsigned.
CREATE TABLE signing_secrets (
    id              TEXT    PRIMARY KEY,                    -- sec_…
    subscription_id TEXT    NOT NULL REFERENCES subscriptions (id),
    secret          BLOB    NOT NULL,                       -- sealed
    expires_at      INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX signing_secrets_of_subscription ON signing_secrets (subscription_id, created_at, id);

-- One event for one subscription, and how its delivery went.
CREATE TABLE deliveries (
    id                    TEXT    PRIMARY KEY,              -- wbd_…
    organization_id       INTEGER NOT NULL REFERENCES organizations (id),
    subscription_id       TEXT    NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    event                 TEXT    NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    event_type            TEXT    NOT NULL,
    event_id              TEXT    NOT NULL,
    status                TEXT    NOT NULL DEFAULT 'pending' CHECK (status = 'pending' OR status = 'succeeded' OR status = 'failed' OR status = 'dead'),
    attempt_count         INTEGER NOT NULL DEFAULT 0,
    last_attempt_at       INTEGER NOT NULL DEFAULT 0,
    next_attempt_at       INTEGER NOT NULL DEFAULT 0,
    response_status       INTEGER,
    response_body_snippet TEXT,
    duration_ms           INTEGER,
    error_code            TEXT,
    error_message         TEXT,
    replayed_from         TEXT,
    replayed              INTEGER NOT NULL DEFAULT 0 CHECK (replayed IN (0, 1)),   -- bulk replay skips what was replayed
    created_at            INTEGER NOT NULL,
    job_id                INTEGER NOT NULL DEFAULT 0        -- of the job that delivers it, even if that is done; ids of jobs are not reused
) STRICT;
CREATE INDEX deliveries_of_organization ON deliveries (organization_id, created_at, id);
CREATE INDEX deliveries_of_subscription ON deliveries (subscription_id, status, created_at, id);
CREATE INDEX deliveries_of_event ON deliveries (event);
CREATE INDEX deliveries_by_event_id ON deliveries (organization_id, event_id, created_at, id);
CREATE INDEX deliveries_to_replay ON deliveries (subscription_id, status, created_at, id) WHERE status IN ('failed', 'dead') AND replayed = 0;
CREATE INDEX deliveries_replayed ON deliveries (job_id) WHERE replayed_from IS NOT NULL; -- in the order in which they were made
CREATE INDEX deliveries_to_replay_by_type ON deliveries (subscription_id, status, event_type, created_at, id) WHERE status IN ('failed', 'dead') AND replayed = 0;

-- Deliveries that have ended, counted when they do, in the hour in which each was made.
CREATE TABLE delivery_hours (
    subscription_id TEXT    NOT NULL,
    hour            INTEGER NOT NULL,                       -- when it began
    succeeded       INTEGER NOT NULL,
    dead            INTEGER NOT NULL,
    untried         INTEGER NOT NULL,                       -- of the dead
    PRIMARY KEY (subscription_id, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_hours_by_age ON delivery_hours (hour);

-- Attempts that failed, and successes after a failure. A first success writes none.
CREATE TABLE delivery_attempts (
    delivery_id           TEXT    NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    attempt               INTEGER NOT NULL,
    attempted_at          INTEGER NOT NULL,
    response_status       INTEGER,
    duration_ms           INTEGER,
    error_code            TEXT,
    error_message         TEXT,
    response_body_snippet TEXT,
    PRIMARY KEY (delivery_id, attempt)
) STRICT, WITHOUT ROWID;

------------------------------------------------- jobs, requests, API log ----

-- Work to be done. A finished job is deleted; one that gave up stays as 'failed'
-- until somebody retries or cancels it.
--
--   due      waiting for its time and a worker; claimed kind by kind, oldest first
--   held     due, but its lane is full or closed, or no worker is free; no claim of due
--            jobs sees it, and the lane takes its jobs in the order in which they were
--            made, retries too
--   running  leased to the serving process, which frees all leases when it starts
--   failed   out of attempts
CREATE TABLE jobs (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,        -- never reused: a worker that lost its job must not end another one
    kind          TEXT    NOT NULL,
    lane          TEXT    NOT NULL DEFAULT '',              -- at most so many of a kind and lane run at once; '' = no lane
    args          TEXT    NOT NULL,                         -- JSON
    state         TEXT    NOT NULL,                         -- see above
    due_at        INTEGER NOT NULL,                         -- of a held one: since when it waits
    runs          INTEGER NOT NULL DEFAULT 0,               -- times it was leased; by it a worker that lost its lease is refused
    failures      INTEGER NOT NULL DEFAULT 0,               -- runs that ended in an error or took too long; a crash counts for none
    crashes       INTEGER NOT NULL DEFAULT 0,               -- runs that ended with the process; from the third on each delays the next run
    leased_until  INTEGER NOT NULL DEFAULT 0,               -- for people: the process goes by a clock that nobody can set, and may extend it; 0 while a running job was leased ahead of its turn
    call_begun_at INTEGER NOT NULL DEFAULT 0,               -- since then an outside call may have had its effect
    preparing     INTEGER NOT NULL DEFAULT 0,               -- 0, 1: running, and its call has certainly not begun
    last_error    TEXT,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_due ON jobs (kind, due_at, id) WHERE state = 'due';
CREATE INDEX jobs_held ON jobs (kind, lane, id) WHERE state = 'held';
CREATE INDEX jobs_begun ON jobs (kind) WHERE call_begun_at <> 0; -- few: whose call may have had its effect
CREATE INDEX jobs_fan_out ON jobs (lane) WHERE lane BETWEEN 'webhook.fan_out:' AND 'webhook.fan_out;'; -- few: asked before deliveries of an event are made

-- When each periodic job was last put on the queue.
CREATE TABLE periodic_runs (
    kind   TEXT PRIMARY KEY,
    ran_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Answers to POST requests that carried an Idempotency-Key, kept for a day.
CREATE TABLE idempotency (
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    key             TEXT    NOT NULL,
    account_id      INTEGER,                                -- whose data the answer holds; purged with it
    fingerprint     BLOB    NOT NULL,                       -- SHA-256 over method, path with query, and body
    status          INTEGER NOT NULL,
    request_id      TEXT    NOT NULL,
    body            BLOB    NOT NULL,                       -- sealed when it shows a secret once
    sealed          INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (organization_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_of_account ON idempotency (account_id) WHERE account_id IS NOT NULL;

-- Every call under /v1 with a valid key, and of the others at most 60 a minute, and what
-- people change in the console; written in batches off the request path, kept
-- log.api_log_days.
CREATE TABLE api_log (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,      -- never reused: those who follow the log ask for what came after an id
    organization_id INTEGER,                                -- NULL: the call had no valid key
    key_id          TEXT,
    method          TEXT    NOT NULL,
    path            TEXT    NOT NULL,                       -- without the query
    status          INTEGER NOT NULL,
    latency_us      INTEGER NOT NULL,
    ip              TEXT    NOT NULL,
    request_id      TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    user_id         TEXT,                                   -- who called, in the console
    error_code      TEXT,                                   -- why it was refused
    made_id         TEXT                                    -- of what it made
) STRICT;
CREATE INDEX api_log_by_age ON api_log (created_at, id);
CREATE INDEX api_log_of_organization ON api_log (organization_id, created_at, request_id) WHERE organization_id IS NOT NULL;
CREATE INDEX api_log_refused ON api_log (organization_id, created_at, request_id) WHERE organization_id IS NOT NULL AND status >= 400; -- few, and looked for

-- What calls under /v1 sent and were answered, where log.bodies keeps it: at most 16 KB of each,
-- with secrets masked, for one day. They go with their number.
CREATE TABLE api_log_bodies (
    id              TEXT    PRIMARY KEY,                    -- of the request
    organization_id INTEGER NOT NULL,
    account_id      INTEGER,                                -- of the number in the path, if there is one
    request         TEXT    NOT NULL,                       -- '' for none
    request_bytes   INTEGER NOT NULL,                       -- as it came, of which request may be the beginning
    response        TEXT    NOT NULL,
    response_bytes  INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX api_log_bodies_by_age ON api_log_bodies (created_at, id);
CREATE INDEX api_log_bodies_of_account ON api_log_bodies (account_id) WHERE account_id IS NOT NULL;
---- rows ----
INSERT INTO meta VALUES ('master_key_check', X'29E92CA32064C1116EF2170A66D92A1A481344192F676A1B3D260025077CFCE329DB'), ('event_epoch', X'0102030405060708');

INSERT INTO organizations VALUES
    (1, 'org_01KDYBMWFE0000000000000001', 'Acme', 'self_hosted', 'active', 1, 0, 1767323045678, 1767323045679, 0),
    (2, 'org_01KDYBMWFE0000000000000002', 'Späti & Söhne', 'free', 'inactive', 0, 1767323046000, 1767323045680, 1767323046000, 0);
INSERT INTO teams VALUES
    (1, 'team_01KDYBMWFE0000000000000001', 1, 'Default', 1767323045678, 'off', NULL),
    (2, 'team_01KDYBMWFE0000000000000002', 2, 'Default', 1767323045680, 'off', NULL),
    (3, 'team_01KDYBMWFE0000000000000003', 1, 'Support', 1767323045690, 'off', NULL);
INSERT INTO users VALUES
    ('01KDYBMWFE00000000000000U1', 1, 3, 'Ada', 'ada@example.com', 1767323045700, 'agent', NULL, NULL, 0, 0, 1, 'mine_and_unassigned'),
    ('01KDYBMWFE00000000000000U2', 1, 1, 'Grace', NULL, 1767323045701, 'agent', NULL, NULL, 0, 0, 1, 'mine_and_unassigned'),
    ('01KDYBMWFE00000000000000U3', 2, 2, 'Lise', 'Lise@example.com', 1767323045702, 'admin', 'lise@example.com', '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g', 1767323045901, 1767323045900, 1, 'mine_and_unassigned');
INSERT INTO user_invitations VALUES (X'0B', '01KDYBMWFE00000000000000U3', 1767323045702, 1767582245702, 1767323045703, 0);
INSERT INTO user_codes VALUES ('01KDYBMWFE00000000000000U3', X'0C', 58910768, 1767323045702, 1767323045703);
INSERT INTO user_recovery_codes VALUES ('01KDYBMWFE00000000000000U3', X'0D');
INSERT INTO user_passkeys VALUES ('psk_01KDYBMWFE00000000000000P1', '01KDYBMWFE00000000000000U3', X'0E', X'0F', 'chat.example.com', 'Laptop', 1767323045702, 0);
INSERT INTO user_identities VALUES ('https://id.example.com', 'subject-1', '01KDYBMWFE00000000000000U3', 1767323045702);
INSERT INTO user_sessions VALUES
    ('ses_01KDYBMWFE00000000000000N1', X'0C', '01KDYBMWFE00000000000000U3', 'Mozilla/5.0', '192.0.2.7', 1767323045900, 1767323045950);
INSERT INTO assignment_turns VALUES ('01KDYBMWFE00000000000000U1', 7);
INSERT INTO push_devices VALUES
    ('dev_01KDYBMWFE00000000000000D1', 2, '01KDYBMWFE00000000000000U3', 'ses_01KDYBMWFE00000000000000N1', X'10', X'11', 1767323045951);
INSERT INTO audit VALUES
    ('aud_01KDYBMWFE00000000000000A1', 2, 'user', '01KDYBMWFE00000000000000U3', 'Lise', 'session.created', 'session', 'ses_01KDYBMWFE00000000000000N1', '192.0.2.7', 1767323045900);
INSERT INTO api_keys VALUES
    ('key_01KDYBMWFE00000000000000K1', 1, 'ci', X'78BB11F613FE3E613284B59E9F13FF394EC9583F7BB14CEDDCD964A3D3B2933D', 'ozen', 1798859045678, 0, 1767323099000, 1767323045710, '[]', '[]', NULL),
    ('key_01KDYBMWFE00000000000000K2', 1, NULL, X'00', 'aaaa', 0, 1767323050000, 0, 1767323045711, '["read","send"]', '[1]', 'helper');
INSERT INTO usage VALUES (1, 202601, 41), (1, 202602, 1);

INSERT INTO customers VALUES
    ('cus_01KDYBMWFE00000000000000C1', 1, 1, 'Bakery', 'b@example.com', 'archived', 'active', '{"tier":2}', 1767323060000, 1767323045720, 1767323060000);
INSERT INTO setup_links VALUES
    ('csl_01KDYBMWFE00000000000000L1', 'cus_01KDYBMWFE00000000000000C1', X'0102', 'zzzz', 'consumed', 'https://example.com/ok', NULL, NULL, NULL, NULL, 1767409445678, 1767323050000, 1767323045730);

INSERT INTO accounts VALUES
    (1, 'acc_01KDYBMWFE00000000000000A1', 1, 1, 'cus_01KDYBMWFE00000000000000C1', '106540352242922', '102290129340398', '+15550783881', 'Bakery', 'connected', NULL, 'CONNECTED', 0,
     X'D7BF96A48DD5B1285C90889BF8A00009F9828090BFE746E59B5331D98F84F792', X'25E0B79BEA0EF43EA14FC735B043D9771A02D71B9A9CEA47A6CD6C304B01B79D0886',
     0, 1767323050000, 1767323051000, 1767323049000, 1767323045740, 1767323051000, 0),
    (2, 'acc_01KDYBMWFE00000000000000A2', 2, 2, NULL, '106540352242922', NULL, NULL, NULL, 'disconnected', 'removed', NULL, 1, NULL, NULL, 0, 0, 0, 0, 1767323045741, 1767323052000, 1767323052000);
INSERT INTO templates VALUES
    ('tmpl_01KDYBMWFE00000000000000T1', 1, 'order_ready', 'en_US', 'approved', 'APPROVED', '594425479261596', 'UTILITY', 'POSITIONAL', 'Your order is ready', '[{"type":"BODY","text":"Your order is ready"}]', NULL, 0, 1767323045750, 1767323045751, 'MARKETING', 1769904000000);

INSERT INTO contacts VALUES
    ('ctc_01KDYBMWFE00000000000000P1', 1, '+15550001111', 'US.1', NULL, 'Ann_1', 'Ann', 1, 'ann@example.com', '{"vip":true}', 1, 1, 1767323045760, 1767323045761, 0);
INSERT INTO contact_aliases VALUES (1, '+15550001112', 'ctc_01KDYBMWFE00000000000000P1', 1767323045762);
INSERT INTO conversations VALUES
    ('cnv_01KDYBMWFE00000000000000V1', 1, 'ctc_01KDYBMWFE00000000000000P1', 'open', '01KDYBMWFE00000000000000U1', 1, 1767323045790, 1767323045790, 1767323045770, 1767323045790, 1767323045790, 'msg_01KDYBMWFE00000000000000G0', 1767409445000, 'none', NULL, 0, 0, 1767323045770, 1767323045790, 1767323045791, '01KDYBMWFE00000000000000U1', 1, 1);
INSERT INTO spells VALUES
    (1, 1767323045760, 7, 'cnv_01KDYBMWFE00000000000000V1', 1767323045760, 1767323045765, 'api', 1767323045768, '01KDYBMWFE00000000000000U1', NULL, 'lbl_01KDYBMWFE0000000000000002', 2, 3);
INSERT INTO labels VALUES
    ('lbl_01KDYBMWFE0000000000000001', 1, 1, 'Äpfel', 'äpfel', '#ff0000', 1767323045780, 1767323045781, 0),
    ('lbl_01KDYBMWFE0000000000000002', 1, 3, 'urgent', 'urgent', '#00ff00', 1767323045780, 1767323045780, 0),
    ('lbl_01KDYBMWFE0000000000000003', 2, 2, 'urgent', 'urgent', '#0000ff', 1767323045782, 1767323045782, 0);
INSERT INTO contact_labels VALUES ('ctc_01KDYBMWFE00000000000000P1', 'lbl_01KDYBMWFE0000000000000001', 1, 1767323045760);
INSERT INTO conversation_labels VALUES ('cnv_01KDYBMWFE00000000000000V1', 'lbl_01KDYBMWFE0000000000000002');
INSERT INTO push_times VALUES ('cnv_01KDYBMWFE00000000000000V1', 'dev_01KDYBMWFE00000000000000D1', 1767323045952);
INSERT INTO conversation_changes VALUES
    ('chg_01KDYBMWFE0000000000000001', 'cnv_01KDYBMWFE00000000000000V1', 1, 'labeled', 'api', NULL, NULL, 'VIP', 1767323045790, 0);

INSERT INTO notes VALUES
    ('not_01KDYBMWFE0000000000000001', 1, 'cnv_01KDYBMWFE00000000000000V1', 'key', 'key_01KDYBMWFE00000000000000K1', 'live', 'Ask Ben', '["01KDYBMWFE00000000000000U1"]', 1767323045790, 1767323045791);
INSERT INTO unread_mentions VALUES ('01KDYBMWFE00000000000000U1', 1, 'cnv_01KDYBMWFE00000000000000V1', 'not_01KDYBMWFE0000000000000001');
INSERT INTO rules VALUES
    ('rul_01KDYBMWFE0000000000000001', 1, 1, 'Away', 1, NULL, 'message_received', '{"hours":"closed"}', '[{"reply":{"text":"Tomorrow."}}]', '[null]', 'spell', 0, 1767323045810, 1767323045810);
INSERT INTO rule_firings VALUES
    ('fir_01KDYBMWFE0000000000000001', 'rul_01KDYBMWFE0000000000000001', 1, 'cnv_01KDYBMWFE00000000000000V1', 'msg_01KDYBMWFE00000000000000G0', 'spell msg_01KDYBMWFE00000000000000G0', '[{"action":"reply","outcome":"done","reason":null}]', 1767323045810);
INSERT INTO number_settings VALUES (1, '{"timezone":"Europe/Madrid","weekly":{},"holidays":null}', NULL);
INSERT INTO views VALUES
    ('viw_01KDYBMWFE0000000000000001', 1, '01KDYBMWFE00000000000000U1', 1, 'Late', 1, '{"waiting":true}', 'waiting', 1767323045790, 1767323045791);

INSERT INTO media VALUES
    ('med_01KDYBMWFE00000000000000M1', 1, 'message', 'tok1', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'image/png', 0, 'a.png', 1767323045785, 0);
INSERT INTO gateway_media VALUES (1, '1013859600285441', 1767323045678);
INSERT INTO media_uploads VALUES ('med_01KDYBMWFE00000000000000M1', 1, '1013859600285441', 1769915045678);
INSERT INTO messages VALUES
    (1, 'msg_01KDYBMWFE00000000000000G1', 1, 'cnv_01KDYBMWFE00000000000000V1', 'ctc_01KDYBMWFE00000000000000P1', 'inbound', 'image', 'delivered', 'app', 'wamid.1', NULL, NULL,
     '{"id":"1013859600285441"}', NULL, NULL, 'med_01KDYBMWFE00000000000000M1', 'ready', NULL, NULL, NULL, 0, 0, 0, 0, 1767323045000, 1767323045790, 1767323045790, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL),
    (2, 'msg_01KDYBMWFE00000000000000G2', 1, 'cnv_01KDYBMWFE00000000000000V1', 'ctc_01KDYBMWFE00000000000000P1', 'outbound', 'text', 'failed', 'api', NULL, 'US.1', NULL,
     '{"body":"hi"}', 'hi', '{"message_id":"wamid.1"}', NULL, NULL, 'provider_rejected', 'no', 131026, 1, 8, 1, 1767323045792, 0, 1767323045791, 1767323045793, '01KDYBMWFE00000000000000U1', 'req_01K000000000000000000000R1', 1767323045791, 'msg_01KDYBMWFE00000000000000G2', 1, 1, '{"billable":true,"pricing_model":"PMP","type":"regular","category":"utility"}', 0, NULL);
INSERT INTO message_edits VALUES (2, 1, '{"body":"hu"}', 'hu', 1767323045792, 'wamid.edit');
INSERT INTO gateway_sends VALUES (2, 'order 7', 400, 'application/json', X'7B7D');
INSERT INTO message_tries VALUES (2, 1, 1767323045792, 12, 400, 131026, 'no', '{}');
INSERT INTO message_statuses VALUES (2, 'warning', 1767323045793);
INSERT INTO message_hours VALUES (1, 1767322800000, 0, 0, 0, 1, 1);
INSERT INTO message_failures VALUES (1, 1767322800000, 'provider_rejected', 131026, 1);
INSERT INTO message_costs VALUES (1, 1767312000000, 'utility', '155500', 0, 3, 2);
INSERT INTO rates VALUES ('1', 'utility', 1764547200000, '0.004', 'USD');
INSERT INTO parked_statuses VALUES (1, 'wamid.9', 'read', '{"status":"read"}', 1767323045794);
INSERT INTO broadcasts VALUES
    (1, 'bcs_01KDYBMWFE00000000000000B1', 1, 'Spring', '{"name":"hello","language":{"code":"en"}}', 'hello', 'en', 'Hello', 'label', 'lbl_01KDYBMWFE00000000000000L1',
     'paused', 'requested', 1, 0, '', 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1767323045791, 0, NULL, 1767323045790, 1767323045793);
INSERT INTO broadcast_recipients VALUES
    (1, 1, 4, '+15550001111', 'ctc_01KDYBMWFE00000000000000P1', '{"name":"Ana"}', 'msg_01KDYBMWFE00000000000000G2', NULL, 'provider_rejected', 131026);
INSERT INTO broadcast_label_changes VALUES (1, 'ctc_01KDYBMWFE00000000000000P1', 1);
INSERT INTO quick_replies VALUES ('qrp_01KDYBMWFE00000000000000Q1', 1, 1, 'hi', 'Hello {{name}}', 1767323045790, 1767323045790, '{"type":"button"}');
INSERT INTO contact_imports VALUES ('imp_01KDYBMWFE00000000000000I1', 1, 'completed', 0, NULL, 40, 2, 1, 1, 0, 0, 0, '[]', 1767323045790, 1767323045791);
INSERT INTO search_changes VALUES (1, 1, 'msg_01KDYBMWFE00000000000000G2', 2);
INSERT INTO raw_callbacks VALUES (1, NULL, NULL, NULL, 'history', 'not used', X'7B7D', 1767323045795);

INSERT INTO events VALUES
    (3, 'evt_01KDYBMWFE00000000000000E1', 1, 1, 'message.received', 'provider', 'wamid.1', 1767323045800, X'7B7D');
UPDATE sqlite_sequence SET seq = 4 WHERE name = 'events';
INSERT INTO removed_events VALUES (1, 2);
INSERT INTO subscriptions VALUES
    ('wbs_01KDYBMWFE00000000000000S1', 1, 'https://example.com/hook', NULL, '["*"]', '["106540352242922"]', X'9C0813F57240619C4E3AE53E01B8AACC2B8A9E389B50739219F790CE5ACEEF305EACC860FA5FEF', 'disabled', 'consecutive_failures', 3, 1767323045801, 1767323045797, 1767323045802, 0, 'provider', NULL);
INSERT INTO signing_secrets VALUES
    ('sec_01KDYBMWFE00000000000000X1', 'wbs_01KDYBMWFE00000000000000S1', X'8EAA2C9BF566EB9809254032C67B54FEC225DAD5F620E6583AEF78ECC9ED881689D0D5', 0, 1767323045797);
INSERT INTO deliveries VALUES
    ('wbd_01KDYBMWFE00000000000000D1', 1, 'wbs_01KDYBMWFE00000000000000S1', 'evt_01KDYBMWFE00000000000000E1', 'message.received', 'wamid.1', 'dead', 8, 1767323045803, 0, 500, 'oops', 12, 'http_error', 'answered 500', NULL, 1, 1767323045800, 9);
INSERT INTO delivery_hours VALUES ('wbs_01KDYBMWFE00000000000000S1', 1767322800000, 0, 1, 0);
INSERT INTO delivery_attempts VALUES ('wbd_01KDYBMWFE00000000000000D1', 8, 1767323045803, 500, 12, 'http_error', 'answered 500', 'oops');

INSERT INTO jobs VALUES
    (7, 'message.send', 'account:1', '{"message":"msg_01KDYBMWFE00000000000000G2","account":1}', 'failed', 1767323045810, 5, 5, 0, 0, 1767323045809, 0, 'timed out', 1767323045791),
    (8, 'purge', '', '{}', 'due', 1767323045811, 0, 0, 0, 0, 0, 0, NULL, 1767323045811),
    (9, 'webhook.deliver', 'wbs:1', '{}', 'running', 1767323045812, 1, 0, 0, 1767323105812, 0, 0, NULL, 1767323045812),
    (11, 'webhook.deliver', 'wbs:1', '{}', 'held', 1767323045813, 0, 0, 0, 0, 0, 0, NULL, 1767323045813);
UPDATE sqlite_sequence SET seq = 12 WHERE name = 'jobs';
INSERT INTO periodic_runs VALUES ('purge', 1767323045811);
INSERT INTO idempotency VALUES -- of the year 2100, so that they are still remembered
    (1, 'k1', NULL, X'AA', 201, 'req_01K000000000000000000000R1', X'7B7D', 0, 4102444800000),
    (1, 'k2', 1, X'BB', 201, 'req_01K000000000000000000000R2', X'05B510A3084C37AA9677B374BA27C0927C91F38C57599CDE4F442386F23C55FF388118139DD1B7AC499ED1605C446AAFF2ACFCA2BEE300A0ED97E49284670EBFA212632BEAECF3FB5C2E18E609FE71AC7998C152FBEBC9E2023C43A59BC589B59AAFAC16ABD074', 1, 4102444800000);
INSERT INTO api_log VALUES
    (1, 1, 'key_01KDYBMWFE00000000000000K1', 'POST', '/v1/labels', 201, 1834, '192.0.2.1', 'req_01K000000000000000000000R1', 1767323045820, NULL, NULL, NULL),
    (2, NULL, NULL, 'GET', '/v1/me', 401, 20, '2001:db8::1', 'req_01K000000000000000000000R3', 1767323045821, NULL, 'missing_api_key', NULL);
INSERT INTO api_log_bodies VALUES
    ('req_01K000000000000000000000R1', 1, NULL, '{"name":"VIP"}', 14, '{"data":{}}', 11, 1767323045820);
INSERT INTO unused_objects VALUES ('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', 1767323045830);
COMMIT;
PRAGMA journal_mode = WAL;
