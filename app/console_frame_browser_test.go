package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/matryer/is"

	"confab/app/pages/pagestest"
	"confab/storage"
)

// colleague is a person at the console, in a real browser.
type colleague struct {
	*pagestest.Browser
	t     *testing.T
	is    *is.I
	stage *stage
}

// console opens a browser at the console, signed in with a role.
func (s *stage) console(t *testing.T, role string) *colleague {
	t.Helper()
	c := &colleague{Browser: pagestest.Open(t), t: t, is: is.New(t), stage: s}
	c.Do(chromedp.EmulateViewport(1280, 800))
	_, link := s.invitePerson(role+"@example.com", role)
	c.Visit(s.app.URL() + link)
	c.Fill("textbox", "Name", "Mira Kovač")
	c.Fill("textbox", "New password", goodPassword)
	c.Click("button", "Start")
	c.Find("heading", "Inbox")
	return c
}

// open goes to a screen, as somebody who types its address.
func (c *colleague) open(path, heading string) {
	c.t.Helper()
	c.Visit(c.stage.app.URL() + "/console/" + path)
	c.Find("heading", heading)
}

// calm checks that the browser had nothing against the pages, and that they asked for
// nothing of others. An error that the API was expected to answer is no complaint.
func (c *colleague) calm(expected ...string) {
	c.t.Helper()
	for _, text := range c.Errors() {
		if !slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(text, part) }) {
			c.t.Error(text)
		}
	}
	for _, request := range c.Requests() {
		if !strings.HasPrefix(request, c.stage.app.URL()+"/") {
			c.t.Errorf("the console asked for %s", request)
		}
	}
}

// shoot takes pictures of the page at two widths, in light and dark.
func (c *colleague) shoot(name string) {
	c.t.Helper()
	if *screenshots == "" {
		return
	}
	c.is.NoErr(os.MkdirAll(*screenshots, 0o755))
	for _, device := range []struct {
		name          string
		width, height int64
		scale         float64
	}{{"360", 360, 740, 2}, {"1280", 1280, 800, 1}} {
		for _, scheme := range []string{"light", "dark"} {
			c.Do(chromedp.EmulateViewport(device.width, device.height, chromedp.EmulateScale(device.scale)), c.Prefers("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce"))
			c.is.NoErr(os.WriteFile(filepath.Join(*screenshots, name+"-"+device.name+"-"+scheme+".png"), c.Screenshot(), 0o644))
		}
	}
	c.Do(chromedp.EmulateViewport(1280, 800), c.Prefers("prefers-color-scheme", "light"))
}

func TestPicturesOfTheConsole(t *testing.T) {
	s := newStage(t)
	c := s.console(t, storage.RoleAdmin)
	c.shoot("inbox")
	c.open("settings/people", "People")
	c.shoot("people")
	c.open("settings/keys", "API keys")
	c.shoot("keys")
	c.open("settings/labels", "Labels")
	c.shoot("labels")
	c.open("settings/profile", "Profile")
	c.shoot("profile")
	c.calm()
}
