package api

import (
	"fmt"

	"confab/storage"
)

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

// auditFilters reads the filters of the list of audit entries.
func auditFilters(r *request) (storage.AuditFilter, error) {
	q := filters{values: r.query()}
	f := storage.AuditFilter{
		Action:        q.text("action", maxAuditText),
		ActorID:       q.text("actor_id", maxAuditText),
		TargetID:      q.text("target_id", maxAuditText),
		CreatedAfter:  q.after("created_after"),
		CreatedBefore: q.before("created_before"),
	}
	return f, q.err
}

// maxAuditText is longer than any action or id in the audit log.
const maxAuditText = 512

// listAudit handles GET /console/api/audit.
func (s *Server) listAudit(r *request) (reply, error) {
	f, err := auditFilters(r)
	if err != nil {
		return reply{}, err
	}
	return listOf(s, r, lister[storage.AuditEntry, AuditView]{
		scope: fmt.Sprintf("audit %#v", f),
		read: func(rx *storage.Rx, q *listQuery) ([]storage.AuditEntry, storage.After, error) {
			return rx.Within(q.budget).AuditEntries(r.org.ID, f, q.after, q.fetch())
		},
		key:  func(e storage.AuditEntry) storage.After { return storage.After{Key: e.CreatedAt, ID: e.ID} },
		view: ViewAuditEntry,
	})
}

// routeName names a route of either table.
type routeName struct{ method, path string }

// auditRule is what the audit log says of a route.
type auditRule struct {
	action string
	target string // the type of what it is done to
	param  string // of the path that has its id; "": what the route made
}

// auditRules are the routes that are recorded in the audit log: what matters for
// safety, or cannot be undone.
var auditRules = map[routeName]auditRule{
	{"POST", "/webhook_subscriptions"}:                          {"webhook.created", "webhook_subscription", ""},
	{"PATCH", "/webhook_subscriptions/:id"}:                     {"webhook.updated", "webhook_subscription", "id"},
	{"DELETE", "/webhook_subscriptions/:id"}:                    {"webhook.deleted", "webhook_subscription", "id"},
	{"POST", "/webhook_subscriptions/:id/secrets"}:              {"webhook_secret.created", "webhook_secret", ""},
	{"DELETE", "/webhook_subscriptions/:id/secrets/:secret_id"}: {"webhook_secret.revoked", "webhook_secret", "secret_id"},

	{"POST", "/webhook_deliveries/:id/replay"}:  {"delivery.replayed", "webhook_delivery", "id"},
	{"POST", "/webhook_deliveries/bulk_replay"}: {"deliveries.replayed", "webhook_subscription", ""},

	{"POST", "/:phone_number_id/templates"}:        {"template.created", "template", ""},
	{"PATCH", "/:phone_number_id/templates/:name"}: {"template.updated", "template", "name"},
	{"DELETE", "/templates/:id"}:                   {"template.deleted", "template", "id"},
	{"POST", "/:phone_number_id/templates/sync"}:   {"templates.synced", "number", "phone_number_id"},
	{"POST", "/:phone_number_id/register"}:         {"number.registered", "number", "phone_number_id"},

	{"POST", "/numbers"}:                     {"number.connected", "number", ""},
	{"POST", "/:phone_number_id/disconnect"}: {"number.disconnected", "number", "phone_number_id"},
	{"DELETE", "/:phone_number_id"}:          {"number.removed", "number", "phone_number_id"},

	{"POST", "/customers"}:                                          {"customer.created", "customer", ""},
	{"PATCH", "/customers/:id"}:                                     {"customer.updated", "customer", "id"},
	{"DELETE", "/customers/:id"}:                                    {"customer.archived", "customer", "id"},
	{"POST", "/customers/:id/restore"}:                              {"customer.restored", "customer", "id"},
	{"POST", "/customers/:id/setup_links"}:                          {"setup_link.created", "setup_link", ""},
	{"PATCH", "/customers/:id/setup_links/:setup_link_id"}:          {"setup_link.updated", "setup_link", "setup_link_id"},
	{"DELETE", "/customers/:id/setup_links/:setup_link_id"}:         {"setup_link.revoked", "setup_link", "setup_link_id"},
	{"DELETE", "/customers/:id/whatsapp_accounts/:phone_number_id"}: {"number.disconnected", "number", "phone_number_id"},

	{"POST", "/:phone_number_id/broadcasts"}:            {"broadcast.created", "broadcast", ""},
	{"POST", "/:phone_number_id/broadcasts/:id/pause"}:  {"broadcast.paused", "broadcast", "id"},
	{"POST", "/:phone_number_id/broadcasts/:id/resume"}: {"broadcast.resumed", "broadcast", "id"},
	{"POST", "/:phone_number_id/broadcasts/:id/cancel"}: {"broadcast.cancelled", "broadcast", "id"},

	{"DELETE", "/labels/:id"}:                    {"label.deleted", "label", "id"},
	{"DELETE", "/quick_replies/:id"}:             {"quick_reply.deleted", "quick_reply", "id"},
	{"DELETE", "/:phone_number_id/contacts/:id"}: {"contact.deleted", "contact", "id"},
	{"DELETE", "/:phone_number_id/media/:id"}:    {"media.deleted", "media", "id"},

	{"GET", "/:phone_number_id/contacts.csv"}:     {"contacts.exported", "number", "phone_number_id"},
	{"POST", "/:phone_number_id/contact_imports"}: {"contacts.imported", "contact_import", ""},

	{"POST", "/teams"}:              {"team.created", "team", ""},
	{"POST", "/people"}:             {"user.invited", "user", ""},
	{"PATCH", "/people/:id"}:        {"user.updated", "user", "id"},
	{"POST", "/people/:id/disable"}: {"user.disabled", "user", "id"},
	{"POST", "/people/:id/enable"}:  {"user.enabled", "user", "id"},
	{"POST", "/people/:id/reset"}:   {"user.password_reset", "user", "id"},
	{"POST", "/people/:id/signout"}: {"user.sessions_ended", "user", "id"},
	{"PATCH", "/profile"}:           {"user.updated", "user", ""},
	{"DELETE", "/sessions/:id"}:     {"session.ended", "session", "id"},
	{"POST", "/jobs/:id/retry"}:     {"job.retried", "job", "id"},
	{"POST", "/jobs/:id/cancel"}:    {"job.cancelled", "job", "id"},

	{"DELETE", "/people/:id/sessions/:session_id"}: {"session.ended", "session", "session_id"},

	{"POST", "/keys"}:       {"key.created", "key", ""},
	{"DELETE", "/keys/:id"}: {"key.revoked", "key", "id"},
}

// actor is the caller as the audit log shows it.
func (s *Server) actor(r *request) storage.Actor {
	ip := clientIP(r.http, s.TrustedProxies)
	if r.user != nil {
		return storage.Actor{Type: storage.ActorUser, ID: &r.user.ID, Name: &r.user.Name, IP: &ip}
	}
	if r.operator != nil {
		return storage.Actor{Type: storage.ActorCommandLine}
	}
	return storage.Actor{Type: storage.ActorKey, ID: &r.key.ID, Name: r.key.Label, IP: &ip}
}

// audit records the request in the transaction of its effects, if its route is one that
// is recorded.
func (s *Server) audit(tx *storage.Tx, r *request, rep *reply) error {
	rule, ok := auditRules[routeName{r.route.method, r.route.path}]
	if !ok || rep.unchanged {
		return nil
	}

	action, target := rule.action, r.target
	if r.action != "" {
		action = r.action
	}
	switch {
	case rule.param != "":
		target = r.param(rule.param)
	case target == "":
		if err := rep.render(r.id); err != nil {
			return err
		}
		target = rep.firstID()
	}
	return tx.Audit(r.org.ID, s.actor(r), action, rule.target, target)
}
