package e2e

import (
	"testing"

	"confab/storage"
)

// A path of the console may be written in ways that have fewer slashes than it means. However
// it is written, and with any method, it has an answer.
func TestEverySpellingOfAConsolePathIsAnswered(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	person, _ := s.joined("ada@example.com", storage.RoleAgent)
	visitors := map[string]*browser{"a stranger": s.browser(), "a person": person}
	for who, b := range visitors {
		for _, path := range []string{
			"/console", "/console/", "/%63onsole", "/console%2F", "/console%2Finbox", "/console%2finbox", "/console%2Finbox%2Fcnv_1",
			"/console/inbox%2Fx", "/console/inbox/x/y", "/console%2Fwelcome/x", "/console%2Fwelcome%2Fx", "/console%2Fsign-in", "/console%2Fassets%2Fx",
			"/console%2Fapi%2Fv1%2Fme", "/console/api%2Fv1/me", "/console%2Fapi/sim/people", "/docs%2Fguides", "/onboard%2Fx", "/media%2Fx", "/%5fphone%2F", "/v1%2Fme",
		} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "X"} {
				for _, site := range []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site", "Origin: https://evil.example", "Host: evil.example"} {
					if got := b.open(method, path, nil, site); got.status >= 500 {
						t.Errorf("%s: %s %s with %s: %d", who, method, path, site, got.status)
					}
				}
			}
		}
	}
}

// Where such a path leads is the console.
func TestAPageOfAnOddPathLeadsToTheConsole(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for path, want := range map[string]string{
		"/console":               "console/",
		"/console%2Finbox":       "console/sign-in?next=inbox",
		"/console/":              "sign-in?next=inbox",
		"/console/inbox":         "sign-in?next=inbox",
		"/console/inbox/cnv_1":   "../sign-in?next=inbox%2Fcnv_1",
		"/console/inbox%2Fcnv_1": "sign-in?next=inbox%2Fcnv_1",
	} {
		if got := s.browser().open("GET", path, nil); got.header.Get("Location") != want {
			t.Errorf("%s leads to %q (%d)", path, got.header.Get("Location"), got.status)
		}
	}
}
