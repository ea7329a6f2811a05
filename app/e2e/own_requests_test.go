package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// attempt makes one request with the sandbox's key.
func (s *killable) attempt(method, path, body string) seen {
	s.t.Helper()
	return askWith(s.t, method, "http://"+s.listen+path, body, "Authorization: Bearer "+s.APIKey, "Content-Type: application/json")
}

// In a sandbox customers' URLs may lead to this machine, but to nothing there that trusts a
// caller because it is on this machine.
func TestNoFetchOfASandboxEndsAtItsOwnControls(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := startKillable(t)
	server := "http://" + s.listen
	proxied := func(target string) string {
		u, err := url.Parse(target)
		is.NoErr(err)
		proxy := httptest.NewServer(httputil.NewSingleHostReverseProxy(u))
		t.Cleanup(proxy.Close)
		return proxy.URL
	}
	redirect := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	}))
	defer redirect.Close()

	port := s.SimulatorURL[strings.LastIndex(s.SimulatorURL, ":")+1:]
	controls := []string{
		s.SimulatorURL + "/_sim/settings", "http://localhost:" + port + "/_sim/settings", "http://localhost:" + port + "/%5fsim/settings",
		"http://[::ffff:127.0.0.1]:" + port + "/_sim/settings", "http://127.0.0.1:0" + port + "/_sim/settings", "http://127.0.0.1:" + port + "//_sim/../_sim/settings",
		redirect.URL + "/?to=" + url.QueryEscape(s.SimulatorURL+"/_sim/settings"), proxied(s.SimulatorURL) + "/_sim/settings",
		server + "/metrics", server + "/console/inbox", server + "/console", server + "/mcp", server + "/console/api/v1/me",
		proxied(server) + "/console/sign-in", redirect.URL + "/?to=" + url.QueryEscape(server+"/metrics"),
	}
	for _, link := range controls {
		body, err := json.Marshal(map[string]string{"link": link})
		is.NoErr(err)
		got := s.attempt("POST", "/v1/"+s.PhoneNumberID+"/media", string(body))
		if got.status != 400 || !strings.Contains(got.body, "it responded with 40") {
			t.Errorf("media of %s: %d %s", link, got.status, got.body)
		}
	}

	// A webhook posts, with headers that a customer chooses.
	for _, target := range []string{s.SimulatorURL + "/_sim/reset", proxied(s.SimulatorURL) + "/_sim/reset", server + "/mcp", server + "/console/sign-in"} {
		body, err := json.Marshal(map[string]any{
			"url": target, "events": []string{"*"}, "custom_headers": map[string]string{"Authorization": "Bearer " + s.APIKey, "Sec-Fetch-Site": "same-origin"},
		})
		is.NoErr(err)
		var made struct{ Data struct{ ID string } }
		is.NoErr(json.Unmarshal(s.call("POST", server+"/v1/webhook_subscriptions", string(body)), &made))
		is.NoErr(json.Unmarshal(s.call("POST", server+"/v1/webhook_subscriptions/"+made.Data.ID+"/test", `{}`), &made))
		var delivery struct {
			Data struct {
				Status         string
				ResponseStatus int `json:"response_status"`
			}
		}
		tried := until(func() bool {
			is.NoErr(json.Unmarshal(s.call("GET", server+"/v1/webhook_deliveries/"+made.Data.ID, ""), &delivery))
			return delivery.Data.ResponseStatus != 0
		})
		if status := delivery.Data.ResponseStatus; !tried || status != 403 && status != 404 {
			t.Errorf("webhook to %s: %+v", target, delivery.Data)
		}
	}

	// The provider asks the URL of a callback whether it expects any.
	for _, target := range []string{s.SimulatorURL + "/_sim/settings", proxied(s.SimulatorURL) + "/_sim/settings", server + "/console/inbox", server + "/metrics"} {
		got := askWith(t, "POST", s.SimulatorURL+"/v23.0/"+s.PhoneNumberID, `{"webhook_configuration":{"override_callback_uri":"`+target+`","verify_token":"x"}}`,
			"Authorization: Bearer "+s.AccessToken, "Content-Type: application/json")
		if got.status != 400 || !strings.Contains(got.body, "HTTP Status Code = 40") {
			t.Errorf("callbacks to %s: %d %s", target, got.status, got.body)
		}
	}

	// Their own receivers and files stay reachable, and so does the control surface for them.
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a note") }))
	defer files.Close()
	var media struct{ Data struct{ URL string } }
	is.NoErr(json.Unmarshal(s.call("POST", server+"/v1/"+s.PhoneNumberID+"/media", `{"link":"`+files.URL+`/note.txt"}`), &media))
	is.Equal(s.attempt("POST", "/v1/"+s.PhoneNumberID+"/media", `{"link":"`+media.Data.URL+`"}`).status, 201)
	is.Equal(askWith(t, "GET", s.SimulatorURL+"/_sim/settings", "").status, 200)
}
