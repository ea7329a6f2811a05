package storage

// MaxAudience is how many contacts are looked at to find the size of an audience.
const MaxAudience = 100_000

// Audience is how many contacts of an account have a label, and how many of them could
// not be sent to.
type Audience struct {
	Total       int64 `db:"total"`        // at most MaxAudience + 1
	OptedOut    int64 `db:"opted_out"`    // of marketing
	NotOptedIn  int64 `db:"not_opted_in"` // matters where the organization demands consent
	Unreachable int64 `db:"unreachable"`  // have neither a number nor an id
}

// Audience counts the contacts of an account that have a label. It looks at a bounded
// number of them.
func (rx *Rx) Audience(account int64, label string) (Audience, error) {
	return get[Audience](rx, `
		SELECT count(*) AS total,
			coalesce(sum(c.marketing_opted_out), 0) AS opted_out,
			coalesce(sum(NOT c.opted_in), 0) AS not_opted_in,
			coalesce(sum(c.phone_number IS NULL AND c.bsuid IS NULL AND c.parent_bsuid IS NULL), 0) AS unreachable
		FROM (
			SELECT contact_id
			FROM contact_labels
			WHERE label_id = ? AND account_id = ?
			LIMIT ?
		) l CROSS JOIN contacts c ON c.id = l.contact_id`, label, account, MaxAudience+1)
}
