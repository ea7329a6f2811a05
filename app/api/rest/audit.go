package rest

import (
	"cmp"

	"confab/storage"
)

// AuditRule is what the audit log says of a route.
type AuditRule struct {
	Action string // "": nothing
	Target string // the type of what it is done to
	Param  string // of the path that has its id; "": what the route made
}

// Audited has the route recorded in the audit log: one that matters for safety, or cannot be
// undone.
func (rt Route) Audited(action, target, param string) Route {
	rt.Audit = AuditRule{Action: action, Target: target, Param: param}
	return rt
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
	rule := r.route.Audit
	if rule.Action == "" || rep.Unchanged {
		return nil
	}

	target := r.Target
	switch {
	case rule.Param != "":
		target = r.Param(rule.Param)
	case target == "":
		if err := rep.Render(r.ID); err != nil {
			return err
		}
		target = rep.FirstID()
	}
	return tx.Audit(r.Org.ID, s.actor(r), cmp.Or(r.Action, rule.Action), rule.Target, target)
}
