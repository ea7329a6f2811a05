package e2e

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// cookieLine are the cookies as a header has them.
func (b *browser) cookieLine() string {
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+value)
	}
	return strings.Join(pairs, "; ")
}

// askWith sends a body, as no form.
func askWith(t testing.TB, method, target, body string, header ...string) seen {
	t.Helper()
	req, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return seen{status: res.StatusCode, header: res.Header, body: string(text)}
}

// play calls the played provider through the console.
func (b *browser) play(method, path, body string, header ...string) seen {
	b.s.t.Helper()
	if len(b.cookies) > 0 {
		header = append(header, "Cookie: "+b.cookieLine())
	}
	if body != "" {
		header = append(header, "Content-Type: application/json")
	}
	return askWith(b.s.t, method, b.base+"/console/api/sim/"+path, body, append(header, "Sec-Fetch-Site: same-origin")...)
}

func TestAServerThatIsNoSandboxHasNoPhone(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	admin, _ := s.joined("ada@example.com", storage.RoleAdmin)
	for _, path := range []string{"people", "stream", "settings", "calls", "people/15550001111/messages"} {
		is.Equal(admin.play("GET", path, "").status, 404)
	}
	is.Equal(admin.play("POST", "inbound", `{"from":"15550001111","text":"hi"}`).status, 404)
	is.True(!strings.Contains(admin.open("GET", "/console/inbox", nil).body, "Phone"))
	is.Equal(ask(t, "GET", s.app.URL()+"/_phone/", nil).status, 404)
}

func TestTheConsoleOfASandboxReachesTheProviderAndNothingElse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, _ := sandboxed(t)
	number := s.connect()
	admin, _ := s.joined("ada@example.com", storage.RoleAdmin)
	agent, _ := s.joined("bo@example.com", storage.RoleAgent)
	is.Equal(admin.play("POST", "people", `{"phone_number":"+15550001111","name":"Ana"}`).status, 200)
	is.Equal(admin.play("POST", "inbound", `{"from":"15550001111","text":"hi"}`).status, 200)
	is.True(strings.Contains(admin.play("GET", "people/15550001111/messages", "").body, `"body":"hi"`))

	is.Equal(agent.play("GET", "people", "").status, 403)
	is.Equal(s.browser().play("GET", "people", "").status, 401)
	is.Equal(admin.play("GET", "people", "", "Host: evil.test").status, 403)
	other := askWith(t, "POST", s.app.URL()+"/console/api/sim/reset", "{}", "Content-Type: application/json", "Origin: https://evil.test", "Cookie: "+admin.cookieLine())
	is.Equal(other.status, 403)
	is.Equal(admin.play("POST", "inbound", `{"from":"nobody"}`).status, 400) // its own errors come through

	// No path leads out of /_sim: not to the provider's own API, nor to ours.
	for _, path := range []string{
		"", "../" + number, "..%2f" + number, "%2e%2e/" + number, "people/../../" + number, "./people", "/people", "people//x", "..", "%2e%2e", "people/%2e%2e/%2e%2e/" + number,
		"..%5c" + number, "nothing", "../../v1/me", "../v1/me",
	} {
		got := admin.play("GET", path, "")
		is.True(got.status == 404 || got.status == 401 && strings.HasPrefix(path, "../../v1") || got.status == 200 && path == "../v1/me") // ../v1/me is the console's own
		is.True(!strings.Contains(got.body, "display_phone_number"))
	}
}

func TestTheStreamOfTheProviderPassesThroughAndEndsWithTheSession(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, _ := sandboxed(t)
	s.connect()
	admin, _ := s.joined("ada@example.com", storage.RoleAdmin)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", admin.base+"/console/api/sim/stream", nil)
	is.NoErr(err)
	req.Header.Set("Cookie", admin.cookieLine())
	res, err := http.DefaultClient.Do(req)
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.Header.Get("Content-Type"), "text/event-stream")
	is.Equal(admin.play("POST", "inbound", `{"from":"15550001111","text":"hi"}`).status, 200)
	lines := bufio.NewScanner(res.Body)
	reported := false
	for !reported && lines.Scan() {
		reported = strings.Contains(lines.Text(), `"body":"hi"`)
	}
	is.True(reported)
	admin.open("POST", "/console/sign-out", nil)
	for lines.Scan() { // until it ends
	}
}

func TestASuspendedOrganizationCannotPlayTheProvider(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, _ := sandboxed(t)
	admin, user := s.joined("ada@example.com", storage.RoleAdmin)
	req, err := http.NewRequestWithContext(t.Context(), "GET", admin.base+"/console/api/sim/stream", nil)
	is.NoErr(err)
	req.Header.Set("Cookie", admin.cookieLine())
	res, err := http.DefaultClient.Do(req)
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.StatusCode, 200)

	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		o, err := tx.OrganizationByID(user.OrganizationID)
		if err != nil {
			return err
		}
		o.SuspendedAt = tx.Now
		return tx.UpdateOrganization(&o)
	})
	io.Copy(io.Discard, res.Body) // until it ends
	got := admin.play("GET", "people", "")
	is.Equal(got.status, 403)
	is.True(strings.Contains(got.body, `"organization_suspended"`))
}

// TestTheTokenOfTheProviderIsAddedByTheServer: no browser knows it, and what the
// browser says instead does not count.
func TestTheTokenOfTheProviderIsAddedByTheServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	sim, err := simulator.New(simulator.Options{ControlToken: "sim_secret"})
	is.NoErr(err)
	defer sim.Close()
	var you string
	s := startStage(t, func(o *app.Options, _ *simulator.Server) {
		o.SandboxUser, o.Simulator = func() string { return you }, func() http.Handler { return sim.Control() }
	})
	admin, user := s.joined("ada@example.com", storage.RoleAdmin)
	you = user.ID
	is.Equal(admin.play("GET", "people", "", "Authorization: Bearer wrong").status, 200)
	direct := httptest.NewServer(sim)
	defer direct.Close()
	is.Equal(ask(t, "GET", direct.URL+"/_sim/people", nil).status, 401) // and it is demanded
}

// rawStatus sends a request as bytes, as no client would, and returns the status and the answer.
func rawStatus(t *testing.T, address, head string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(head, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// TestNothingButCallsOfSimPassesThroughTheConsole: not absolute URLs, other methods, upgrades, nor
// slashes in disguise.
func TestNothingButCallsOfSimPassesThroughTheConsole(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, _ := sandboxed(t)
	number := s.connect()
	admin, _ := s.joined("ada@example.com", storage.RoleAdmin)
	address := s.app.Config.Server.Listen
	tail := " HTTP/1.1\nHost: " + address + "\nCookie: " + admin.cookieLine() + "\nSec-Fetch-Site: same-origin\nConnection: close\n"
	const sim = "/console/api/sim/"

	for head, want := range map[string]int{
		"GET " + sim + "people" + tail: 200,

		// The provider's own API is not there, however the way to it is written.
		"GET " + sim + "people%2f..%2f..%2f" + number + tail:           404,
		"GET " + sim + "people%2F%2E%2E%2F%2e%2e%2F" + number + tail:   404,
		"GET " + sim + "x/..%2f..%2f" + number + tail:                  404,
		"GET " + sim + "people;/../../" + number + tail:                404,
		"GET " + sim + "people%00" + tail:                              404,
		"GET " + sim + "v25.0/" + number + tail:                        404,
		"GET " + sim + "_sim/people" + tail:                            404,
		"GET " + sim + "http:%2f%2f127.0.0.1:1%2f_sim%2fpeople" + tail: 404,
		"GET http://evil.test" + sim + "people" + tail:                 403, // the URL's host counts, and is another's
		"GET http://" + address + sim + "people" + tail:                200, // the same, written in full
		"GET http://" + address + sim + "../../../" + number + tail:    404,
		"GET " + sim + "http://evil.test/_sim/people" + tail:           404,
		"GET " + sim + "//evil.test/people" + tail:                     404,
		"GET " + sim + "messages/wamid.a%2Fb%3D/status" + tail:         404, // no such message, and no such GET
		"POST " + sim + "messages" + tail + "Content-Length: 0\n":      404,
		"PUT " + sim + "people" + tail + "Content-Length: 0\n":         404,
		"OPTIONS " + sim + "people" + tail:                             404,
		"TRACE " + sim + "people" + tail:                               404,
		"PROPFIND " + sim + "people" + tail:                            404,
		"CONNECT " + sim + "people" + tail:                             404,
	} {
		status, body := rawStatus(t, address, head+"\n")
		if status != want {
			t.Errorf("%s: %d %s", strings.SplitN(head, "\n", 2)[0], status, body)
		}
		is.True(!strings.Contains(body, "display_phone_number"))
		is.True(!strings.Contains(body, s.sim.Credentials().AccessToken))
	}

	// JSON only, and from this origin only.
	plain := askWith(t, "POST", s.app.URL()+sim+"reset", "{}", "Cookie: "+admin.cookieLine(), "Sec-Fetch-Site: same-origin", "Content-Type: text/plain")
	is.Equal(plain.status, 415)

	// An upgrade is none: the answer is that of the plain request.
	for _, path := range []string{"people", "stream/x", "codes"} {
		status, _ := rawStatus(t, address, "GET "+sim+path+" HTTP/1.1\nHost: "+address+"\nCookie: "+admin.cookieLine()+
			"\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n\n")
		is.True(status != 101)
	}
}
