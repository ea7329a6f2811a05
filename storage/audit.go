package storage

import "confab/storage/sqlite"

// The kinds of actors of an audit entry.
const (
	ActorUser        = "user"
	ActorKey         = "key"
	ActorCommandLine = "command_line"
	ActorSystem      = "system" // the server by itself
)

// Actor is who did something, and from where.
type Actor struct {
	Type string  `db:"actor_type" json:"type"`
	ID   *string `db:"actor_id" json:"id"`
	Name *string `db:"actor_name" json:"name"`
	IP   *string `db:"ip" json:"-"`
}

// System is the server by itself.
var System = Actor{Type: ActorSystem}

// AuditEntry is something that was done, by whom and on what.
type AuditEntry struct {
	ID                   string `db:"id" json:"id"`
	CreatedAt            Time   `db:"created_at" json:"at"`
	Actor                `json:"actor"`
	Action               string `db:"action" json:"action"`
	AuditTarget          `json:"target"`
	OrganizationID       *int64  `db:"organization_id" json:"-"` // nil: it concerns the whole server
	OrganizationPublicID *string `db:"organization_public_id" json:"-"`
}

// AuditTarget is what something was done to; nil for nothing in particular.
type AuditTarget struct {
	Type *string `db:"target_type" json:"type"`
	ID   *string `db:"target_id" json:"id"`
}

const auditColumns = `a.id, a.organization_id, o.public_id AS organization_public_id, a.actor_type, a.actor_id, a.actor_name,
	a.action, a.target_type, a.target_id, a.ip, a.created_at`

// Audit records that an actor did something on a target, if any; organization 0 is the whole server.
func (tx *Tx) Audit(organization int64, by Actor, action, targetType, targetID string) error {
	return tx.Run(`
		INSERT INTO audit (id, organization_id, actor_type, actor_id, actor_name, action, target_type, target_id, ip, created_at)
		VALUES (?, nullif(?, 0), ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?)`,
		tx.NewID(PrefixAudit), organization, by.Type, by.ID, by.Name, action, targetType, targetID, by.IP, tx.Now)
}

// AuditFilter narrows a list of entries. Zero fields choose everything; both times are strict.
type AuditFilter struct {
	Action        string // or its beginning, up to the point: "key."
	ActorID       string
	TargetID      string
	CreatedAfter  Time
	CreatedBefore Time
}

// AuditEntries lists what was done in an organization, newest first, as sqlite.FindPage does.
func (rx *Rx) AuditEntries(organization int64, f AuditFilter, after After, limit int) ([]AuditEntry, After, error) {
	q := sqlite.ListQuery{
		Columns: auditColumns,
		Table:   "audit a",
		Index:   "audit_of_organization",
		Joins:   "LEFT JOIN organizations o ON o.id = a.organization_id",
		Key:     "a.created_at",
		ID:      "a.id",

		ScanTime: sqlite.BriefScanTime,
	}
	q.Since(f.CreatedAfter)
	q.ByIndex("a.organization_id = ?", true, organization)
	q.Filter("substr(a.action, 1, length(?)) = ?", f.Action != "", f.Action, f.Action)
	q.Filter("a.actor_id = ?", f.ActorID != "", f.ActorID)
	q.Filter("a.target_id = ?", f.TargetID != "", f.TargetID)
	return sqlite.FindPage[AuditEntry](&rx.Rx, q, after.Before(f.CreatedBefore), limit)
}

// LatestAudit lists what was done since a time, oldest first; of more than the limit,
// the newest. Organization 0 is all, with what concerns the whole server.
func (rx *Rx) LatestAudit(organization int64, since Time, limit int) ([]AuditEntry, error) {
	return list[AuditEntry](rx, `
		SELECT * FROM (
			SELECT `+auditColumns+`
			FROM audit a LEFT JOIN organizations o ON o.id = a.organization_id
			WHERE a.created_at >= ?1 AND (?2 = 0 OR a.organization_id = ?2)
			ORDER BY a.created_at DESC, a.id DESC
			LIMIT ?3)
		ORDER BY created_at, id`, since, organization, limit)
}
