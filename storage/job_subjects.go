package storage

// What a job can be about.
const (
	SubjectMessage   = "message"
	SubjectDelivery  = "delivery"
	SubjectWebhook   = "webhook"
	SubjectLabel     = "label"
	SubjectBroadcast = "broadcast"
	SubjectNumber    = "number"
)

// JobSubject is what a job is about.
type JobSubject struct {
	Job  int64   `db:"job"`
	Type string  `db:"type"`
	ID   *string `db:"id"`   // public; nil for what is gone
	Name *string `db:"name"` // of the contact of a message, or the webhook of a delivery
}

// JobSubjects finds what jobs are about, by their numbers, if that has a name.
func (rx *Rx) JobSubjects(jobs []Job) (map[int64]JobSubject, error) {
	all, err := list[JobSubject](rx, `
		SELECT j.id AS job,
			CASE
				WHEN m.id IS NOT NULL THEN 'message'
				WHEN d.id IS NOT NULL THEN 'delivery'
				WHEN s.id IS NOT NULL THEN 'webhook'
				WHEN l.id IS NOT NULL THEN 'label'
				WHEN b.id IS NOT NULL THEN 'broadcast'
				ELSE 'number'
			END AS type,
			coalesce(m.id, d.id, s.id, l.id, b.id, iif(a.deleted_at = 0, a.phone_number_id, NULL)) AS id,
			CASE
				WHEN m.id IS NOT NULL THEN coalesce(c.name, c.phone_number, c.username, c.bsuid)
				WHEN s.id IS NOT NULL THEN coalesce(s.description, s.url)
				ELSE coalesce(l.name, b.name, a.name, a.phone_number, a.phone_number_id)
			END AS name
		FROM jobs j
			LEFT JOIN accounts a ON a.id = coalesce(j.args ->> '$.account', j.args ->> '$.tombstone')
			LEFT JOIN messages m ON m.account_id = a.id AND m.id = j.args ->> '$.message'
			LEFT JOIN contacts c ON c.id = m.contact_id
			LEFT JOIN deliveries d ON d.id = j.args ->> '$.delivery'
			LEFT JOIN subscriptions s ON s.id = coalesce(d.subscription_id, j.args ->> '$.subscription')
			LEFT JOIN labels l ON l.id = j.args ->> '$.label'
			LEFT JOIN broadcasts b ON b.number = j.args ->> '$.broadcast'
		WHERE j.id IN (SELECT value FROM json_each(?)) AND coalesce(m.id, s.id, l.id, b.id, a.id) IS NOT NULL`,
		listOf(jobs, func(j Job) int64 { return j.ID }))

	subjects := make(map[int64]JobSubject, len(all))
	for _, one := range all {
		subjects[one.Job] = one
	}
	return subjects, err
}
