package rest

import "confab/storage"

// routeName names a route of either table.
type routeName struct{ Method, Path string }

// auditRule is what the audit log says of a route.
type auditRule struct {
	Action string
	target string // the type of what it is done to
	Param  string // of the path that has its id; "": what the route made
}

// AuditRules are the routes that are recorded in the audit log: what matters for
// safety, or cannot be undone.
var AuditRules = map[routeName]auditRule{
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
func (s *Server) actor(r *Request) storage.Actor {
	ip := clientIP(r.HTTP, s.TrustedProxies)
	if r.User != nil {
		return storage.Actor{Type: storage.ActorUser, ID: &r.User.ID, Name: &r.User.Name, IP: &ip}
	}
	if r.Operator != nil {
		return storage.Actor{Type: storage.ActorCommandLine}
	}
	return storage.Actor{Type: storage.ActorKey, ID: &r.Key.ID, Name: r.Key.Label, IP: &ip}
}

// Audit records the request in the transaction of its effects, if its route is one that
// is recorded.
func (s *Server) Audit(tx *storage.Tx, r *Request, rep *Reply) error {
	rule, ok := AuditRules[routeName{r.route.Method, r.route.Path}]
	if !ok || rep.Unchanged {
		return nil
	}

	action, target := rule.Action, r.Target
	if r.Action != "" {
		action = r.Action
	}
	switch {
	case rule.Param != "":
		target = r.Param(rule.Param)
	case target == "":
		if err := rep.Render(r.ID); err != nil {
			return err
		}
		target = rep.firstID()
	}
	return tx.Audit(r.Org.ID, s.actor(r), action, rule.target, target)
}
