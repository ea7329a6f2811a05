package content

import (
	"net/url"
	"strings"

	"confab/app/api/rest"
	"confab/jobs/guard"
)

const MaxLink = 2048

// PlainHTTP says which URLs need not be https.
type PlainHTTP int

const (
	NoHTTP    PlainHTTP = iota
	LocalHTTP           // those of this machine
	AnyHTTP
)

func (p PlainHTTP) Admits(u *url.URL) bool {
	return u.Scheme == "http" && (p == AnyHTTP || p == LocalHTTP && guard.IsLocalHost(u.Hostname()))
}

// CheckLink checks a URL that the provider or we will fetch.
func CheckLink(name string, s *string, allowHTTP PlainHTTP) error {
	if err := rest.Required(name, s, MaxLink); err != nil {
		return err
	}

	u, err := url.Parse(*s)
	switch {
	case err != nil,
		!guard.IsHostname(u.Hostname()) && !guard.IsAddress(u.Hostname()),
		strings.Contains(*s, " "),
		u.Scheme != "https" && !allowHTTP.Admits(u):
		return rest.Invalid(name, "must be an https URL")
	case u.User != nil:
		return rest.Invalid(name, "must not contain a user name or password")
	}
	return nil
}
