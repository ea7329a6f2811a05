package api

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"confab/jobs/event"
	"confab/storage"
)

const (
	defaultLinkHours = 168
	maxLinkHours     = 720
	maxRedirectURL   = 2048
)

// newSetupLinkView is a link just created. Only here is its URL shown.
type newSetupLinkView struct {
	event.SetupLinkData
	SetupURL string `json:"setup_url"`
}

func viewSetupLink(l storage.SetupLink) event.SetupLinkData {
	return event.ViewSetupLink(l, storage.Now())
}

// listSetupLinks handles GET /v1/customers/:id/setup_links.
func (s *Server) listSetupLinks(r *request) (reply, error) {
	return listOf(s, r, lister[storage.SetupLink, event.SetupLinkData]{
		scope: "setup_links " + r.param("id"),
		read: func(rx *storage.Rx, q *listQuery) (rows []storage.SetupLink, _ storage.After, err error) {
			c, err := customerIn(rx, r)
			if err == nil {
				rows, err = rx.Within(q.budget).SetupLinks(c.ID, q.after, q.fetch())
			}
			return rows, storage.Last, err
		},
		key:  func(l storage.SetupLink) storage.After { return storage.After{Key: l.CreatedAt, ID: l.ID} },
		view: viewSetupLink,
	})
}

// newSetupLink is the body of POST /v1/customers/:id/setup_links.
type newSetupLink struct {
	SuccessRedirectURL *string   `json:"success_redirect_url"`
	FailureRedirectURL *string   `json:"failure_redirect_url"`
	ExpiresInHours     *int      `json:"expires_in_hours"`
	allowHTTP          plainHTTP // URLs need not be https; set it before decoding
}

func (l *newSetupLink) validate() error {
	if err := checkRedirectURL("success_redirect_url", l.SuccessRedirectURL, l.allowHTTP); err != nil {
		return err
	}
	if err := checkRedirectURL("failure_redirect_url", l.FailureRedirectURL, l.allowHTTP); err != nil {
		return err
	}

	if l.ExpiresInHours != nil && (*l.ExpiresInHours < 1 || *l.ExpiresInHours > maxLinkHours) {
		return invalid("expires_in_hours", "must be from 1 to "+strconv.Itoa(maxLinkHours))
	}
	return nil
}

// link is the row that the body asks for.
func (l *newSetupLink) link(c storage.Customer, now storage.Time) storage.SetupLink {
	hours := defaultLinkHours
	if l.ExpiresInHours != nil {
		hours = *l.ExpiresInHours
	}

	return storage.SetupLink{
		CustomerID:         c.ID,
		SuccessRedirectURL: l.SuccessRedirectURL,
		FailureRedirectURL: l.FailureRedirectURL,
		ExpiresAt:          now.Add(time.Duration(hours) * time.Hour),
	}
}

// createSetupLink handles POST /v1/customers/:id/setup_links.
func (s *Server) createSetupLink(r *request) (reply, error) {
	in := newSetupLink{allowHTTP: s.plainHTTP()}
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return updateFound(s, r, customerIn, func(tx *storage.Tx, c storage.Customer) (reply, error) {
		// customer.archived is the last event about a customer, so it gets no new
		// link.
		if c.Status == storage.CustomerArchived {
			return reply{}, fail(CustomerSuspended, "The customer is archived.")
		}

		l := in.link(c, tx.Now)
		token, err := tx.InsertSetupLink(&l)
		if err != nil {
			return reply{}, err
		}

		rep := created(newSetupLinkView{event.ViewSetupLink(l, tx.Now), s.Publisher.PublicURL + "/onboard/" + token})
		rep.secret = true
		return rep, event.SetupLinkCreated(c, l).Emit(tx)
	})
}

// setupLinkIn finds the link in the path.
func setupLinkIn(rx *storage.Rx, r *request) (storage.SetupLink, error) {
	c, err := customerIn(rx, r)
	if err != nil {
		return storage.SetupLink{}, err
	}
	return inPath(r, "setup_link_id", storage.PrefixSetupLink, c.ID, rx.SetupLink)
}

// activeSetupLinkIn finds the link in the path, if it can still be used.
func activeSetupLinkIn(tx *storage.Tx, r *request) (storage.SetupLink, error) {
	l, err := setupLinkIn(&tx.Rx, r)
	if err == nil && l.State(tx.Now) != storage.LinkActive {
		err = fail(SetupLinkInactive, "The setup link is "+l.State(tx.Now)+".")
	}
	return l, err
}

// getSetupLink handles GET /v1/customers/:id/setup_links/:setup_link_id.
func (s *Server) getSetupLink(r *request) (reply, error) {
	l, err := find(s, r, setupLinkIn)
	return ok(viewSetupLink(l)), err
}

// setupLinkChanges is the body of PATCH /v1/customers/:id/setup_links/:setup_link_id.
type setupLinkChanges struct {
	SuccessRedirectURL patch[string] `json:"success_redirect_url"`
	FailureRedirectURL patch[string] `json:"failure_redirect_url"`
	allowHTTP          plainHTTP
}

func (c *setupLinkChanges) validate() error {
	if !c.SuccessRedirectURL.Set && !c.FailureRedirectURL.Set {
		return &Error{
			Code:    MissingRequiredField,
			Param:   "success_redirect_url",
			Message: "Give success_redirect_url, failure_redirect_url or both.",
		}
	}

	if err := checkRedirectURL("success_redirect_url", c.SuccessRedirectURL.orNil(), c.allowHTTP); err != nil {
		return err
	}
	return checkRedirectURL("failure_redirect_url", c.FailureRedirectURL.orNil(), c.allowHTTP)
}

// updateSetupLink handles PATCH /v1/customers/:id/setup_links/:setup_link_id.
func (s *Server) updateSetupLink(r *request) (reply, error) {
	in := setupLinkChanges{allowHTTP: s.plainHTTP()}
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		l, err := activeSetupLinkIn(tx, r)
		if err != nil {
			return reply{}, err
		}

		if in.SuccessRedirectURL.Set {
			l.SuccessRedirectURL = in.SuccessRedirectURL.orNil()
		}
		if in.FailureRedirectURL.Set {
			l.FailureRedirectURL = in.FailureRedirectURL.orNil()
		}

		return ok(event.ViewSetupLink(l, tx.Now)), tx.UpdateSetupLink(l)
	})
}

// revokeSetupLink handles DELETE /v1/customers/:id/setup_links/:setup_link_id.
func (s *Server) revokeSetupLink(r *request) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		l, err := activeSetupLinkIn(tx, r)
		if err != nil {
			return reply{}, err
		}

		err = tx.RevokeSetupLink(&l)
		return ok(event.ViewSetupLink(l, tx.Now)), err
	})
}

// asciiHost is a host name that needs no quoting in a header. Other scripts must be
// written in Punycode.
var asciiHost = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// checkRedirectURL checks an optional URL that visitors of a setup link are sent to.
func checkRedirectURL(param string, value *string, allowHTTP plainHTTP) error {
	if value == nil {
		return nil
	}

	u, err := url.Parse(*value)
	switch {
	case !between(*value, 1, maxRedirectURL):
		return invalid(param, lengthRule(1, maxRedirectURL))
	case err != nil || u.Host == "" || strings.ContainsAny(*value, " \\"):
		return invalid(param, "must be an https URL")
	case u.Scheme != "https" && !allowHTTP.admits(u) && !localHTTP.admits(u):
		return invalid(param, "must be an https URL; http is for localhost only")
	case u.User != nil:
		return invalid(param, "must not hold a user or password")
	case strings.Contains(*value, "#"):
		return invalid(param, "must not have a fragment")
	case !asciiHost.MatchString(u.Hostname()) && !isAddress(u.Hostname()):
		return invalid(param, "must name its host in ASCII")
	}
	return nil
}

// isAddress tells whether a host is an IP address without a zone. A zone could be any
// text.
func isAddress(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == ""
}
