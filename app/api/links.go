package api

import (
	"net/url"
	"strings"

	"confab/app/api/rest"
	"confab/jobs/guard"
)

const maxLink = 2048

// plainHTTP says which URLs need not be https.
type plainHTTP int

const (
	noHTTP    plainHTTP = iota
	localHTTP           // those of this machine
	anyHTTP
)

func (p plainHTTP) admits(u *url.URL) bool {
	return u.Scheme == "http" && (p == anyHTTP || p == localHTTP && guard.IsLocalHost(u.Hostname()))
}

// checkLink checks a URL that the provider or we will fetch.
func checkLink(name string, s *string, allowHTTP plainHTTP) error {
	if err := rest.Required(name, s, maxLink); err != nil {
		return err
	}

	u, err := url.Parse(*s)
	switch {
	case err != nil,
		!guard.IsHostname(u.Hostname()) && !guard.IsAddress(u.Hostname()),
		strings.Contains(*s, " "),
		u.Scheme != "https" && !allowHTTP.admits(u):
		return rest.Invalid(name, "must be an https URL")
	case u.User != nil:
		return rest.Invalid(name, "must not hold a user or password")
	}
	return nil
}
