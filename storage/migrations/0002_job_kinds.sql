-- Kinds of jobs have plain names: object.verb. Jobs that wait, and those that
-- failed, run under the new names; the periodic ones keep their rhythm.

UPDATE jobs
SET kind = CASE kind
    WHEN 'bury'                THEN 'webhook.fail_deliveries'
    WHEN 'uproot'              THEN 'webhook.delete'
    WHEN 'unsubscribe_account' THEN 'account.unsubscribe'
    WHEN 'purge_account'       THEN 'account.purge'
    WHEN 'accounts.sweep'      THEN 'account.check_all'
    WHEN 'media.sweep'         THEN 'media.remove_unused'
    END
WHERE kind IN ('bury', 'uproot', 'unsubscribe_account', 'purge_account', 'accounts.sweep', 'media.sweep');

UPDATE periodic_runs
SET kind = CASE kind
    WHEN 'accounts.sweep' THEN 'account.check_all'
    WHEN 'media.sweep'    THEN 'media.remove_unused'
    END
WHERE kind IN ('accounts.sweep', 'media.sweep');
