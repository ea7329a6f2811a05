package storage

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"confab/storage/sqlite"
)

// Micros is a span of time in microseconds. JSON has it in milliseconds.
type Micros int64

// Milliseconds is the span in milliseconds.
func (m Micros) Milliseconds() float64 { return float64(m) / 1000 }

// MarshalJSON writes milliseconds.
func (m Micros) MarshalJSON() ([]byte, error) { return json.Marshal(m.Milliseconds()) }

// APICall is one line of the API log.
type APICall struct {
	ID                   int64   `db:"id" json:"-"`
	OrganizationID       *int64  `db:"organization_id" json:"-"`
	RequestID            string  `db:"request_id" json:"request_id"`
	Method               string  `db:"method" json:"method"`
	Path                 string  `db:"path" json:"path"`
	Status               int     `db:"status" json:"status"`
	Latency              Micros  `db:"latency_us" json:"latency_ms"`
	IP                   string  `db:"ip" json:"ip"`
	OrganizationPublicID *string `db:"organization_public_id" json:"organization_id"`
	KeyID                *string `db:"key_id" json:"api_key_id"`
	UserID               *string `db:"user_id" json:"user_id"`       // who called, in the console
	ErrorCode            *string `db:"error_code" json:"error_code"` // why it was refused
	MadeID               *string `db:"made_id" json:"made_id"`       // of what it made
	CreatedAt            Time    `db:"created_at" json:"created_at"`

	Bodies *CallBodies `db:"-" json:"-"` // to be kept with it
}

// APICallFilter chooses calls. Zero fields choose everything.
type APICallFilter struct {
	Organization int64 // 0: of all organizations
	Since        Time
	MinStatus    int
	MaxStatus    int // 0: no limit
	Limit        int
}

const callColumns = `l.id, l.organization_id, o.public_id AS organization_public_id, l.key_id,
	l.method, l.path, l.status, l.latency_us, l.ip, l.request_id, l.created_at,
	l.user_id, l.error_code, l.made_id`

// chosenCalls are the calls that a filter chooses, after the one with the id ?5.
const chosenCalls = `
	SELECT ` + callColumns + `
	FROM api_log l LEFT JOIN organizations o ON o.id = l.organization_id
	WHERE l.created_at >= ?1 AND (?2 = 0 OR l.organization_id = ?2) AND l.status BETWEEN ?3 AND ?4 AND l.id > ?5 `

func (f APICallFilter) args(after int64) []any {
	return []any{f.Since, f.Organization, f.MinStatus, cmp.Or(f.MaxStatus, 999), after, f.Limit}
}

// APICalls lists logged calls, oldest first; of more than the limit, the newest.
func (rx *Rx) APICalls(f APICallFilter) ([]APICall, error) {
	return list[APICall](rx, `
		SELECT * FROM (`+chosenCalls+`ORDER BY l.created_at DESC, l.id DESC LIMIT ?6)
		ORDER BY created_at, id`, f.args(0)...)
}

// APICallsAfter lists up to the limit of the calls that were logged after one, in that order.
func (rx *Rx) APICallsAfter(id int64, f APICallFilter) ([]APICall, error) {
	return list[APICall](rx, chosenCalls+`ORDER BY l.id LIMIT ?6`, f.args(id)...)
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
	return sqlite.FindPage[LoggedCall](&rx.Rx, f.listQuery(organization), after.Before(f.CreatedBefore), limit)
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
	q.Since(f.CreatedAfter)

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

// InsertAPICalls writes a batch of calls, many to a statement.
func (tx *Tx) InsertAPICalls(calls []APICall) error {
	for some := range slices.Chunk(calls, callsAtOnce) {
		if err := tx.insertCalls(some); err != nil {
			return err
		}
		for _, c := range some {
			if err := tx.insertBodies(c); err != nil {
				return err
			}
			if c.OrganizationID != nil {
				_ = tx.hint(nil, HintCall, Scope{Organization: *c.OrganizationID}, c.RequestID)
			}
		}
	}
	return nil
}

func (tx *Tx) insertCalls(calls []APICall) error {
	args := make([]any, 0, 12*len(calls))
	for _, c := range calls {
		args = append(args, c.OrganizationID, c.KeyID, c.Method, c.Path, c.Status, c.Latency, c.IP, c.RequestID, c.CreatedAt,
			c.UserID, c.ErrorCode, c.MadeID)
	}

	return tx.Run(`
		INSERT INTO api_log (organization_id, key_id, method, path, status, latency_us, ip, request_id, created_at,
			user_id, error_code, made_id)
		VALUES `+callRow+strings.Repeat(`, `+callRow, len(calls)-1), args...)
}

// KeptBodies is how long the bodies of a call are kept.
const KeptBodies = 24 * time.Hour

// CallBodies are what a call sent and was answered, or its beginning, with secrets masked.
type CallBodies struct {
	AccountID     *int64 `db:"account_id"` // of the number in the path
	Request       string `db:"request"`    // "" for none
	RequestBytes  int    `db:"request_bytes"`
	Response      string `db:"response"`
	ResponseBytes int    `db:"response_bytes"`
}

// CallBodies finds the bodies of an organization's call while they are kept.
func (rx *Rx) CallBodies(organization int64, requestID string) (CallBodies, error) {
	return get[CallBodies](rx, `
		SELECT account_id, request, request_bytes, response, response_bytes
		FROM api_log_bodies
		WHERE id = ? AND organization_id = ? AND created_at > ?`, requestID, organization, rx.db.Now().Add(-KeptBodies))
}

func (tx *Tx) insertBodies(c APICall) error {
	b := c.Bodies
	if b == nil || c.OrganizationID == nil {
		return nil
	}

	// Those of a number that was removed meanwhile would stay after it.
	return tx.Run(`
		INSERT INTO api_log_bodies (id, organization_id, account_id, request, request_bytes, response, response_bytes, created_at)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
		WHERE ?3 IS NULL OR EXISTS (SELECT 1 FROM accounts WHERE id = ?3 AND deleted_at = 0)`,
		c.RequestID, c.OrganizationID, b.AccountID, b.Request, b.RequestBytes, b.Response, b.ResponseBytes, c.CreatedAt)
}
