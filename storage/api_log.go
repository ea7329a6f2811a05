package storage

import "strings"

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
}

// APICallFilter chooses calls. Zero fields choose everything.
type APICallFilter struct {
	Organization int64 // 0: of all organizations
	Since        Time
	MinStatus    int
	MaxStatus    int // 0: no limit
	Limit        int
}

func (f APICallFilter) maxStatus() int {
	if f.MaxStatus == 0 {
		return 999
	}
	return f.MaxStatus
}

const callColumns = `l.id, l.organization_id, o.public_id AS organization_public_id, l.key_id,
	l.method, l.path, l.status, l.latency_us, l.ip, l.request_id, l.created_at,
	l.user_id, l.error_code, l.made_id`

// Calls lists logged calls, oldest first; of more than the limit, the newest.
func (rx *Rx) APICalls(f APICallFilter) ([]APICall, error) {
	var calls []APICall
	err := rx.list(&calls, `
		SELECT * FROM (
			SELECT `+callColumns+`
			FROM api_log l LEFT JOIN organizations o ON o.id = l.organization_id
			WHERE l.created_at >= ? AND (? = 0 OR l.organization_id = ?) AND l.status BETWEEN ? AND ?
			ORDER BY l.created_at DESC, l.id DESC
			LIMIT ?)
		ORDER BY created_at, id`,
		f.Since, f.Organization, f.Organization, f.MinStatus, f.maxStatus(), f.Limit)
	return calls, err
}

// APICallsAfter lists the calls that were logged after the one with the id, in the
// order of logging; of more than the limit, the first.
func (rx *Rx) APICallsAfter(id int64, f APICallFilter) ([]APICall, error) {
	var calls []APICall
	err := rx.list(&calls, `
		SELECT `+callColumns+`
		FROM api_log l LEFT JOIN organizations o ON o.id = l.organization_id
		WHERE l.id > ? AND l.created_at >= ? AND (? = 0 OR l.organization_id = ?) AND l.status BETWEEN ? AND ?
		ORDER BY l.id
		LIMIT ?`,
		id, f.Since, f.Organization, f.Organization, f.MinStatus, f.maxStatus(), f.Limit)
	return calls, err
}

// LastAPICall is the id of the call that was logged last, 0 if there is none.
func (rx *Rx) LastAPICall() (int64, error) {
	var id int64
	err := rx.get(&id, `SELECT coalesce(max(id), 0) FROM api_log`)
	return id, err
}

// callRow is one call in a statement that writes some.
const callRow = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// callsAtOnce is how many calls one statement writes.
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

	_, err := tx.exec(`
		INSERT INTO api_log (organization_id, key_id, method, path, status, latency_us, ip, request_id, created_at,
			user_id, error_code, made_id)
		VALUES `+callRow+strings.Repeat(`, `+callRow, len(calls)-1), args...)
	return err
}
