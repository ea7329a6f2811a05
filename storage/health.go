package storage

// Ping reads something, to prove that reading works.
func (rx *Rx) Ping() error {
	var one int
	return rx.Get(&one, `SELECT count(*) FROM meta`)
}

// NewestRow is when the last message, call or event was stored, 0 if none was.
func (rx *Rx) NewestRow() (Time, error) {
	return get[Time](rx, `
		SELECT max(
			coalesce((SELECT max(created_at) FROM api_log), 0),
			coalesce((SELECT created_at FROM events ORDER BY seq DESC LIMIT 1), 0),
			coalesce((SELECT created_at FROM messages WHERE number = (SELECT max(number) FROM messages)), 0))`)
}

// LastCall is what the clock said when the last call was logged, 0 if none was. Other rows
// may be ahead of the clock because it was ahead before: see Tx.Order.
func (rx *Rx) LastCall() (Time, error) {
	return get[Time](rx, `SELECT coalesce((SELECT created_at FROM api_log ORDER BY id DESC LIMIT 1), 0)`)
}

// EndpointTrouble is a subscription that gets no events, or has lost some.
type EndpointTrouble struct {
	ID             string  `db:"id"`
	URL            string  `db:"url"`
	Status         string  `db:"status"`
	DisabledReason *string `db:"disabled_reason"`
	Failures       int     `db:"consecutive_failures"`
	Dead           int64   `db:"dead"`
	AllExpire      bool    `db:"all_expire"` // no signing secret lasts
}

// EndpointTroubles lists the subscriptions, of all organizations, that are
// disabled, that fail, that have dead deliveries that were not replayed, or that
// will have no secret to sign with once the present ones have expired. The last were
// possible in older releases.
func (rx *Rx) EndpointTroubles() ([]EndpointTrouble, error) {
	return list[EndpointTrouble](rx, `
		SELECT * FROM (
			SELECT s.id, s.url, s.status, s.disabled_reason, s.consecutive_failures,
				(SELECT count(*) FROM deliveries d INDEXED BY deliveries_to_replay
					WHERE d.subscription_id = s.id AND d.status = 'dead' AND d.status IN ('failed', 'dead') AND d.replayed = 0) AS dead,
				NOT EXISTS (SELECT 1 FROM signing_secrets k WHERE k.subscription_id = s.id AND k.expires_at = 0) AS all_expire
			FROM subscriptions s
			WHERE s.deleted_at = 0)
		WHERE status = 'disabled' OR consecutive_failures > 0 OR dead > 0 OR all_expire
		ORDER BY id`)
}

// OrphanJobs counts jobs that wait in a closed lane for a delivery that is gone, one by one.
func (rx *Rx) OrphanJobs() (int64, error) {
	return get[int64](rx, `
		SELECT count(*) FROM jobs j
		WHERE j.state = 'held' AND j.kind = 'deliver'
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = j.args ->> '$.delivery')`)
}

// LiveAccounts lists the accounts of all organizations that were not removed.
func (rx *Rx) LiveAccounts() ([]AccountDetail, error) {
	return list[AccountDetail](rx, selectAccountDetails+`WHERE a.deleted_at = 0 ORDER BY a.id`)
}

// EachFile hands the hash and size of each file that media rows name to fn.
func (rx *Rx) EachFile(fn func(sum string, size int64) error) error {
	var after string
	for {
		page, err := list[Media](rx, `
			SELECT sha256, max(size) AS size FROM media
			WHERE sha256 > ?
			GROUP BY sha256
			ORDER BY sha256
			LIMIT 1000`, after)
		if err != nil || len(page) == 0 {
			return err
		}

		for _, f := range page {
			if err := fn(f.SHA256, f.Size); err != nil {
				return err
			}
		}

		after = page[len(page)-1].SHA256
	}
}
