package simulator

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// reopen closes a simulator and starts another on the same file.
func (b *bench) reopen() {
	b.t.Helper()
	b.NoErr(b.s.Close())
	opt := b.s.opt
	opt.AppID, opt.AppSecret, opt.VerifyToken, opt.AccessToken, opt.WebhookURL = "", "", "", "", "" // they are remembered
	s, err := New(opt)
	b.NoErr(err)
	b.t.Cleanup(func() { s.Close() })
	server := httptest.NewServer(s)
	b.t.Cleanup(server.Close)
	b.s, b.url = s, server.URL
}

// settled waits until the simulator has read the answers to its callbacks: one
// that is closed before that sends them again.
func (b *bench) settled() {
	b.t.Helper()
	pending := func() int {
		b.s.mu.Lock()
		defer b.s.mu.Unlock()
		return b.s.outbox.pending
	}
	for end := time.Now().Add(patience); pending() > 0; time.Sleep(time.Millisecond) {
		b.True(time.Now().Before(end)) // callbacks are still under way
	}
}

func saved(t *testing.T) func(*Options) {
	return func(o *Options) { o.StateFile = filepath.Join(t.TempDir(), "state.json") }
}

func TestARestartKeepsTheWorld(t *testing.T) {
	b := newBench(t, saved(t))
	creds := b.s.Credentials()
	template, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	media := b.upload("/"+b.number.PhoneNumberID+"/media", "image/png", png, "messaging_product", "whatsapp").text("id")
	upload := b.graph("POST", "/"+creds.AppID+"/uploads?file_name=a.png&file_length=10&file_type=image/png", nil).text("id")
	sent := b.sentID(b.text("+16505551234"))
	b.app.next()
	b.sim("POST", "/inbound", object{"from": "16505551234", "name": "Ann", "text": "x"})
	b.app.next()
	b.sim("POST", "/faults", object{"kind": "http_500", "endpoint": "register"})
	b.graph("POST", "/"+b.number.PhoneNumberID, object{"pin": "123456"})
	code := b.sim("POST", "/signup", object{}).text("code")
	b.app.next()
	b.sim("PATCH", "/settings", object{"read_ms": 7, "service_window": true})

	b.settled()
	b.reopen()
	b.Equal(b.s.Credentials(), creds)
	b.Equal(b.s.Numbers()[0].PIN, "123456")
	b.Equal(len(b.s.Numbers()), 2)
	b.Equal(*b.s.Settings().ReadMS, int64(7))
	b.True(b.s.ServiceWindowOpen(b.number.PhoneNumberID, "16505551234"))
	b.Equal(len(b.sim("GET", "/faults", nil).list("data")), 1)
	m := asObject(b.sim("GET", "/messages", nil).list("data")[0])
	b.Equal(m.text("id"), sent)
	b.Equal(m.text("status"), "sent")
	b.Equal(m.child("request").child("text").text("body"), "hello")
	b.Equal(b.graph("GET", "/"+template, nil).text("status"), "APPROVED")
	info := b.graph("GET", "/"+media, nil)
	b.Equal(b.do("GET", strings.TrimPrefix(info.text("url"), b.url), nil, "Authorization", "Bearer "+testToken).raw, png)
	b.Equal(b.graph("GET", "/"+upload, nil).text("file_offset"), "0")
	r := b.do("GET", "/oauth/access_token?client_id="+creds.AppID+"&client_secret="+creds.AppSecret+"&code="+code, nil)
	b.Equal(r.status, 200)
	b.sentID(b.text("16505551234"))
	b.Equal(b.app.next().statusOf(t).text("status"), "sent") // and callbacks still go there
}

func TestCallbacksUnderWayOutliveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		up := false
		var got []string
		client := &http.Client{Transport: memory(func(r *http.Request) *http.Response {
			if !up {
				return answer(http.StatusInternalServerError)
			}
			var body bytes.Buffer
			body.ReadFrom(r.Body)
			for _, h := range hooksIn(t, body.Bytes()) {
				if h.value.has("statuses") {
					got = append(got, h.statusOf(t).text("status"))
				} else {
					got = append(got, h.messageOf(t).text("type"))
				}
			}
			return answer(http.StatusOK)
		})}
		opt := Options{WebhookURL: "http://app/", CallbackClient: client, AccessToken: testToken, StateFile: file}
		s, err := New(opt)
		is.NoErr(err)
		b := &still{I: is, t: t, s: s}
		b.n, err = s.AddNumber(Number{})
		is.NoErr(err)
		_, err = s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
		is.NoErr(err)
		time.Sleep(5 * time.Second) // some attempts have failed
		status, _ := b.send("16505551234")
		is.Equal(status, 200)
		time.Sleep(100 * time.Millisecond) // sent was tried, delivered is to come
		is.NoErr(s.Close())

		up = true
		s, err = New(opt)
		is.NoErr(err)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.NoErr(s.Close())
		is.Equal(len(got), 3)
		for _, want := range []string{"text", "sent", "delivered"} {
			is.True(strings.Contains(fmt.Sprint(got), want))
		}
	})
}

func TestTheStateIsSavedInTheBackground(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, file)
		defer b.s.Close()
		b.send("16505551234")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		state, err := os.ReadFile(file)
		b.NoErr(err)
		b.True(bytes.Contains(state, []byte(b.n.PhoneNumberID)))
		b.True(bytes.Contains(state, []byte("wamid.")))
		info, err := os.Stat(file)
		b.NoErr(err)
		b.Equal(info.Mode().Perm(), os.FileMode(0o600)) // it holds secrets
	})
}

func TestAKilledSimulatorLosesNothingThatWasSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, file)
		defer b.s.Close()
		b.send("16505551234")
		time.Sleep(time.Second) // it is saved while it runs
		synctest.Wait()
		other, err := New(Options{StateFile: file}) // as if the first one had been killed
		b.NoErr(err)
		defer other.Close()
		b.Equal(len(other.messages.all), 1)
		b.Equal(other.messages.all[0], b.s.messages.all[0])
		b.Equal(other.Numbers(), b.s.Numbers())
		b.Equal(other.Credentials(), b.s.Credentials())
	})
}

func TestTheOldestMessagesAreForgotten(t *testing.T) {
	b := newBench(t, saved(t), func(o *Options) { o.MaxMessages = 10 })
	b.settings(func(set *Settings) { set.SentMS = nil })
	var ids []string
	for i := range 100 {
		ids = append(ids, b.sentID(b.text("16505551234")))
		if i%20 == 0 {
			b.NoErr(b.s.save())
		}
	}
	for range 2 {
		list := b.sim("GET", "/messages", nil).list("data")
		b.Equal(len(list), 10)
		b.Equal(asObject(list[0]).text("id"), ids[90])
		b.s.mu.Lock()
		b.Equal(len(b.s.messages.byID), 10)
		b.True(len(b.s.messages.all) <= 40) // memory is freed
		b.s.mu.Unlock()
		b.reopen()
	}
	state, err := os.ReadFile(b.s.opt.StateFile)
	b.NoErr(err)
	b.Equal(bytes.Count(state, []byte(`{"k":"message"`)), 10) // and so is the disk
}

func TestAStateFileThatIsNotOursIsRefused(t *testing.T) {
	is := is.New(t)
	for _, content := range []string{"nonsense", `{"k":"head","v":{"version":99}}`, `{"k":"spaceship","v":{}}`, `{"k":"number","v":5}`} {
		file := filepath.Join(t.TempDir(), "state")
		is.NoErr(os.WriteFile(file, []byte(content), 0o600))
		_, err := New(Options{StateFile: file})
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), file)) // it says which
		kept, err := os.ReadFile(file)
		is.NoErr(err)
		is.Equal(string(kept), content) // and leaves it alone
	}
}

func TestAFailedSaveIsReportedAndMadeUpFor(t *testing.T) {
	b := newBench(t, saved(t))
	b.settings(func(set *Settings) { set.SentMS = nil })
	b.NoErr(b.s.save())
	file := b.s.opt.StateFile
	b.NoErr(os.Remove(file))
	b.NoErr(os.MkdirAll(file, 0o700)) // it cannot be replaced by a file
	id := b.sentID(b.text("16505551234"))
	b.True(b.s.save() != nil)
	b.NoErr(os.Remove(file))
	b.reopen()
	b.Equal(asObject(b.sim("GET", "/messages", nil).list("data")[0]).text("id"), id)
}

func TestWhatACrashLeftHalfWrittenIsRemoved(t *testing.T) {
	b := newBench(t, saved(t))
	for _, name := range []string{".state.json-123", ".state.json-45"} {
		path := filepath.Join(filepath.Dir(b.s.opt.StateFile), name)
		b.NoErr(os.WriteFile(path, []byte("{"), 0o600))
		b.reopen()
		_, err := os.Stat(path)
		b.True(os.IsNotExist(err)) // name
	}
}
