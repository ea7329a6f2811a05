package storage

import (
	"math"
	"strconv"
	"time"

	"confab/storage/sqlite"
)

// jobOfOrganization is the condition that a job j is an organization's, ?1: it follows
// from what the job is about. A job of the server itself has no organization.
const jobOfOrganization = `
	EXISTS (SELECT 1 FROM accounts a WHERE a.id = coalesce(j.args ->> '$.account', j.args ->> '$.tombstone') AND a.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM messages m JOIN accounts a ON a.id = m.account_id
		WHERE m.id = j.args ->> '$.message' AND a.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM deliveries d WHERE d.id = j.args ->> '$.delivery' AND d.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = j.args ->> '$.subscription' AND s.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM labels l WHERE l.id = j.args ->> '$.label' AND l.organization_id = ?1)`

// JobsOfOrganization walks over the queue for up to f.Limit jobs of an organization after one. It says how
// far it came: to 0, the end, unless the page was full or its time was up before.
func (rx *Rx) JobsOfOrganization(organization int64, f JobFilter, after int64) (page []Job, reached int64, err error) {
	began := time.Now()
	err = rx.IDRanges("jobs", after, func(after, until int64) (bool, error) {
		some, err := list[Job](rx, selectJobs+`
			WHERE id > ?2 AND id <= ?3 AND (?5 = '' OR state = ?5) AND (?6 = '' OR kind = ?6) AND (`+jobOfOrganization+`)
			ORDER BY id
			LIMIT ?4`, organization, after, until, f.Limit-len(page), f.State, f.Kind)
		page = append(page, some...)

		reached = 0
		if len(page) >= f.Limit || until < math.MaxInt64 && time.Since(began) >= min(sqlite.BriefScanTime, rx.ScanTime()) {
			reached = until
		}
		return reached != 0, err
	})
	return page, reached, err
}

// JobOfOrganization finds a job of an organization.
func (rx *Rx) JobOfOrganization(organization, id int64) (Job, error) {
	return get[Job](rx, selectJobs+`WHERE id = ?2 AND (`+jobOfOrganization+`)`, organization, id)
}

// HintJob notes for consoles that a job of an organization was changed.
func (tx *Tx) HintJob(organization, id int64) {
	_ = tx.hint(nil, HintJob, Scope{Organization: organization}, strconv.FormatInt(id, 10))
}
