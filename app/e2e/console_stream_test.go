package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// notice is one block of a console's stream.
type notice struct{ event, data, id string }

// openConsole is a stream that is open.
type openConsole struct {
	t       *testing.T
	notices chan notice // closed when the stream ends
	last    string      // position
	close   func()
}

// watch opens the stream of a browser, and reads what comes first.
func (b *browser) watch(header ...string) *openConsole {
	b.s.t.Helper()
	c, status := b.tryToWatch(header...)
	if status != 200 {
		b.s.t.Fatalf("the stream is refused: %d", status)
	}
	return c
}

func (b *browser) tryToWatch(header ...string) (*openConsole, int) {
	b.s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", b.base+"/console/api/stream", nil)
	if err != nil {
		b.s.t.Fatal(err)
	}
	for name, value := range b.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.s.t.Fatal(err)
	}
	if res.StatusCode == 200 && !res.Close {
		b.s.t.Fatal("a browser would keep the connection of a page that it has left")
	}
	b.s.t.Cleanup(stop)
	c := &openConsole{t: b.s.t.(*testing.T), notices: make(chan notice, 1000), close: stop}
	go func() {
		defer res.Body.Close()
		defer close(c.notices)
		var n notice
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "":
				c.notices <- n
				n = notice{}
			case "id":
				n.id = value
			case "event":
				n.event = value
			case "data":
				n.data = value
			}
		}
	}()
	return c, res.StatusCode
}

// next is the next notice that is wanted; others are passed over.
func (c *openConsole) next(wanted func(notice) bool) notice {
	c.t.Helper()
	late := time.After(patience)
	for {
		select {
		case n, ok := <-c.notices:
			if !ok {
				c.t.Fatal("the stream has ended")
			}
			if n.id != "" {
				c.last = n.id
			}
			if wanted(n) {
				return n
			}
		case <-late:
			c.t.Fatal("nothing of that kind came")
		}
	}
}

// named waits for an event or a notice by its name.
func (c *openConsole) named(name string) notice {
	c.t.Helper()
	return c.next(func(n notice) bool { return n.event == name })
}

// changed waits for a hint of a kind, and returns its ids.
func (c *openConsole) changed(kind string) (ids []string) {
	c.t.Helper()
	n := c.next(func(n notice) bool { return n.event == "changed" && strings.Contains(n.data, `"kind":"`+kind+`"`) })
	var hint struct{ IDs []string }
	if err := json.Unmarshal([]byte(n.data), &hint); err != nil || hint.IDs == nil {
		c.t.Fatal(n.data)
	}
	return hint.IDs
}

// ends waits until the stream has ended, and returns the names of what came before, and
// the reason.
func (c *openConsole) ends() (names []string, reason string) {
	c.t.Helper()
	late := time.After(patience)
	for {
		select {
		case n, ok := <-c.notices:
			if !ok {
				return names, reason
			}
			if n.event == "ended" {
				reason = n.data
			}
			names = append(names, n.event)
		case <-late:
			c.t.Fatal("the stream does not end")
		}
	}
}

// do calls the API of the console with a JSON body.
func (b *browser) do(method, path, body string) seen {
	b.s.t.Helper()
	req, err := http.NewRequest(method, b.base+"/console/api/"+path, strings.NewReader(body))
	if err != nil {
		b.s.t.Fatal(err)
	}
	for name, value := range b.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.s.t.Fatal(err)
	}
	return seen{status: res.StatusCode, header: res.Header, body: string(text)}
}

func TestAConsoleIsToldWhatHappens(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	admin, boss := s.joined("ada@example.com", storage.RoleAdmin)
	agent, bo := s.joined("bo@example.com", storage.RoleAgent)
	a, b := admin.watch(), agent.watch()
	is.Equal(<-a.notices, notice{event: "ready", data: `{"user":{"id":"` + boss.ID + `","role":"admin"},"version":"test"}`})
	is.Equal(<-b.notices, notice{event: "ready", data: `{"user":{"id":"` + bo.ID + `","role":"agent"},"version":"test"}`})

	// A message of a person: the event, and that the conversation and the contact are others.
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	conversation := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT id FROM conversations`)[0]
	var jobs []string // that the admin was notified of
	for _, c := range []*openConsole{a, b} {
		var events, kinds []string
		var hinted []string
		c.next(func(n notice) bool {
			if n.event == "changed" {
				var hint struct {
					Kind string
					IDs  []string
				}
				json.Unmarshal([]byte(n.data), &hint)
				kinds = append(kinds, hint.Kind)
				switch hint.Kind {
				case "conversation":
					hinted = append(hinted, hint.IDs...)
				case "job":
					is.True(c == a)
					jobs = append(jobs, n.data)
				}
			} else if n.data != "" {
				events = append(events, n.event)
			}
			return slices.Contains(hinted, conversation) && slices.Contains(events, "message.received") && slices.Contains(kinds, "contact")
		})
		is.True(slices.Contains(events, "contact.created"))
	}

	// What only admins may read is sent to admins only.
	if len(jobs) == 0 { // it may have come before the message
		is.Equal(a.changed("job"), []string{})
	}
	is.Equal(admin.do("POST", "keys", `{"label":"ci"}`).status, 201)
	is.Equal(len(a.changed("key")), 1)
	is.Equal(admin.do("POST", "v1/customers", `{"name":"Shop"}`).status, 201)
	item := a.named("customer.created")
	is.True(item.id != "")
	is.Equal(admin.do("POST", "v1/labels", `{"name":"VIP"}`).status, 201)
	for {
		n := b.next(func(n notice) bool { return n.data != "" })
		is.True(!strings.Contains(n.data, `"key"`) && !strings.HasPrefix(n.event, "customer") && !strings.Contains(n.data, `"kind":"call"`) && !strings.Contains(n.data, `"kind":"job"`))
		if strings.Contains(n.data, `"kind":"label"`) {
			break
		}
	}

	// Who comes back with its position gets what it missed, once.
	is.Equal(len(a.changed("label")), 1)
	a.close()
	is.Equal(admin.do("POST", "v1/customers", `{"name":"Other"}`).status, 201)
	again := admin.watch("Last-Event-ID: " + item.id)
	is.Equal((<-again.notices).event, "ready")
	missed := again.named("customer.created")
	is.True(strings.Contains(missed.data, `"Other"`))
	is.Equal(admin.watch("Last-Event-ID: nonsense").named("gap").data[:10], `{"reason":`)
}

func TestColleaguesSeeWhoLooksAndTypes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	conversation := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT id FROM conversations`)[0]
	ada, who := s.joined("ada@example.com", storage.RoleAgent)
	bo, _ := s.joined("bo@example.com", storage.RoleAgent)
	look := func(conversation, more string) int {
		return ada.do("POST", "presence", `{"conversation_id":`+conversation+`,"tab":"t1"`+more+`}`).status
	}
	people := func(state string) string {
		return `{"conversation_id":"` + conversation + `","people":[{"id":"` + who.ID + `","name":"Ada Lovelace","state":"` + state + `"}]}`
	}
	b := bo.watch()
	b.named("ready")
	is.Equal(look(`"`+conversation+`"`, ""), 204)
	is.Equal(b.named("presence").data, people("looking"))
	is.Equal(look(`"`+conversation+`"`, `,"typing":false`), 204) // nothing new
	is.Equal(look(`"`+conversation+`"`, `,"typing":true`), 204)
	is.Equal(b.named("presence").data, people("typing"))
	late := bo.watch()
	is.Equal((<-late.notices).event, "ready")
	is.Equal(<-late.notices, notice{event: "presence", data: people("typing")}) // a snapshot
	is.Equal(look("null", ""), 204)
	is.Equal(b.named("presence").data, `{"conversation_id":"`+conversation+`","people":[]}`)

	// Another organization's conversation is none, and strangers see no one.
	other := storagetest.Seed(t, s.app.DB, "Other")
	mine := s.tenant
	s.tenant = other
	eve, _ := s.joined("eve@example.com", storage.RoleAdmin)
	s.tenant = mine
	is.Equal(eve.do("POST", "presence", `{"conversation_id":"`+conversation+`","tab":"t"}`).status, 404)
	for body, status := range map[string]int{
		`{}`: 400, `{"tab":""}`: 400, `{"tab":"` + strings.Repeat("t", 65) + `"}`: 400, `{"tab":1}`: 400, `{"tab":"t","conversation_id":"x"}`: 404,
		`{"tab":"t","conversation_id":"cnv_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}`: 404, `{"tab":"t","typing":"yes"}`: 400, `{"tab":"t","conversation_id":null}`: 204,
	} {
		is.Equal(ada.do("POST", "presence", body).status, status) // body
	}
	e := eve.watch()
	e.named("ready")
	is.Equal(look(`"`+conversation+`"`, ""), 204)
	b.named("presence")
	is.Equal(eve.do("POST", "v1/labels", `{"name":"VIP"}`).status, 201)
	for n := range e.notices {
		is.True(n.event != "presence" && !strings.Contains(n.data, conversation))
		if strings.Contains(n.data, `"kind":"label"`) {
			break
		}
	}
	is.NoErr(datadir.Dir(s.app.Config.DataDir).SendCommand(t.Context(), datadir.CommandFlush))
	is.Equal(storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM api_log WHERE path LIKE '%presence%'`), []int{0})
}

// What takes the console from somebody ends its streams, and says why.
func TestStreamsEndWithWhatAllowedThem(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	boss, _ := s.joined("boss@example.com", storage.RoleAdmin)
	command := func(change func(tx *storage.Tx, user string) error) func(*browser, storage.User) {
		return func(_ *browser, u storage.User) {
			s.asAnotherProcess(func(tx *storage.Tx) error { return change(tx, u.ID) })
		}
	}
	open, want := make(map[string]*openConsole), make(map[string]string)
	for name, c := range map[string]struct {
		deed func(b *browser, u storage.User)
		want string
	}{
		"sign-out":      {func(b *browser, _ storage.User) { b.open("POST", "/console/sign-out", nil) }, "signed_out"},
		"disabled":      {func(_ *browser, u storage.User) { boss.do("POST", "people/"+u.ID+"/disable", "") }, "disabled"},
		"signed out":    {func(_ *browser, u storage.User) { boss.do("POST", "people/"+u.ID+"/signout", "") }, "signed_out"},
		"role":          {func(_ *browser, u storage.User) { boss.do("PATCH", "people/"+u.ID, `{"role":"admin"}`) }, "role_changed"},
		"session ended": {endOnlySession(boss), "signed_out"},
		"users disable": {command((*storage.Tx).DisableUser), "disabled"},
		"users signout": {command(func(tx *storage.Tx, u string) error { _, err := tx.DeleteUserSessions(u, ""); return err }), "signed_out"},
		"users set":     {command(makeAdmin), "role_changed"},
		"new password": {func(b *browser, u storage.User) {
			other := s.browser()
			other.signIn(*u.Email, goodPassword)
			other.do("PATCH", "profile", `{"password":"battery staple","current_password":"`+goodPassword+`"}`)
		}, "signed_out"},
	} {
		b, u := s.joined(strings.ReplaceAll(name, " ", "")+"@example.com", storage.RoleAgent)
		open[name] = b.watch()
		open[name].named("ready")
		want[name] = `{"reason":"` + c.want + `"}`
		c.deed(b, u)
	}
	for name, stream := range open {
		if _, reason := stream.ends(); reason != want[name] {
			t.Errorf("%s: %s", name, reason)
		}
	}
}

func makeAdmin(tx *storage.Tx, user string) error {
	u, err := tx.UserByID(user)
	if err != nil {
		return err
	}
	u.Role = storage.RoleAdmin
	return tx.UpdateUser(&u)
}

// endOnlySession ends the session of somebody as an admin.
func endOnlySession(boss *browser) func(*browser, storage.User) {
	return func(b *browser, u storage.User) {
		var all struct{ Data []struct{ ID string } }
		json.Unmarshal([]byte(boss.do("GET", "people/"+u.ID+"/sessions", "").body), &all)
		boss.do("DELETE", "people/"+u.ID+"/sessions/"+all.Data[0].ID, "")
	}
}

// asAnotherProcess changes the database as a command does: through a file of its own, and
// then it notifies the server.
func (s *stage) asAnotherProcess(change func(*storage.Tx) error) {
	s.t.Helper()
	dir := datadir.Dir(s.app.Config.DataDir)
	db, err := dir.Open(storage.Options{Schema: storagetest.Schema(s.t)}, "", true)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	storagetest.Update(s.t, db, change)
	if err := dir.SendCommand(context.Background(), datadir.CommandRefresh); err != nil {
		s.t.Fatal(err)
	}
}

func TestAServerThatStopsSaysSo(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var stream *openConsole
	t.Run("server", func(inner *testing.T) { // which stops after it
		s := newStage(inner)
		s.t = t // the client stays
		b, _ := s.joined("ada@example.com", storage.RoleAgent)
		stream = b.watch()
		stream.named("ready")
	})
	_, reason := stream.ends()
	is.Equal(reason, `{"reason":"stopping"}`)
}

func TestSoManyConsolesAndNoMore(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.MaxStreams, c.Server.MaxStreams = 2, 0 })
	b, _ := s.joined("ada@example.com", storage.RoleAgent)
	first, second := b.watch(), b.watch()
	first.named("ready")
	second.named("ready")
	_, status := b.tryToWatch()
	is.Equal(status, 429)
	second.close()
	for status != 200 {
		_, status = b.tryToWatch()
	}
	is.Equal(ask(t, "HEAD", b.base+"/console/api/stream", nil).status, 401)
	is.Equal(s.browser().open("GET", "/console/api/stream", nil).status, 401)
}

// The person with the most consoles open makes way for those with fewer.
func TestOneAgentDoesNotTakeAllStreams(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.MaxStreams = 3 })
	greedy, _ := s.joined("greedy@example.com", storage.RoleAgent)
	colleague, _ := s.joined("ada@example.com", storage.RoleAgent)
	var open []*openConsole
	for range 3 {
		one := greedy.watch()
		one.named("ready")
		open = append(open, one)
	}
	_, status := greedy.tryToWatch()
	is.Equal(status, 429)

	colleague.watch().named("ready")
	_, reason := open[0].ends()
	is.Equal(reason, `{"reason":"stopping"}`) // it may come back, when there is room
	_, status = greedy.tryToWatch()
	is.Equal(status, 429)
}
