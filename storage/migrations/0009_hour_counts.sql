-- How messages and deliveries went, counted by the hour: what there is of the last month, and all deliveries.

CREATE TABLE message_hours (
    account_id INTEGER NOT NULL,
    hour       INTEGER NOT NULL,
    sent       INTEGER NOT NULL,
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
    provider_code INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    PRIMARY KEY (account_id, hour, error_code, provider_code)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_failures_by_age ON message_failures (hour);
INSERT INTO message_hours
SELECT account_id, created_at - created_at % 3600000 AS in_hour,
    count(*) FILTER (WHERE direction = 'outbound' AND status IN ('sent', 'delivered', 'read')),
    count(*) FILTER (WHERE direction = 'outbound' AND status IN ('delivered', 'read')),
    count(*) FILTER (WHERE direction = 'outbound' AND status = 'read'),
    count(*) FILTER (WHERE direction = 'outbound' AND status = 'failed'),
    count(*) FILTER (WHERE direction = 'inbound')
FROM messages
WHERE created_at >= (unixepoch() - 31 * 86400) * 1000
GROUP BY account_id, in_hour;
INSERT INTO message_failures
SELECT account_id, created_at - created_at % 3600000 AS in_hour, coalesce(error_code, ''), coalesce(error_provider_code, 0), count(*)
FROM messages
WHERE status = 'failed' AND created_at >= (unixepoch() - 31 * 86400) * 1000
GROUP BY 1, 2, 3, 4;

CREATE TABLE delivery_hours (
    subscription_id TEXT    NOT NULL,
    hour            INTEGER NOT NULL,
    succeeded       INTEGER NOT NULL,
    dead            INTEGER NOT NULL,
    untried         INTEGER NOT NULL,
    PRIMARY KEY (subscription_id, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_hours_by_age ON delivery_hours (hour);
INSERT INTO delivery_hours
SELECT subscription_id, created_at - created_at % 3600000 AS in_hour, count(*) FILTER (WHERE status = 'succeeded'),
    count(*) FILTER (WHERE status = 'dead'), count(*) FILTER (WHERE status = 'dead' AND attempt_count = 0)
FROM deliveries
WHERE status IN ('succeeded', 'dead')
GROUP BY subscription_id, in_hour;
