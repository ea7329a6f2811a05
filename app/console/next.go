package console

import (
	"net/url"
	"regexp"
	"strings"
)

// homePage is where people go who wanted nothing else.
const homePage = "inbox"

// maxNext bounds where somebody may want to go.
const maxNext = 1024

// pagePath is a path below /console/: plain words, each after a slash. Nothing in it
// can lead to another host, or up.
var pagePath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)

// nextPage is where to go after signing in, relative to /console/: what was wanted, if it
// is a page of ours, or else the inbox. It may be given with or without /console/ before
// it.
func nextPage(wanted string) string {
	wanted = strings.TrimPrefix(wanted, Path)
	path, query, hasQuery := strings.Cut(wanted, "?")
	first, _, _ := strings.Cut(path, "/")

	if len(wanted) > maxNext || !pagePath.MatchString(path) || first == "sign-in" || first == "sign-out" ||
		first == "welcome" || first == "link" || first == "oidc" || first == "api" || first == "assets" {
		return homePage
	}
	if !hasQuery {
		return path
	}

	// A query that cannot be read, or is too long when it is escaped, is left out.
	values, err := url.ParseQuery(query)
	page := path + "?" + values.Encode()
	if err != nil || len(page) > maxNext {
		return path
	}
	return page
}

// signInLink is where to sign in, to come back to a page afterwards.
func signInLink(page, query string) string {
	if query != "" {
		page += "?" + query
	}
	return "sign-in?next=" + url.QueryEscape(nextPage(page))
}
