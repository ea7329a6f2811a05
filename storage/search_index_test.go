package storage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/sqlite"
	"confab/storage/storagetest"
)

// searching is a database with an index that catches up when a test asks it to.
type searching struct {
	*storage.DB
	t      *testing.T
	path   string
	index  *storage.SearchIndex
	errors []error
}

func openSearching(t *testing.T) *searching {
	t.Helper()
	o := newFile(t)
	s := &searching{DB: open(t, o), t: t, path: filepath.Join(filepath.Dir(o.Path), storage.SearchFile)}
	s.index = storage.NewSearchIndex(s.DB, s.path, func(err error) { s.errors = append(s.errors, err) })
	t.Cleanup(s.index.Close)
	return s
}

func (s *searching) catchUp() {
	s.t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.index.Step(context.Background()); err != nil {
			s.t.Fatal(err)
		}
	}
}

// rows counts the messages and the shards of the index.
func (s *searching) rows() (docs, shards int, err error) {
	conn := sqlite.OpenCopy(s.path)
	defer conn.Close()
	err = conn.QueryRow(`SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM shards)`).Scan(&docs, &shards)
	return docs, shards, err
}

// say stores a message with a text.
func (s *searching) say(h thread, text string, change ...func(*storage.Message)) storage.Message {
	s.t.Helper()
	m := storage.Message{AccountID: h.account.ID, ConversationID: h.conversation.ID, ContactID: h.contact.ID, Direction: storage.Outbound,
		Type: "text", Status: storage.MessageSent, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"x"}`), Body: &text}
	for _, c := range change {
		c(&m)
	}
	storagetest.Update(s.t, s.DB, func(tx *storage.Tx) error { return tx.InsertMessage(&m) })
	return m
}

// find lists what a search finds, page by page.
func (s *searching) find(account int64, f storage.MessageFilter, limit int) (ids []string) {
	s.t.Helper()
	for after := storage.First; after != storage.Last; {
		var rows []storage.Message
		storagetest.View(s.t, s.DB, func(rx *storage.Rx) (err error) {
			rows, after, err = rx.Messages(account, f, after, limit)
			return err
		})
		for _, m := range rows {
			ids = append(ids, m.ID)
		}
		if len(rows) == limit {
			after = f.Key(rows[limit-1])
		}
	}
	return ids
}

func (s *searching) finds(h thread, query string) []string {
	s.t.Helper()
	return s.find(h.account.ID, storage.MessageFilter{Search: query}, 10)
}

func (s *searching) edit(m *storage.Message, text string) {
	s.t.Helper()
	m.Body = &text
	storagetest.Update(s.t, s.DB, func(tx *storage.Tx) error {
		edits, err := tx.MessageEdits(*m)
		if err != nil {
			return err
		}
		return tx.EditMessage(m, storage.MessageEdit{Version: len(edits) + 1, Content: m.Content, EditedAt: tx.Now, ProviderID: "wamid.e"})
	})
}

func (s *searching) delete(h thread, m storage.Message) {
	s.t.Helper()
	storagetest.Update(s.t, s.DB, func(tx *storage.Tx) error {
		_, err := tx.ForgetMessages(h.account.ID, []storage.Row{{ID: m.ID}}, nil)
		return err
	})
}

func TestWhatAMessageSaidIsNotFoundOnceItIsGone(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	edited, revoked, deleted, kept := s.say(h, "alpha one"), s.say(h, "alpha two"), s.say(h, "alpha three"), s.say(h, "alpha four")
	s.catchUp()
	is.True(s.index.IsComplete())
	is.Equal(s.finds(h, "alpha"), []string{kept.ID, deleted.ID, revoked.ID, edited.ID})

	// At once, before the index has noticed.
	s.edit(&edited, "beta")
	storagetest.Update(t, s.DB, func(tx *storage.Tx) error { _, err := tx.MarkRevoked(&revoked); return err })
	s.delete(h, deleted)
	is.Equal(s.finds(h, "alpha"), []string{kept.ID})

	s.catchUp()
	is.Equal(s.finds(h, "beta"), []string{edited.ID})
	is.Equal(s.finds(h, "alpha"), []string{kept.ID})
	docs, _, err := s.rows()
	is.NoErr(err)
	is.Equal(docs, 2) // nothing is left of the others
	is.Equal(len(column(t, storage.DatabaseFile(filepath.Dir(s.path)), `SELECT id FROM search_changes`)), 0)

	storagetest.Update(t, s.DB, func(tx *storage.Tx) error { return tx.DeleteContact(h.account.ID, h.contact.ID) })
	s.catchUp()
	docs, shards, err := s.rows()
	is.NoErr(err)
	is.Equal(docs, 0)
	is.Equal(shards, 0)
}

// SQLite gives the number of the newest row out again when that was deleted.
func TestAMessageThatHasTheNumberOfADeletedOneIsFound(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	s.say(h, "first")
	older, newest := s.say(h, "older"), s.say(h, "newest")
	s.catchUp()
	s.delete(h, older)
	s.delete(h, newest)
	again, more := s.say(h, "again"), s.say(h, "more")
	is.Equal(again.Number, older.Number)
	s.catchUp()
	is.Equal(s.finds(h, "again"), []string{again.ID})
	is.Equal(s.finds(h, "more"), []string{more.ID})
	is.Equal(s.finds(h, "older newest"), nil)
}

func TestFileNamesAndFiltersAreSearched(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	file := s.say(h, "see this", func(m *storage.Message) {
		m.Type, m.Content = "document", storage.JSON(`{"link":"https://a.test","filename":"Price_list-2026.pdf"}`)
	})
	in := s.say(h, "what is the price", func(m *storage.Message) { m.Direction = storage.Inbound })
	silent := s.say(h, "", func(m *storage.Message) { m.Body = nil })
	s.catchUp()
	is.Equal(s.finds(h, "price"), []string{in.ID, file.ID})
	is.Equal(s.finds(h, "pdf 2026"), []string{file.ID})
	is.Equal(s.finds(h, `"this price"`), nil) // not from the caption into the file's name
	account := h.account.ID
	for name, tt := range map[string]struct {
		filter storage.MessageFilter
		want   []string
	}{
		"direction":    {storage.MessageFilter{Direction: storage.Inbound}, []string{in.ID}},
		"type":         {storage.MessageFilter{Type: "document"}, []string{file.ID}},
		"another type": {storage.MessageFilter{Type: "image"}, nil},
		"status":       {storage.MessageFilter{Status: storage.MessageRead}, nil},
		"failed":       {storage.MessageFilter{Status: storage.MessageFailed}, nil},
		"conversation": {storage.MessageFilter{ConversationID: h.conversation.ID}, []string{in.ID, file.ID}},
		"contact":      {storage.MessageFilter{ContactID: h.contact.ID}, []string{in.ID, file.ID}},
		"before":       {storage.MessageFilter{CreatedBefore: file.CreatedAt}, nil},
		"after":        {storage.MessageFilter{CreatedAfter: silent.CreatedAt}, nil},
		"since":        {storage.MessageFilter{CreatedAfter: file.CreatedAt - 1, CreatedBefore: silent.CreatedAt + 1}, []string{in.ID, file.ID}},
	} {
		tt.filter.Search = "price"
		if got := s.find(account, tt.filter, 10); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What was sent later than it was stored is as new as its sending, for a search too.
func TestWhatWasSentLaterIsFoundWhereItWasSent(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	say := func(change ...func(*storage.Message)) storage.Message {
		time.Sleep(2 * time.Millisecond) // no two are of one moment
		return s.say(h, "pineapple", change...)
	}
	wait := func(m *storage.Message) { m.Status, m.ScheduledAt = storage.MessageQueued, 1 }
	later, still := say(wait), say(wait)
	second := say()
	time.Sleep(2 * time.Millisecond)
	storagetest.Update(t, s.DB, func(tx *storage.Tx) error { _, err := tx.ReleaseMessage(&later); return err })
	last := say()
	s.catchUp()

	finds := func(f storage.MessageFilter, want ...storage.Message) {
		t.Helper()
		f.Search = "pineapple"
		var ids []string
		for _, m := range want {
			ids = append(ids, m.ID)
		}
		for limit := 1; limit < 6; limit++ {
			is.Equal(s.find(h.account.ID, f, limit), ids)
			s.WithoutIndex(func() { is.Equal(s.find(h.account.ID, f, limit), ids) })
		}
	}
	finds(storage.MessageFilter{}, last, later, second, still)
	finds(storage.MessageFilter{ConversationID: h.conversation.ID}, last, later, second, still)
	finds(storage.MessageFilter{CreatedAfter: second.CreatedAt}, last, later)
	finds(storage.MessageFilter{CreatedBefore: later.CreatedAt}, second, still)
	finds(storage.MessageFilter{CreatedAfter: second.CreatedAt, CreatedBefore: last.CreatedAt}, later)
}

func TestNobodyFindsWhatOthersWrote(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	ours, theirs := newThread(t, s.DB, "106540352242922", "+15551234567"), newThread(t, s.DB, "206540352242922", "+15551234567")
	mine, other := s.say(ours, "secret"), s.say(theirs, "secret")
	s.catchUp()
	is.Equal(s.finds(ours, "s"), []string{mine.ID})
	is.Equal(s.finds(theirs, "secret"), []string{other.ID})
}

// Whatever changes are made to messages, the index finds what a walk over them finds.
func TestTheIndexFindsWhatAWalkFinds(t *testing.T) {
	s := openSearching(t)
	random := rand.New(rand.NewPCG(1, 2))
	threads := []thread{newThread(t, s.DB, "106540352242922", "+15551234567"), newThread(t, s.DB, "206540352242922", "+15551234567")}
	words := strings.Fields("café cafe Cafeteria order Order-12 próxima semana 世界 你好世界 hello hell Wörter über x")
	sentence := func() string {
		var all []string
		for range 1 + random.IntN(5) {
			all = append(all, words[random.IntN(len(words))])
		}
		return strings.Join(all, " ")
	}

	said := make(map[int][]storage.Message)
	for round := range 60 {
		for range random.IntN(12) {
			i := random.IntN(2)
			h, old := threads[i], said[i]
			switch n := random.IntN(10); {
			case n < 6 || len(old) == 0:
				said[i] = append(old, s.say(h, sentence()))
			case n < 8:
				s.edit(&old[random.IntN(len(old))], sentence())
			default:
				s.delete(h, old[len(old)-1])
				said[i] = old[:len(old)-1]
			}
		}
		if round%3 == 0 {
			s.catchUp()
		}
		if round%7 == 0 {
			s.index.Close() // as a restart does
		}
		s.catchUp()

		query := sentence()
		if random.IntN(3) == 0 {
			query = `"` + query + `"`
		}
		account, limit := threads[random.IntN(2)].account.ID, 1+random.IntN(5)
		got := s.find(account, storage.MessageFilter{Search: query}, limit)
		var want []string
		s.WithoutIndex(func() { want = s.find(account, storage.MessageFilter{Search: query}, 100) })
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %s: %v instead of %v", round, query, got, want)
		}
	}
	if len(s.errors) > 0 {
		t.Fatal(s.errors)
	}
}

// A page as long as the index is asked for at once is not the last one because the message
// with which the page before ended is found again.
func TestLongPagesOfASearchLeaveNothingOut(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	const said = 350
	for range said {
		s.say(h, "always the same")
	}
	s.catchUp()
	for _, limit := range []int{1, 63, 64, 65, 101} {
		found := s.find(h.account.ID, storage.MessageFilter{Search: "same"}, limit)
		is.Equal(len(found), said)
		is.Equal(len(slices.Compact(found)), said)
	}
}

// A doctor may come while a server that has just started makes its index.
func TestAnIndexThatIsBeingMadeIsMissingNotDamaged(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "search.db")
	facts, err := storage.InspectSearchIndex(path)
	is.NoErr(err)
	is.True(facts.IsMissing)

	is.NoErr(os.WriteFile(path, nil, 0o600)) // as SQLite makes it
	facts, err = storage.InspectSearchIndex(path)
	is.NoErr(err)
	is.True(facts.IsMissing)

	is.NoErr(os.WriteFile(path, []byte(strings.Repeat("rubbish ", 4096)), 0o600))
	_, err = storage.InspectSearchIndex(path)
	is.True(err != nil)
}

func TestADamagedOrMissingIndexIsMadeAnew(t *testing.T) {
	for name, harm := range map[string]func(s *searching) error{
		"missing":     func(s *searching) error { return os.Remove(s.path) },
		"empty":       func(s *searching) error { return os.Truncate(s.path, 0) },
		"no database": func(s *searching) error { return os.WriteFile(s.path, []byte(strings.Repeat("rubbish ", 4096)), 0o600) },
		"scrambled": func(s *searching) error {
			text, err := os.ReadFile(s.path)
			for i := 4096; i < len(text); i++ {
				text[i] ^= 0x5a
			}
			if err != nil {
				return err
			}
			return os.WriteFile(s.path, text, 0o600)
		},
		"another epoch": func(s *searching) error {
			return s.Update(context.Background(), func(tx *storage.Tx) error {
				return tx.Run(`UPDATE meta SET value = randomblob(8) WHERE name = 'event_epoch'`)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := openSearching(t)
			h := newThread(t, s.DB, "106540352242922", "+15551234567")
			var all []string
			for i := range 300 {
				all = append(all, s.say(h, fmt.Sprint("word ", i)).ID)
			}
			slices.Reverse(all)
			s.catchUp()
			s.index.Close()
			is.NoErr(harm(s))
			for _, rest := range []string{"-wal", "-shm"} {
				os.Remove(s.path + rest)
			}

			is.Equal(s.finds(h, "word"), all) // by a walk
			for !s.index.IsComplete() {
				_, _ = s.index.Step(context.Background()) // says what it does about it
			}
			is.Equal(s.finds(h, "word"), all)
			docs, _, err := s.rows()
			is.NoErr(err)
			is.Equal(docs, 300)
		})
	}
}

// An index that breaks while it is used is replaced, and searches do not notice.
func TestAnIndexThatBreaksInUseIsMadeAnew(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	m := s.say(h, "hello")
	s.catchUp()
	alter(t, s.path, `DROP TABLE docs`)
	is.Equal(s.finds(h, "hello"), []string{m.ID})
	_, err := s.index.Step(context.Background())
	is.True(err != nil)
	s.catchUp()
	is.True(s.index.IsComplete())
	is.Equal(s.finds(h, "hello"), []string{m.ID})

	is.NoErr(os.Remove(s.path)) // under its feet
	s.catchUp()
	is.True(s.index.IsComplete())
	_, err = os.Stat(s.path)
	is.NoErr(err)
}

func TestAnIndexFollowsByItself(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.index.Run(ctx) }()
	m := s.say(h, "hello")
	for docs := 0; docs == 0 || !s.index.IsComplete(); { // it looks for itself twice a second
		time.Sleep(10 * time.Millisecond)
		if s.index.IsComplete() {
			var err error
			docs, _, err = s.rows()
			is.NoErr(err)
		}
	}
	is.Equal(s.finds(h, "hello"), []string{m.ID})
	stop()
	is.NoErr(<-ended)
	is.Equal(s.finds(h, "hello"), []string{m.ID}) // by a walk
}
