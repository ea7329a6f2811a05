package api

import "confab/storage"

// AuditView is the public shape of an audit entry, in the console and on the command
// line.
type AuditView struct {
	ID             string       `json:"id"`
	Object         string       `json:"object"`
	At             storage.Time `json:"at"`
	Actor          actorView    `json:"actor"`
	Action         string       `json:"action"`
	Target         targetView   `json:"target"`
	IP             *string      `json:"ip"`
	OrganizationID *string      `json:"organization_id"`
}

// actorView is who did it.
type actorView struct {
	Type string  `json:"type"`
	ID   *string `json:"id"`
	Name *string `json:"name"`
}

// targetView is what it was done to.
type targetView struct {
	Type *string `json:"type"`
	ID   *string `json:"id"`
}

// ViewAuditEntry shows an audit entry.
func ViewAuditEntry(e storage.AuditEntry) AuditView {
	return AuditView{
		ID:             e.ID,
		Object:         "audit_entry",
		At:             e.CreatedAt,
		Actor:          actorView{Type: e.Type, ID: e.Actor.ID, Name: e.Name},
		Action:         e.Action,
		Target:         targetView{Type: e.TargetType, ID: e.TargetID},
		IP:             e.IP,
		OrganizationID: e.OrganizationPublicID,
	}
}
