package storage

import (
	"math"
	"time"
)

// jobOfOrganization is the condition that a job j is an organization's, ?4: it follows
// from what the job is about. A job of the server itself is nobody's.
const jobOfOrganization = `
	EXISTS (SELECT 1 FROM accounts a WHERE a.id = coalesce(j.args ->> '$.account', j.args ->> '$.tombstone') AND a.organization_id = ?4)
	OR EXISTS (SELECT 1 FROM messages m JOIN accounts a ON a.id = m.account_id
		WHERE m.id = j.args ->> '$.message' AND a.organization_id = ?4)
	OR EXISTS (SELECT 1 FROM deliveries d WHERE d.id = j.args ->> '$.delivery' AND d.organization_id = ?4)
	OR EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = j.args ->> '$.subscription' AND s.organization_id = ?4)
	OR EXISTS (SELECT 1 FROM labels l WHERE l.id = j.args ->> '$.label' AND l.organization_id = ?4)`

// JobsOfOrganization lists up to limit jobs of an organization in a state, or with "" in
// any, oldest first and behind one. It walks over the queue, and tells how far it came:
// to 0, the end, unless the page was full or its time was up before.
func (rx *Rx) JobsOfOrganization(organization int64, state string, after int64, limit int) (page []Job, reached int64, err error) {
	began := time.Now()
	err = rx.idRanges("jobs", after, func(after, until int64) (bool, error) {
		var some []Job
		err := rx.list(&some, `
			SELECT `+jobColumns+`
			FROM jobs j
			WHERE id > ?1 AND id <= ?2 AND (?5 = '' OR state = ?5) AND (`+jobOfOrganization+`)
			ORDER BY id
			LIMIT ?3`, after, until, limit-len(page), organization, state)
		page = append(page, some...)

		reached = 0
		if len(page) >= limit || until < math.MaxInt64 && time.Since(began) >= rx.db.scanTime {
			reached = until
		}
		return reached != 0, err
	})
	return page, reached, err
}
