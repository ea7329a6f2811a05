package live

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/stream"
	"confab/storage"
	"confab/storage/storagetest"
)

// world is a hub that runs, over a database of its own.
type world struct {
	t      *testing.T
	db     *storage.DB
	hub    *Hub
	tenant storagetest.Tenant
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: storagetest.Open(t)}
	w.tenant = storagetest.Seed(t, w.db, "Acme")
	streams, err := stream.New(w.db)
	if err != nil {
		t.Fatal(err)
	}
	w.hub = New(Options{DB: w.db, Streams: streams, MaxStreams: 3, Version: "v1", Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.hub.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return w
}

// watcher is a console whose reader is the test.
type watcher struct {
	*viewer
	s *stream.Stream
}

func (w *world) watch(tenant storagetest.Tenant, role string) *watcher {
	w.t.Helper()
	s, err := w.hub.Open(w.t.Context(), Visit{Organization: tenant.Organization.ID, User: "u", Role: role, Ended: func(context.Context) string { return "" }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.Close)
	return &watcher{s.Notices.(*viewer), s}
}

// news is what has come since the last call: for each notice its name and its data.
func (w *watcher) news() (all []string) {
	for block := range strings.SplitSeq(string(w.AppendNew(nil)), "\n\n") {
		if block != "" {
			all = append(all, strings.ReplaceAll(strings.TrimPrefix(block, "event: "), "\ndata: ", " "))
		}
	}
	return all
}

func (w *world) label(tenant storagetest.Tenant, name string) (id string) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		l := storage.Label{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: name, Color: "blue"}
		err := tx.InsertLabel(&l)
		id = l.ID
		return err
	})
	return id
}

func TestManyChangesAreOneHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := newWorld(t)
		other := storagetest.Seed(t, w.db, "Other")
		admin, stranger := w.watch(w.tenant, storage.RoleAdmin), w.watch(other, storage.RoleAdmin)
		is.Equal(string(admin.AppendOpening(nil)), "event: ready\ndata: {\"user\":{\"id\":\"u\",\"role\":\"admin\"},\"version\":\"v1\"}\n\n")
		first := w.label(w.tenant, "first")
		synctest.Wait()
		is.Equal(admin.news(), []string{`changed {"kind":"contact","ids":[]}`, `changed {"kind":"conversation","ids":[]}`, `changed {"kind":"label","ids":["` + first + `"]}`}) // at once
		ids := []string{w.label(w.tenant, "a"), w.label(w.tenant, "b")}
		synctest.Wait()
		is.Equal(admin.news(), nil) // what follows comes together
		time.Sleep(hintInterval)
		synctest.Wait()
		is.Equal(admin.news()[2], `changed {"kind":"label","ids":["`+ids[0]+`","`+ids[1]+`"]}`)
		for i := range storage.MaxHintIDs + 1 {
			w.label(w.tenant, fmt.Sprint(i))
		}
		time.Sleep(2 * hintInterval)
		synctest.Wait()
		is.Equal(admin.news()[2], `changed {"kind":"label","ids":[]}`) // many
		is.Equal(stranger.news(), nil)

		// A reader that does not come keeps no more than one that does.
		for i := range 3 * storage.MaxHintIDs {
			w.label(w.tenant, fmt.Sprint("slow", i))
			time.Sleep(hintInterval)
		}
		synctest.Wait()
		is.True(len(admin.pending.changed["label"]) <= storage.MaxHintIDs)

		w.db.DropCaches() // another process has changed something
		time.Sleep(hintInterval)
		synctest.Wait()
		is.Equal(len(stranger.news()), len(storage.HintKinds()))
	})
}

func TestHintsAreFewerWhileMuchChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := newWorld(t)
		one, another := w.watch(w.tenant, storage.RoleAdmin), w.watch(w.tenant, storage.RoleAdmin)
		agent := w.watch(w.tenant, storage.RoleAgent)
		change := func(count int) (told int) {
			for range 40 {
				for i := range count {
					w.label(w.tenant, fmt.Sprint(time.Now().UnixNano(), i))
				}
				time.Sleep(hintInterval / 4)
				synctest.Wait()
				if one.pending != nil {
					is.True(one.pending == another.pending) // written once for both
					told++
				}
				is.Equal(one.news(), another.news())
				agent.news()
			}
			return told
		}
		is.True(change(1) >= 9) // in a second
		is.True(change(10) <= 4)
		is.True(change(1) >= 5)
	})
}

func TestNothingIsCollectedForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := newWorld(t)
		w.label(w.tenant, "unseen")
		hints, all := w.db.Hints().Take()
		is.Equal(len(hints), 0)
		is.True(!all)
		seen := w.watch(w.tenant, storage.RoleAgent)
		w.label(w.tenant, "seen")
		synctest.Wait()
		is.Equal(len(seen.news()), 3)
		seen.s.Close()
		w.label(w.tenant, "unseen again")
		w.db.DropCaches()
		hints, all = w.db.Hints().Take()
		is.Equal(len(hints), 0)
		is.True(!all)
		is.Equal(len(w.hub.viewers), 0)
	})
}

func TestPresenceIsForgottenTenSecondsAfterTheLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := newWorld(t)
		v := w.watch(w.tenant, storage.RoleAgent)
		look := Look{Organization: w.tenant.Organization.ID, User: "bo", Name: "Bo", Tab: "1", Conversation: "cnv_1"}
		looking := `presence {"conversation_id":"cnv_1","people":[{"id":"bo","name":"Bo","state":"looking"}]}`
		nobody := func(conversation string) string {
			return `presence {"conversation_id":"` + conversation + `","people":[]}`
		}
		w.hub.Look(look)
		is.Equal(v.news(), []string{looking})
		is.True(w.hub.Shows(look))
		for range 3 {
			time.Sleep(4 * time.Second)
			w.hub.Look(look)
			is.Equal(v.news(), nil) // nothing new
		}
		time.Sleep(lookLife - time.Millisecond)
		synctest.Wait()
		is.Equal(v.news(), nil)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		is.Equal(v.news(), []string{nobody("cnv_1")})
		is.Equal(len(w.hub.looks), 0)

		// Another conversation: both are reported. One who types in any tab types.
		w.hub.Look(look)
		v.news()
		look.Conversation = "cnv_2"
		w.hub.Look(look)
		is.Equal(v.news(), []string{nobody("cnv_1"), strings.Replace(looking, "cnv_1", "cnv_2", 1)})
		second := look
		second.Tab, second.Typing = "2", true
		w.hub.Look(second)
		is.Equal(v.news(), []string{strings.NewReplacer("cnv_1", "cnv_2", "looking", "typing").Replace(looking)})
		is.True(strings.HasSuffix(string(v.AppendOpening(nil)), `"state":"typing"}]}`+"\n\n")) // a snapshot
		second.Conversation = ""
		w.hub.Look(second)
		is.Equal(v.news(), []string{strings.Replace(looking, "cnv_1", "cnv_2", 1)})
	})
}

func TestPresenceIsBounded(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	for i := range 2 * maxTabs {
		w.hub.Look(Look{Organization: 1, User: "bo", Tab: fmt.Sprint(i), Conversation: "cnv_1"})
	}
	is.Equal(len(w.hub.looks[1]), maxTabs)
	for i := range 2 * maxLooks {
		w.hub.Look(Look{Organization: 1, User: fmt.Sprint(i), Tab: "1", Conversation: "cnv_1"})
	}
	is.Equal(len(w.hub.looks[1]), maxLooks)
	w.hub.Look(Look{Organization: 1, User: "bo", Tab: "1"})
	w.hub.Look(Look{Organization: 1, User: "bo", Tab: "none"}) // to leave is always possible
	is.Equal(len(w.hub.looks[1]), maxLooks-1)
}

func TestAgentsAreToldOfWhatTheyMayRead(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	admin, agent := w.watch(w.tenant, storage.RoleAdmin), w.watch(w.tenant, storage.RoleAgent)
	w.hub.notifyAll(storage.HintKinds()...)
	kinds := func(v *watcher) (all []string) {
		for _, one := range v.news() {
			_, kind, _ := strings.Cut(one, `"kind":"`)
			kind, _, _ = strings.Cut(kind, `"`)
			all = append(all, kind)
		}
		return all
	}
	is.Equal(kinds(admin), []string{"account", "broadcast", "call", "contact", "conversation", "delivery", "job", "key", "label", "quick_reply", "rule", "template", "user", "view"})
	is.Equal(kinds(agent), []string{"account", "contact", "conversation", "label", "quick_reply", "template", "user", "view"})
}
