package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// dump is every row of every table as text, as "table: value | value".
func (s *stage) dump() (rows []string) {
	s.t.Helper()
	db := storagetest.Beside(s.app.Config.DataDir)
	defer db.Close()
	read := func(query string, args ...any) (all []string) {
		if err := db.Select(&all, query, args...); err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
		return all
	}

	for _, table := range read(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'search_changes'`) { // which the search index removes
		columns := read(`SELECT 'coalesce(CAST('||name||' AS TEXT), ''-'')' FROM pragma_table_info(?)`, table)
		for _, row := range read(`SELECT ` + strings.Join(columns, "||' | '||") + ` FROM ` + table) {
			rows = append(rows, table+": "+row)
		}
	}
	return rows
}

// about are the rows that mention any of some texts, in other tables than those
// given.
func about(rows []string, texts []string, but ...string) (found []string) {
	for _, row := range rows {
		table, _, _ := strings.Cut(row, ":")
		if !slices.Contains(but, table) && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(row, text) }) {
			found = append(found, row)
		}
	}
	slices.Sort(found)
	return found
}

// ownID finds the ids of what belongs to one account.
var ownID = regexp.MustCompile(`\b(?:ctc|cnv|msg|evt|wbd|med|tmpl)_[0-9A-Z]{26}\b|wamid\.[\w=]+`)

// related are the texts and the ids of all that belongs to what they name, step
// by step.
func related(rows []string, texts []string, but ...string) []string {
	for {
		more := slices.Clone(texts)
		for _, row := range about(rows, texts, but...) {
			more = append(more, ownID.FindAllString(row, -1)...)
		}
		slices.Sort(more)
		if more = slices.Compact(more); len(more) == len(texts) {
			return texts
		}
		texts = more
	}
}

// client is a customer that has connected a number and used it.
type client struct {
	customer, number, person, account, template, waba string
}

// texts distinguish this client's rows from others'.
func (c client) texts() []string {
	return []string{c.number, c.account, c.template, c.waba, strings.TrimPrefix(c.person, "+")}
}

// busy makes a customer with a number that has sent and received, files too.
func (s *stage) busy(name, phone, person string) client {
	s.t.Helper()
	customer, link := s.invite(name, `{"success_redirect_url":"https://app.test"}`)
	done := ask(s.t, "POST", link, connecting(name, phone))
	number := s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["whatsapp_accounts"].([]any)[0].(map[string]any)["phone_number_id"].(string)
	c := client{customer: customer, number: number, person: person, account: done.location.Query().Get("account_id")}
	for _, n := range s.sim.Numbers() {
		if n.PhoneNumberID == number {
			c.waba = n.WABAID
		}
	}
	s.await(number, s.send(number, person, `"type":"text","text":{"body":"Hello from `+name+`"}`), isStatus("read"))
	png := "\x89PNG\r\n\x1a\n" + name
	_, err := s.sim.Inbound(map[string]any{"phone_number_id": number, "from": person, "name": "Ana", "type": "image",
		"image": map[string]any{"data": base64.StdEncoding.EncodeToString([]byte(png)), "mime_type": "image/png"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.awaitEvent("message.received", func(e storage.Event) bool {
		return strings.Contains(string(e.Payload), `"media_status":"ready"`) && strings.Contains(string(e.Payload), number)
	})
	label := s.call("POST", s.app.URL()+"/v1/labels", fmt.Sprintf(`{"name":%q}`, name))["id"].(string)
	var people struct{ Data []map[string]any }
	s.list("/v1/"+number+"/contacts", &people)
	s.call("POST", fmt.Sprintf("%s/v1/%s/contacts/%s/labels", s.app.URL(), number, people.Data[0]["id"]), `{"label_id":"`+label+`"}`)
	c.template = s.call("POST", s.app.URL()+"/v1/"+number+"/templates", `{"name":"ready","language":"en_US","category":"UTILITY","components":[{"type":"BODY","text":"It is ready."}]}`)["id"].(string)
	s.becomes("/"+number+"/templates/ready", "status", "approved")
	s.exchange("POST", s.simURL+"/_sim/callbacks", fmt.Sprintf( // something that is only kept
		`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"field":"unheard_of","value":{}}]}]}`, c.waba))
	return c
}

// quiet waits until no job is left but those that come by the clock.
func (s *stage) quiet() {
	s.t.Helper()
	var left []storage.Job
	done := until(func() bool {
		storagetest.View(s.t, s.app.DB, func(rx *storage.Rx) (err error) { left, err = rx.Jobs(storage.JobFilter{Limit: 1000}); return err })
		return len(left) == 0
	})
	if !done {
		s.t.Fatalf("there are still jobs: %+v", left)
	}
}

func (s *stage) files() (names []string) {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.app.Config.DataDir, storage.MediaDir, "*", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && !info.IsDir() && !strings.Contains(name, "incoming") {
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

func TestAfterADisconnectNothingButTheTombstoneRemains(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	hook := newReceiver(t, nil)
	s.subscribe(hook.URL, `"*"`)
	gone, stays := s.busy("Bakery", "+15550783881", "+15550001111"), s.busy("Cinema", "+15550783882", "+15550002222")
	s.quiet()
	elsewhere := []string{"accounts", "api_log", "audit"} // the tombstone, who called what, and who disconnected it
	rows := s.dump()
	goes, kept := related(rows, gone.texts(), elsewhere...), related(rows, stays.texts(), elsewhere...)
	before := about(rows, kept, elsewhere...)
	for _, table := range []string{"contacts", "conversations", "contact_labels", "messages", "media", "templates", "events", "deliveries", "raw_callbacks"} {
		if !slices.ContainsFunc(about(rows, goes), func(row string) bool { return strings.HasPrefix(row, table+":") }) {
			t.Fatalf("nothing is in %s, so the test would prove nothing", table)
		}
	}
	is.Equal(len(s.files()), 2)

	s.call("DELETE", s.app.URL()+"/v1/customers/"+gone.customer+"/whatsapp_accounts/"+gone.number, "")
	s.quiet()
	for _, row := range about(s.dump(), goes, elsewhere...) {
		t.Errorf("still there: %.300s", row)
	}
	is.Equal(len(s.files()), 1)
	is.Equal(about(s.dump(), kept, elsewhere...), before) // others are untouched
	tombstone := about(s.dump(), []string{gone.account}, "audit")
	is.Equal(len(tombstone), 1)
	is.True(strings.Contains(tombstone[0], "disconnected"))

	// What still comes for it is ignored, and the rest goes on.
	callback := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",
		"metadata":{"display_phone_number":"15550783881","phone_number_id":%q},"contacts":[{"profile":{"name":"Ana"},"wa_id":"15550001111"}],
		"messages":[{"from":"15550001111","id":"wamid.late","timestamp":"1700000000","type":"text","text":{"body":"late"}}]}}]}]}`, gone.number)
	var answer struct{ Status int }
	is.NoErr(json.Unmarshal(s.exchange("POST", s.simURL+"/_sim/callbacks", callback), &answer))
	is.Equal(answer.Status, 200)
	s.quiet()
	is.Equal(len(about(s.dump(), append(goes, "wamid.late"), elsewhere...)), 0)
	s.await(stays.number, s.send(stays.number, stays.person, `"type":"text","text":{"body":"Still here"}`), isStatus("read"))
}
