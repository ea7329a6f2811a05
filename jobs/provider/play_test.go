package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tokenText = "EAAGsecretTokenText123"
	appSecret = "app-secret-text-456"
)

var token = NewToken(tokenText)

// seen is a request as the played provider received it.
type seen struct {
	Method, Path, Query, Auth, Type, Body string
	Header                                http.Header
}

// play starts a provider that hands each request to h, and a client for it.
func play(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return dial(t, Options{BaseURL: server.URL, Version: "v23.0", AppID: "4242"})
}

// dial makes a client and closes it at the end.
func dial(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// says plays a provider that gives one answer to everything and records what it
// was asked.
func says(t *testing.T, status int, body string) (*Client, *seen) {
	t.Helper()
	got := new(seen)
	return play(t, func(w http.ResponseWriter, r *http.Request) {
		*got = record(r)
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}), got
}

func record(r *http.Request) seen {
	body, _ := io.ReadAll(r.Body)
	return seen{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery,
		Auth: r.Header.Get("Authorization"), Type: r.Header.Get("Content-Type"),
		Body: string(body), Header: r.Header,
	}
}

// roundTripper is a transport made of a function, for what no server can do.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through makes a client over such a transport.
func through(t *testing.T, f roundTripper) *Client {
	t.Helper()
	return dial(t, Options{BaseURL: "https://provider.test", Version: "v23.0", AppID: "4242", AppSecret: appSecret, Transport: f})
}

// reply makes a successful answer.
func reply(r *http.Request, body string) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}

// failure asserts the kind of an error.
func failure(t *testing.T, err error, code string, transient bool, outcome Outcome) {
	t.Helper()
	is := is.New(t)
	is.True(err != nil)
	is.Equal(string(ClassOf(err).Code), code)
	is.Equal(IsTransient(err), transient)
	is.Equal(OutcomeOf(err), outcome)
}

const accepted = `{"messaging_product":"whatsapp","contacts":[{"input":"+16505551234","wa_id":"16505551234"}],"messages":[{"id":"wamid.HBgL","message_status":"accepted"}]}`
