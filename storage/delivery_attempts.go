package storage

// Attempt is one try of a delivery.
type Attempt struct {
	Attempt             int     `db:"attempt"`
	AttemptedAt         Time    `db:"attempted_at"`
	ResponseStatus      *int    `db:"response_status"`
	DurationMS          *int64  `db:"duration_ms"`
	ErrorCode           *string `db:"error_code"`
	ErrorMessage        *string `db:"error_message"`
	ResponseBodySnippet *string `db:"response_body_snippet"`
}

// Attempts lists the tries of a delivery. A success at the first has no row but the delivery.
func (rx *Rx) Attempts(d Delivery) ([]Attempt, error) {
	all, err := list[Attempt](rx, `
		SELECT attempt, attempted_at, response_status, duration_ms, error_code, error_message, response_body_snippet
		FROM delivery_attempts
		WHERE delivery_id = ?
		ORDER BY attempt`, d.ID)
	if err == nil && len(all) == 0 && d.AttemptCount > 0 {
		all = []Attempt{{
			Attempt: d.AttemptCount, AttemptedAt: d.LastAttemptAt, ResponseStatus: d.ResponseStatus, DurationMS: d.DurationMS,
			ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, ResponseBodySnippet: d.ResponseBodySnippet,
		}}
	}

	return all, err
}
