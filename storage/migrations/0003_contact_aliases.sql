-- Further numbers by which a contact is found. Nothing is filled in: what the provider
-- writes otherwise, it says again with the next message.

CREATE TABLE contact_aliases (
    account_id   INTEGER NOT NULL,
    phone_number TEXT    NOT NULL,
    contact_id   TEXT    NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, phone_number)
) STRICT, WITHOUT ROWID;

CREATE INDEX contact_aliases_of_contact ON contact_aliases (contact_id);
