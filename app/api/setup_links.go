package api

import (
	"cmp"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/jobs/guard"
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

func (s *Server) viewSetupLink(l storage.SetupLink) event.SetupLinkData {
	return event.ViewSetupLink(l, s.DB.Now())
}

// listSetupLinks handles GET /v1/customers/:id/setup_links.
func (s *Server) listSetupLinks(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.SetupLink, event.SetupLinkData]{
		Scope: "setup_links " + r.Param("id"),
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.SetupLink, storage.After, error) {
			rows, err := rx.Within(q.Budget).SetupLinks(r.Param("id"), q.After, q.Fetch())
			return rows, storage.Last, err
		},
		Key:  func(l storage.SetupLink) storage.After { return storage.After{Key: l.CreatedAt, ID: l.ID} },
		View: s.viewSetupLink,
	})
}

// newSetupLink is the body of POST /v1/customers/:id/setup_links.
type newSetupLink struct {
	SuccessRedirectURL *string           `json:"success_redirect_url"`
	FailureRedirectURL *string           `json:"failure_redirect_url"`
	ExpiresInHours     *int              `json:"expires_in_hours"`
	allowHTTP          content.PlainHTTP // URLs need not be https; set it before decoding
}

func (l *newSetupLink) Validate() error {
	err := cmp.Or(
		checkRedirectURL("success_redirect_url", l.SuccessRedirectURL, l.allowHTTP),
		checkRedirectURL("failure_redirect_url", l.FailureRedirectURL, l.allowHTTP),
	)
	if err == nil && l.ExpiresInHours != nil && (*l.ExpiresInHours < 1 || *l.ExpiresInHours > maxLinkHours) {
		err = rest.Invalid("expires_in_hours", "must be from 1 to "+strconv.Itoa(maxLinkHours))
	}
	return err
}

// createSetupLink handles POST /v1/customers/:id/setup_links.
func (s *Server) createSetupLink(r *rest.Request, in newSetupLink) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, CustomerIn, func(tx *storage.Tx, c storage.Customer) (rest.Reply, error) {
		// customer.archived is the last event about a customer, so it gets no new
		// link.
		if c.Status == storage.CustomerArchived {
			return rest.Reply{}, rest.Fail(rest.CustomerSuspended, "The customer is archived.")
		}

		hours := *cmp.Or(in.ExpiresInHours, new(defaultLinkHours))
		l := storage.SetupLink{
			CustomerID:         c.ID,
			SuccessRedirectURL: in.SuccessRedirectURL,
			FailureRedirectURL: in.FailureRedirectURL,
			ExpiresAt:          tx.Now.Add(time.Duration(hours) * time.Hour),
		}
		token, err := tx.InsertSetupLink(&l)
		if err != nil {
			return rest.Reply{}, err
		}

		view := newSetupLinkView{event.ViewSetupLink(l, tx.Now), s.Publisher.PublicURL + "/onboard/" + token}
		return rest.Created(view).WithSecret(), event.SetupLinkCreated(c, l).Emit(tx)
	})
}

func setupLinkIn(rx *storage.Rx, r *rest.Request) (storage.SetupLink, error) {
	c, err := CustomerIn(rx, r)
	if err != nil {
		return storage.SetupLink{}, err
	}
	return rest.InPath(r, "setup_link_id", storage.PrefixSetupLink, c.ID, rx.SetupLink)
}

// activeSetupLinkIn finds the link in the path, if it can still be used.
func activeSetupLinkIn(rx *storage.Rx, r *rest.Request) (storage.SetupLink, error) {
	l, err := setupLinkIn(rx, r)
	if now := rx.ClockTime(); err == nil && l.State(now) != storage.LinkActive {
		err = rest.Fail(rest.SetupLinkInactive, "The setup link is "+l.State(now)+".")
	}
	return l, err
}

// setupLinkChanges is the body of PATCH /v1/customers/:id/setup_links/:setup_link_id.
type setupLinkChanges struct {
	SuccessRedirectURL rest.Patch[string] `json:"success_redirect_url"`
	FailureRedirectURL rest.Patch[string] `json:"failure_redirect_url"`
	allowHTTP          content.PlainHTTP
}

func (c *setupLinkChanges) Validate() error {
	if !c.SuccessRedirectURL.Set && !c.FailureRedirectURL.Set {
		return rest.NoneGiven("success_redirect_url", "Provide success_redirect_url, failure_redirect_url or both.")
	}
	return cmp.Or(
		checkRedirectURL("success_redirect_url", c.SuccessRedirectURL.OrNil(), c.allowHTTP),
		checkRedirectURL("failure_redirect_url", c.FailureRedirectURL.OrNil(), c.allowHTTP),
	)
}

// updateSetupLink handles PATCH /v1/customers/:id/setup_links/:setup_link_id.
func (s *Server) updateSetupLink(r *rest.Request, in setupLinkChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, activeSetupLinkIn, func(tx *storage.Tx, l storage.SetupLink) (rest.Reply, error) {
		in.SuccessRedirectURL.ApplyOrNil(&l.SuccessRedirectURL)
		in.FailureRedirectURL.ApplyOrNil(&l.FailureRedirectURL)

		return rest.OK(event.ViewSetupLink(l, tx.Now)), tx.UpdateSetupLink(l)
	})
}

// revokeSetupLink handles DELETE /v1/customers/:id/setup_links/:setup_link_id.
func (s *Server) revokeSetupLink(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, activeSetupLinkIn, func(tx *storage.Tx, l storage.SetupLink) (rest.Reply, error) {
		err := tx.RevokeSetupLink(&l)
		return rest.OK(event.ViewSetupLink(l, tx.Now)), err
	})
}

// asciiHost is a host name that needs no quoting in a header. Other scripts must be
// written in Punycode.
var asciiHost = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// checkRedirectURL checks an optional URL that visitors of a setup link are sent to.
func checkRedirectURL(param string, value *string, allowHTTP content.PlainHTTP) error {
	if value == nil {
		return nil
	}

	u, err := url.Parse(*value)
	switch {
	case !rest.Between(*value, 1, maxRedirectURL):
		return rest.Invalid(param, rest.LengthRule(1, maxRedirectURL))
	case err != nil || u.Host == "" || strings.ContainsAny(*value, " \\"):
		return rest.Invalid(param, "must be an https URL")
	case u.Scheme != "https" && !allowHTTP.Admits(u) && !content.LocalHTTP.Admits(u):
		return rest.Invalid(param, "must be an https URL; http is for localhost only")
	case u.User != nil:
		return rest.Invalid(param, "must not contain a user name or password")
	case strings.Contains(*value, "#"):
		return rest.Invalid(param, "must not have a fragment")
	case !asciiHost.MatchString(u.Hostname()) && !guard.IsAddress(u.Hostname()):
		return rest.Invalid(param, "must have an ASCII host name")
	}
	return nil
}
