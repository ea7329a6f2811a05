package simulator

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.uber.org/goleak"
)

func TestCloseLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	is := is.New(t)
	reported := make(chan struct{}, 10)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reported <- struct{}{} }))
	s, err := New(Options{StateFile: filepath.Join(t.TempDir(), "state"), WebhookURL: app.URL})
	is.NoErr(err)
	_, err = s.AddNumber(Number{})
	is.NoErr(err)
	_, err = s.Inbound(map[string]any{"from": "+15550001111", "text": "hi"})
	is.NoErr(err)
	<-reported
	is.NoErr(s.Close())
	app.Close()
	goleak.VerifyNone(t, before)
}

func TestAReceiverThatHangsDoesNotHoldUpClose(t *testing.T) {
	is := is.New(t)
	asked, leave := make(chan struct{}), make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-leave
	}))
	defer app.Close()
	defer close(leave)
	file := filepath.Join(t.TempDir(), "state")
	s, err := New(Options{StateFile: file, WebhookURL: app.URL})
	is.NoErr(err)
	_, err = s.AddNumber(Number{})
	is.NoErr(err)
	_, err = s.Inbound(map[string]any{"from": "+15550001111", "text": "hi"})
	is.NoErr(err)
	<-asked
	is.NoErr(s.Close()) // which waits for no answer
	s, err = New(Options{StateFile: file})
	is.NoErr(err)
	defer s.Close()
	s.mu.Lock()
	is.Equal(len(s.undelivered()), 1) // and keeps what was not taken
	s.mu.Unlock()
}

func TestTwoSimulatorsMakeUpDifferentCredentials(t *testing.T) {
	is := is.New(t)
	a, err := New(Options{})
	is.NoErr(err)
	defer a.Close()
	b, err := New(Options{})
	is.NoErr(err)
	defer b.Close()
	x, y := a.Credentials(), b.Credentials()
	is.True(x.AppID != y.AppID && x.AppSecret != y.AppSecret && x.AccessToken != y.AccessToken && x.VerifyToken != y.VerifyToken)
	is.True(strings.HasPrefix(x.AccessToken, "EAA"))
}
