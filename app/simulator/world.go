package simulator

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// world is all that the provider stores, apart from messages and pending
// callbacks. Each record is a record of the state file.
type world struct {
	head
	Tokens    map[string]*token
	Codes     map[string]*signupCode
	Accounts  map[string]*account
	Numbers   map[string]*number
	Templates map[string]*template
	Media     map[string]*media
	Uploads   map[string]*upload
	People    people
	Faults    []*fault
}

// head is what there is one of.
type head struct {
	Version   int              `json:"version"` // of the state file
	Creds     Credentials      `json:"creds"`
	Hook      appHook          `json:"hook"`
	Settings  Settings         `json:"settings"`
	Deleted   map[string]int64 `json:"deleted,omitempty"` // account/name/language of a deleted template → when it is free again
	NextOrder int64            `json:"order"`             // lists are in the order of creation
}

func newWorld(nowMS func() int64) world {
	return world{
		head:   head{Version: stateVersion, Settings: defaultSettings(), Deleted: map[string]int64{}},
		Tokens: map[string]*token{}, Codes: map[string]*signupCode{}, Accounts: map[string]*account{},
		Numbers: map[string]*number{}, Templates: map[string]*template{}, Media: map[string]*media{},
		Uploads: map[string]*upload{}, People: newPeople(nowMS),
	}
}

type account struct {
	ID         string   `json:"id"`
	Order      int64    `json:"order"`
	Name       string   `json:"name"`
	Business   string   `json:"business"`
	Subscribed bool     `json:"subscribed"` // the app is among its subscribed apps
	Override   callback `json:"override"`
	Created    []int64  `json:"created,omitempty"` // when templates were created in the last hour
}

// callback is a URL for callbacks that replaces the app's own.
type callback struct {
	URL   string `json:"url,omitempty"`
	Token string `json:"token,omitempty"`
}

type appHook struct {
	URL    string   `json:"url"`
	Fields []string `json:"fields,omitempty"` // none means all
}

func (h appHook) wants(field string) bool {
	return h.URL != "" && (len(h.Fields) == 0 || slices.Contains(h.Fields, field))
}

// kindOf returns the kind of object that an id belongs to, as the table of edges calls it, and its
// account.
func (w *world) kindOf(id string) (kind, accountID string) {
	if n := w.Numbers[id]; n != nil {
		return "number", n.Account
	}
	if a := w.Accounts[id]; a != nil {
		return "account", a.ID
	}
	if t := w.Templates[id]; t != nil {
		return "template", t.Account
	}
	if m := w.Media[id]; m != nil {
		return "media", m.Account
	}
	if w.Uploads[id] != nil {
		return "upload", ""
	}
	if id == w.Creds.AppID || id == "app" {
		return "app", ""
	}

	// A business has no record of its own: it is known by its accounts.
	for _, a := range w.Accounts {
		if a.Business == id {
			return "business", a.ID
		}
	}
	return "", ""
}

// newID makes up an id of as many digits as the provider's.
func newID() string { return randomDigits(15) }

func (w *world) order() int64 {
	w.NextOrder++
	return w.NextOrder
}

func inOrder[T any](records map[string]T, order func(T) int64) []T {
	return slices.SortedFunc(maps.Values(records), func(a, b T) int { return cmp.Compare(order(a), order(b)) })
}

// addAccount makes an account; an empty id is made up.
func (w *world) addAccount(id, name string, subscribed bool) *account {
	a := &account{ID: firstOf(id, newID()), Order: w.order(), Name: name, Business: newID(), Subscribed: subscribed}
	w.Accounts[a.ID] = a
	return a
}

// now is what the clock says: that of the sandbox, which can be moved, or else this machine's.
func (s *Server) now() time.Time {
	if s.opt.Clock == nil {
		return time.Now()
	}
	return s.opt.Clock.Now()
}

func (s *Server) nowMS() int64 { return s.now().UnixMilli() }
