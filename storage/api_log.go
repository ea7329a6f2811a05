package storage

import (
	"cmp"
	"strings"
	"time"

	"confab/storage/sqlite"
)

// APICall is one line of the API log.
type APICall struct {
	ID                   int64   `db:"id"`
	OrganizationID       *int64  `db:"organization_id"`
	OrganizationPublicID *string `db:"organization_public_id"`
	KeyID                *string `db:"key_id"`
	Method               string  `db:"method"`
	Path                 string  `db:"path"`
	Status               int     `db:"status"`
	LatencyMicros        int64   `db:"latency_us"`
	IP                   string  `db:"ip"`
	RequestID            string  `db:"request_id"`
	CreatedAt            Time    `db:"created_at"`
	UserID               *string `db:"user_id"`    // who called, in the console
	ErrorCode            *string `db:"error_code"` // why it was refused
	MadeID               *string `db:"made_id"`    // of what it made

	Bodies *CallBodies `db:"-"` // to be kept with it
}

// APICallFilter chooses calls. Zero fields choose everything.
type APICallFilter struct {
	Organization int64 // 0: of all organizations
	Since        Time
	MinStatus    int
	MaxStatus    int // 0: no limit
	Limit        int
}

func (f APICallFilter) maxStatus() int { return cmp.Or(f.MaxStatus, 999) }

const callColumns = `l.id, l.organization_id, o.public_id AS organization_public_id, l.key_id,
	l.method, l.path, l.status, l.latency_us, l.ip, l.request_id, l.created_at,
	l.user_id, l.error_code, l.made_id`

// Calls lists logged calls, oldest first; of more than the limit, the newest.
func (rx *Rx) APICalls(f APICallFilter) ([]APICall, error) {
	return list[APICall](rx, `
		SELECT * FROM (
			SELECT `+callColumns+`
			FROM api_log l LEFT JOIN organizations o ON o.id = l.organization_id
			WHERE l.created_at >= ? AND (? = 0 OR l.organization_id = ?) AND l.status BETWEEN ? AND ?
			ORDER BY l.created_at DESC, l.id DESC
			LIMIT ?)
		ORDER BY created_at, id`,
		f.Since, f.Organization, f.Organization, f.MinStatus, f.maxStatus(), f.Limit)
}

// APICallsAfter lists up to the limit of the calls that were logged after one, in that order.
func (rx *Rx) APICallsAfter(id int64, f APICallFilter) ([]APICall, error) {
	return list[APICall](rx, `
		SELECT `+callColumns+`
		FROM api_log l LEFT JOIN organizations o ON o.id = l.organization_id
		WHERE l.id > ? AND l.created_at >= ? AND (? = 0 OR l.organization_id = ?) AND l.status BETWEEN ? AND ?
		ORDER BY l.id
		LIMIT ?`,
		id, f.Since, f.Organization, f.Organization, f.MinStatus, f.maxStatus(), f.Limit)
}

// LastAPICall is the id of the call that was logged last, 0 if there is none.
func (rx *Rx) LastAPICall() (int64, error) {
	return get[int64](rx, `SELECT coalesce(max(id), 0) FROM api_log`)
}

// CallFilter narrows a list of calls. Zero fields choose everything; both times are strict.
type CallFilter struct {
	Method        string
	Path          string // part of it
	KeyID         string
	UserID        string
	ErrorCode     string
	WithoutPeople bool // leaves out what people did in the console
	MinStatus     int
	MaxStatus     int
	CreatedAfter  Time
	CreatedBefore Time
}

// LoggedCall is a call with the names of who made it.
type LoggedCall struct {
	APICall
	KeyLabel *string `db:"key_label"`
	KeyLast4 *string `db:"key_last4"`
	UserName *string `db:"user_name"`
}

const (
	loggedCallColumns = callColumns + `, k.label AS key_label, k.last4 AS key_last4, u.name AS user_name`
	loggedCallJoins   = `LEFT JOIN organizations o ON o.id = l.organization_id
		LEFT JOIN api_keys k ON k.id = l.key_id LEFT JOIN users u ON u.id = l.user_id`
)

// LoggedCalls lists the calls of an organization, newest first, as sqlite.FindPage does.
func (rx *Rx) LoggedCalls(organization int64, f CallFilter, after After, limit int) ([]LoggedCall, After, error) {
	if f.CreatedBefore != 0 && f.CreatedBefore <= after.Key {
		after = After{Key: f.CreatedBefore} // no id is less than an empty one
	}
	return sqlite.FindPage[LoggedCall](&rx.Rx, f.listQuery(organization), after, limit)
}

// ListQuery lets the index of the organization find the calls, or that of the few refused ones.
func (f CallFilter) listQuery(organization int64) sqlite.ListQuery {
	q := sqlite.ListQuery{
		Columns:  loggedCallColumns,
		Table:    "api_log l",
		Index:    "api_log_of_organization",
		Joins:    loggedCallJoins,
		Key:      "l.created_at",
		ID:       "l.request_id",
		ScanTime: sqlite.BriefScanTime,
	}
	if f.CreatedAfter != 0 {
		q.End = After{Key: f.CreatedAfter, ID: First.ID} // after every id of that instant
	}

	q.ByIndex("l.organization_id = ?", true, organization)
	if f.ErrorCode != "" || f.MinStatus >= 400 {
		q.PartialIndex("api_log_refused", "l.status >= 400")
	}

	q.Filter("l.method = ?", f.Method != "", f.Method)
	q.Filter("instr(l.path, ?) > 0", f.Path != "", f.Path)
	q.Filter("l.key_id = ?", f.KeyID != "", f.KeyID)
	q.Filter("l.user_id = ?", f.UserID != "", f.UserID)
	q.Filter("l.user_id IS NULL", f.WithoutPeople)
	q.Filter("l.error_code = ?", f.ErrorCode != "", f.ErrorCode)
	q.Filter("l.status >= ?", f.MinStatus != 0, f.MinStatus)
	q.Filter("l.status <= ?", f.MaxStatus != 0, f.MaxStatus)
	return q
}

// callClockSkew is how far the time of a call may be from the one that its id carries, beside
// how far ids are ahead: the clock may have been set meanwhile.
const callClockSkew = 5 * time.Second

// LoggedCall finds a call of an organization, or with 0 of any, by the time that its id carries.
func (rx *Rx) LoggedCall(organization int64, requestID string) (c LoggedCall, err error) {
	at := sqlite.IDTime(PrefixRequest, requestID)
	index, scope := "api_log_of_organization", "l.organization_id = ?1"
	if organization == 0 {
		index, scope = "api_log_by_age", "?1 = 0"
	}

	err = rx.Get(&c, `
		SELECT `+loggedCallColumns+`
		FROM api_log l INDEXED BY `+index+` `+loggedCallJoins+`
		WHERE `+scope+` AND l.created_at BETWEEN ?2 AND ?3 AND l.request_id = ?4
		LIMIT 1`, organization, at.Add(-callClockSkew-rx.db.MaxLead()), at.Add(callClockSkew), requestID)
	return c, err
}

const callRow = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const callsAtOnce = 32

// InsertAPICalls writes a batch of calls, most of them many to a statement.
func (tx *Tx) InsertAPICalls(calls []APICall) error {
	for len(calls) > 0 {
		n := 1
		if len(calls) >= callsAtOnce {
			n = callsAtOnce
		}

		if err := tx.insertCalls(calls[:n]); err != nil {
			return err
		}
		for _, c := range calls[:n] {
			if err := tx.insertBodies(c); err != nil {
				return err
			}
			if c.OrganizationID != nil {
				_ = tx.hint(nil, HintCall, Scope{Organization: *c.OrganizationID}, c.RequestID)
			}
		}
		calls = calls[n:]
	}
	return nil
}

func (tx *Tx) insertCalls(calls []APICall) error {
	args := make([]any, 0, 12*len(calls))
	for _, c := range calls {
		args = append(args, c.OrganizationID, c.KeyID, c.Method, c.Path, c.Status, c.LatencyMicros, c.IP, c.RequestID, c.CreatedAt,
			c.UserID, c.ErrorCode, c.MadeID)
	}

	return tx.Run(`
		INSERT INTO api_log (organization_id, key_id, method, path, status, latency_us, ip, request_id, created_at,
			user_id, error_code, made_id)
		VALUES `+callRow+strings.Repeat(`, `+callRow, len(calls)-1), args...)
}
