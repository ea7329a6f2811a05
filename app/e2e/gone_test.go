package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// holding lists the files of a data directory that hold any of some words, in any byte of
// them: in rows, in pages that are free, in logs.
func holding(t *testing.T, dir string, words ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // a file may go while it is looked for
		}
		content, _ := os.ReadFile(path)
		content = bytes.ToLower(content)
		for _, word := range words {
			if bytes.Contains(content, []byte(word)) {
				found = append(found, e.Name()+" holds "+word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// gone waits for as long as the guides promise until no file holds any of some words but
// those that the guides name.
func (s *stage) gone(what string, kept []string, words ...string) {
	s.t.Helper()
	var left []string
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(100 * time.Millisecond) {
		left = slices.DeleteFunc(holding(s.t.(*testing.T), s.app.Config.DataDir, words...), func(found string) bool {
			return slices.ContainsFunc(kept, func(file string) bool { return bytes.HasPrefix([]byte(found), []byte(file+" ")) })
		})
		if len(left) == 0 {
			return
		}
	}
	s.t.Errorf("after %s: %v", what, left)
}

// expire removes the copies that the guides name, as their retention does: event payloads,
// stored answers and kept callbacks.
func (s *stage) expire() {
	s.t.Helper()
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		for _, table := range []string{"deliveries", "events", "idempotency", "raw_callbacks"} {
			if _, err := tx.Exec(`DELETE FROM ` + table); err != nil {
				return err
			}
		}
		return nil
	})
}

// It runs alone, because the guides promise that it takes ten seconds at most.
func TestWhatIsDeletedIsInNoByteOfAnyFile(t *testing.T) {
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	say := func(from, name, text string) map[string]any { return s.heardFrom(number, from, name, text) }
	for n := range 200 { // neighbours, so that pages are shared, split and joined
		_, err := s.sim.Inbound(map[string]any{"phone_number_id": number, "from": fmt.Sprintf("1555100%04d", n%40), "name": "Neighbour",
			"text": fmt.Sprintf("ordinary words about number %d", n)})
		is.NoErr(err)
	}

	// An edit, a revoke: what was said before stays with the message, as the guide says, and
	// nowhere else.
	edited, revoked := say("15550001111", "Ana", "vexillographer"), say("15550001111", "Ana", "quomodocunquize")
	deleted := say("15550002222", "Zenzizenzic", "tmesipterid")
	sent := s.send(number, "+15550002222", `"type":"text","text":{"body":"scripturient"}`)
	s.await(number, sent, isStatus("read"))
	s.indexed("tmesipterid", "scripturient", "vexillographer", "quomodocunquize")
	s.play("POST", "/_sim/messages/"+edited["message_id"].(string)+"/edit", `{"text":"better"}`)
	s.play("POST", "/_sim/messages/"+revoked["message_id"].(string)+"/revoke", ``)
	s.gone("an edit and a revoke", []string{"confab.db", "confab.db-wal"}, "vexillographer", "quomodocunquize")

	// A contact.
	s.exchange("DELETE", s.app.URL()+"/v1/"+number+"/contacts/"+deleted["contact_id"].(string), "")
	s.expire()
	s.gone("the deletion of a contact", nil, "tmesipterid", "scripturient", "zenzizenzic")

	// A name that was changed, and a quick reply.
	customer := s.call("POST", s.app.URL()+"/v1/customers", `{"name":"Floccinaucini"}`)["id"].(string)
	s.exchange("PATCH", s.app.URL()+"/v1/customers/"+customer, `{"name":"Bakery"}`)
	reply := s.call("POST", s.app.URL()+"/v1/quick_replies", `{"shortcut":"hi","text":"sesquipedal"}`)["id"].(string)
	s.exchange("DELETE", s.app.URL()+"/v1/quick_replies/"+reply, "")
	s.expire()
	s.gone("changes of a customer and a quick reply", nil, "floccinaucini", "sesquipedal")

	// A purge of everything.
	say("15550001111", "Ana", "absquatulate")
	s.indexed("absquatulate")
	err := datadir.Dir(s.app.Config.DataDir).Purge(t.Context(), storage.PurgeScope{Before: storage.Now().Add(time.Hour)},
		func(storage.PurgeCounts) {}, func(context.Context) error { return errors.New("the server was not found") })
	is.NoErr(err)
	s.gone("a purge", nil, "absquatulate", "vexillographer", "quomodocunquize")
}

// heardFrom lets a person write, and returns the message.
func (s *stage) heardFrom(number, from, name, text string) map[string]any {
	s.t.Helper()
	wamid := s.play("POST", "/_sim/inbound", fmt.Sprintf(
		`{"phone_number_id":%q,"from":%q,"name":%q,"type":"text","text":{"body":%q}}`, number, from, name, text))
	var told struct {
		Svc struct {
			MessageID string `json:"message_id"`
		}
	}
	if err := json.Unmarshal(s.awaitEvent("message.received", byID(wamid)).Payload, &told); err != nil {
		s.t.Fatal(err)
	}
	return s.call("GET", s.app.URL()+"/v1/"+number+"/messages/"+told.Svc.MessageID, "")
}

// indexed waits until the search index has some words.
func (s *stage) indexed(words ...string) {
	s.t.Helper()
	for _, word := range words {
		if !until(func() bool {
			return slices.ContainsFunc(holding(s.t.(*testing.T), s.app.Config.DataDir, word), func(found string) bool {
				return bytes.HasPrefix([]byte(found), []byte(storage.SearchFile))
			})
		}) {
			s.t.Fatalf("%s was never indexed", word)
		}
	}
}
