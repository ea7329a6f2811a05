package api

import (
	"encoding/json"
	"fmt"
	"strings"

	"confab/storage"
	"confab/storage/storagetest"
)

// The lists of most tests' number.
const (
	contacts      = "/" + number + "/contacts"
	conversations = "/" + number + "/conversations"
)

// told lists the events of an organization since the last time it was asked, as
// "type" or "contact.updated name,labels".
func (f *fixture) told(tenant storagetest.Tenant) string {
	f.t.Helper()
	var all []storage.Event
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) {
		all, err = rx.Events(tenant.Organization.ID, 10000)
		return err
	})
	if f.heard == nil {
		f.heard = make(map[int64]int)
	}
	var told []string
	for _, e := range all[f.heard[tenant.Organization.ID]:] {
		var payload struct {
			Data struct {
				Fields []string `json:"changed_fields"`
			} `json:"data"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			f.t.Fatal(err)
		}
		told = append(told, strings.TrimSpace(e.Type+" "+strings.Join(payload.Data.Fields, ",")))
	}
	f.heard[tenant.Organization.ID] = len(all)
	return strings.Join(told, "; ")
}

// lastEvent is the payload of the newest event.
func (f *fixture) lastEvent() answer {
	f.t.Helper()
	var all []storage.Event
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) {
		all, err = rx.Events(f.tenant.Organization.ID, 10000)
		return err
	})
	return answer{body: string(all[len(all)-1].Payload)}
}

// label makes a label of the tenant's first team.
func (f *fixture) label(name string) string {
	f.t.Helper()
	return f.labelOf(f.tenant, f.tenant.Team.ID, name)
}

// labelOf makes a label of a team.
func (f *fixture) labelOf(tenant storagetest.Tenant, team int64, name string) string {
	f.t.Helper()
	l := storage.Label{OrganizationID: tenant.Organization.ID, TeamID: team, Name: name, Color: "red"}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertLabel(&l) })
	return l.ID
}

// team gives a tenant another team.
func (f *fixture) team(tenant storagetest.Tenant, name string) storage.Team {
	f.t.Helper()
	t := storage.Team{OrganizationID: tenant.Organization.ID, Name: name}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertTeam(&t) })
	return t
}

// user gives a tenant a user of its first team.
func (f *fixture) user(tenant storagetest.Tenant, name string) storage.User {
	f.t.Helper()
	u := storage.User{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, TeamPublicID: tenant.Team.PublicID, Name: name}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	return u
}

// insertContacts stores contacts of an account that are all made at the same instant, each
// with a conversation if talking says so, and returns their ids, oldest first.
func (f *fixture) insertContacts(a storage.Account, from, n int, talking bool) (ids []string) {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		ids = nil
		for i := range n {
			phone := fmt.Sprintf("+1555%07d", from+i)
			c := storage.Contact{AccountID: a.ID, PhoneNumber: &phone}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
			ids = append(ids, c.ID)
			if !talking {
				continue
			}
			if _, err := tx.EnsureConversation(a.ID, c.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// walk pages through a list and returns the ids that it has.
func (f *fixture) walk(path string, between func()) (ids []string) {
	f.t.Helper()
	query := "?"
	if strings.Contains(path, "?") {
		query = "&"
	}
	for cursor := ""; ; {
		var page struct {
			Data       []struct{ ID string }
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		got := f.call("GET", path+query+cursor, "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 {
			f.t.Fatalf("%s: %s", path, got.body)
		}
		for _, item := range page.Data {
			ids = append(ids, item.ID)
		}
		if !page.HasMore {
			return ids
		}
		cursor = "cursor=" + page.NextCursor
		if between != nil {
			between()
		}
	}
}

// unchecked is the same API for many requests, whose answers are not checked against
// openapi.json: others of their kind are.
func (f *fixture) unchecked() *fixture {
	plain := *f
	plain.client = newClient(f.client.Transport.(conforming).next)
	return &plain
}
