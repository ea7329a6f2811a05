package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"confab/storage"
)

// screen is one screen of the navigation.
type screen struct {
	Path      string
	Title     string // in English
	forAgents bool
	inSandbox bool // only there
	hidden    bool // no link of the navigation leads to it
}

// screens are in the order of the navigation. Agents see those that they can use.
var screens = []screen{
	{Path: "inbox", Title: "Inbox", forAgents: true},
	{Path: "contacts", Title: "Contacts", forAgents: true},
	{Path: "broadcasts", Title: "Broadcasts"},
	{Path: "templates", Title: "Templates", forAgents: true},
	{Path: "rules", Title: "Rules"},
	{Path: "numbers", Title: "Numbers", forAgents: true},
	{Path: "customers", Title: "Customers"},
	{Path: "reports", Title: "Reports"},
	{Path: "costs", Title: "Costs"},
	{Path: "webhooks", Title: "Webhooks"},
	{Path: "log", Title: "Log"},
	{Path: "settings", Title: "Settings", forAgents: true},
	{Path: "phone", Title: "Phone", inSandbox: true},
	{Path: "deliveries", Title: "Delivery", hidden: true},
	{Path: "trace", Title: "Trace", hidden: true},
}

// guides are the guides to screens, by the path of each. They are relative to the console.
var guides = map[string]string{
	"contacts":               "../docs/guides/inbox#import-and-export-contacts",
	"broadcasts":             "../docs/guides/campaigns",
	"templates":              "../docs/guides/sending#create-a-template",
	"rules":                  "../docs/guides/rules",
	"numbers":                "../docs/guides/sending#connect-a-number",
	"customers":              "../docs/guides/platform",
	"reports":                "../docs/guides/inbox#reports",
	"costs":                  "../docs/guides/costs",
	"webhooks":               "../docs/guides/webhooks",
	"log":                    "../docs/guides/production#monitor",
	"phone":                  "../docs/guides/sandbox",
	"settings/people":        "../docs/guides/people",
	"settings/keys":          "../docs/guides/people#api-keys",
	"settings/labels":        "../docs/guides/inbox",
	"settings/quick-replies": "../docs/guides/inbox#save-quick-replies",
	"settings/profile":       "../docs/guides/signing-in#set-up-a-second-factor",
	"settings/notifications": "../docs/guides/people#get-notifications",
	"settings/health":        "../docs/guides/production#monitor",
}

// screenTitle is the title of the screen at a path; "" if there is none.
func screenTitle(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if i := slices.IndexFunc(screens, func(s screen) bool { return s.Path == first }); i >= 0 {
		return screens[i].Title
	}
	return ""
}

// frame is the data of a screen: what surrounds it. The script fills in the rest.
type frame struct {
	Screens      []screen
	Current      string // the title of one of them
	Name         string
	Organization string
	Start        string // what the script must know, as JSON
	Later        bool   // it needs the modules that are loaded later, too
}

// showScreen handles GET for a screen, which needs a session.
func (v *visit) showScreen() error {
	who, err := v.findSession(v.r)
	if isNoSession(err) {
		who, err = v.signInToSandbox()
	}
	v.speakTo(who.User)

	switch {
	case isNoSession(err):
		return v.redirect(http.StatusFound, signInLink(v.path, v.r.URL.RawQuery))
	case err != nil:
		return err
	case v.API.FactorPolicy.IsBrokenBy(who.User):
		return v.redirect(http.StatusFound, "second-factor")
	case v.path == "":
		return v.redirect(http.StatusFound, homePage)
	}

	title := screenTitle(v.path)
	if title == "" {
		return v.showError(http.StatusNotFound, "Page not found", "Check the address, or go to the inbox.")
	}
	return v.showFrame(title, who)
}

// showFrame shows a screen: the navigation, who is signed in, and a place for the rest.
func (v *visit) showFrame(title string, who storage.SignedIn) error {
	u, organization := who.User, who.Organization
	f := &frame{Current: title, Name: u.Name, Organization: organization.Name}
	var paths []string
	for _, one := range screens {
		if (one.forAgents || u.Role == storage.RoleAdmin) && (!one.inSandbox || v.SandboxUser != nil) && !one.hidden {
			f.Screens = append(f.Screens, one)
			paths = append(paths, one.Path)
		}
	}

	text, err := json.Marshal(map[string]any{
		"user": map[string]any{
			"id": u.ID, "name": u.Name, "email": u.Email, "role": u.Role,
			"available": u.Available, "notify_about": u.NotifyAbout,
		},
		"organization":    map[string]string{"id": organization.PublicID, "name": organization.Name},
		"sandbox":         v.SandboxUser != nil,
		"clock_offset_ms": v.API.ClockOffset().Milliseconds(),
		"screens":         paths,
		"guides":          guides,
	})
	if err != nil {
		return err
	}
	f.Start = string(text)
	f.Later = title != screenTitle(homePage)
	return v.writePage(http.StatusOK, page{Title: v.say(title), Frame: f})
}
