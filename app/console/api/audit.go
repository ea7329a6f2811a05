package api

import (
	"fmt"

	"confab/app/api/rest"
	"confab/storage"
)

// AuditView is the public shape of an audit entry, in the console and on the command
// line.
type AuditView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.AuditEntry
	IP             *string `json:"ip"`
	OrganizationID *string `json:"organization_id"`
}

// namedAuditView is an audit entry with what its target is called.
type namedAuditView struct {
	AuditView
	Target namedTargetView `json:"target"`
}

// namedTargetView is a target and its name, if it has one and is still there.
type namedTargetView struct {
	storage.AuditTarget
	Name *string `json:"name"`
}

// ViewAuditEntry shows an audit entry.
func ViewAuditEntry(e storage.AuditEntry) AuditView {
	return AuditView{e.ID, "audit_entry", e, e.IP, e.OrganizationPublicID}
}

// maxAuditText is longer than any action or id in the audit log.
const maxAuditText = 512

// listAudit handles GET /console/api/audit.
func (s *Server) listAudit(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.AuditFilter{
		Action:        q.Text("action", maxAuditText),
		ActorID:       q.Text("actor_id", maxAuditText),
		TargetID:      q.Text("target_id", maxAuditText),
		CreatedAfter:  q.After("created_after"),
		CreatedBefore: q.Before("created_before"),
	}

	var names map[string]string // of the targets on the page
	return rest.ListOf(s.Server, r, rest.Lister[storage.AuditEntry, namedAuditView]{
		Scope: fmt.Sprintf("audit %#v", f),
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.AuditEntry, storage.After, error) {
			rows, reached, err := rx.Within(q.Budget).AuditEntries(r.Org.ID, f, q.After, q.Fetch())
			if err == nil {
				names, err = rx.Names(r.Org.ID, targetsOf(rows))
			}
			return rows, reached, err
		},
		Key: func(e storage.AuditEntry) storage.After { return storage.After{Key: e.CreatedAt, ID: e.ID} },
		View: func(e storage.AuditEntry) namedAuditView {
			v := namedAuditView{ViewAuditEntry(e), namedTargetView{AuditTarget: e.AuditTarget}}
			if id := v.Target.ID; id != nil {
				if name, ok := names[*id]; ok {
					v.Target.Name = &name
				}
			}
			return v
		},
	})
}

func targetsOf(rows []storage.AuditEntry) []string {
	var ids []string
	for _, e := range rows {
		if e.AuditTarget.ID != nil {
			ids = append(ids, *e.AuditTarget.ID)
		}
	}
	return ids
}
