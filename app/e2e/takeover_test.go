package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/tools/rig"
	"confab/app/tools/rig/rigtest"
	"confab/storage"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// drill is a server that replicates, a standby of it, and what clients and the provider see
// of them: one address, which is moved when the standby takes over.
type drill struct {
	*testing.T
	sim          *simulated
	old, next    *server
	client       *server // at the address that is moved
	target       atomic.Pointer[url.URL]
	cut          atomic.Bool // the old server cannot reach the storage
	storage      *objectstest.Server
	acknowledged sync.Map // id of a message → exchange
}

// exchange is when a request was made, and when it was answered.
type exchange struct{ began, ended time.Time }

// newDrill starts the server and its standby.
func newDrill(t *testing.T) *drill {
	t.Helper()
	d := &drill{T: t, storage: objectstest.New(t)}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(d.target.Load()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(front.Close)
	bucket, err := url.Parse(d.storage.URL)
	if err != nil {
		t.Fatal(err)
	}
	toStorage := httputil.NewSingleHostReverseProxy(bucket)
	link := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.cut.Load() {
			panic(http.ErrAbortHandler)
		}
		toStorage.ServeHTTP(w, r)
	}))
	t.Cleanup(link.Close)

	d.old = prepareServer(t)
	d.client = &server{t: t, address: strings.TrimPrefix(front.URL, "http://"), key: d.old.key, output: d.old.output}
	d.move(d.old)
	d.sim = simulate(t, d.client)
	d.sim.connect(d.old)
	d.old.env = append(d.old.env, "CONFAB_REPLICA__URL="+d.addressAt(link.URL), "CONFAB_REPLICA__INTERVAL=50ms",
		"CONFAB_PROVIDER__RECONCILE_WINDOW=3s", rigtest.ClockStep+"=1h",
		"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
	d.next = d.standby()
	d.old.start()
	d.next.start()
	d.awaitCopy(d.next)
	d.saysWhatItIs(d.next)
	return d
}

// saysWhatItIs wants a standby to live, to be not ready, and to say what it is.
func (d *drill) saysWhatItIs(s *server) {
	d.Helper()
	is := is.New(d)
	is.Equal(askWith(d, "GET", "http://"+s.address+"/livez", "").status, 200)
	is.True(strings.HasPrefix(readyzOf(d, s), "503 standby, "))
	page := askWith(d, "GET", "http://"+s.address+"/", "")
	is.Equal(page.status, 200)
	is.True(strings.Contains(page.body, "<h1>This is a standby</h1>"))
	is.Equal(askWith(d, "GET", "http://"+s.address+"/v1/me", "").status, 503)
}

// addressAt is the replica at an endpoint.
func (d *drill) addressAt(endpoint string) string {
	return strings.Replace(d.storage.Address("confab"), url.QueryEscape(d.storage.URL), url.QueryEscape(endpoint), 1)
}

// standby prepares a standby, on an empty directory with the key.
func (d *drill) standby() *server {
	d.Helper()
	s := &server{t: d, dir: filepath.Join(d.TempDir(), "standby"), address: freeAddress(d), key: d.old.key, env: d.old.env,
		args: []string{"standby", d.storage.Address("confab")}}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		d.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(d.old.dir, storage.MasterKeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, storage.MasterKeyFile), key, 0o600)
	}
	if err != nil {
		d.Fatal(err)
	}
	return s
}

// awaitCopy waits until a standby has a copy.
func (d *drill) awaitCopy(s *server) {
	d.Helper()
	if !until(func() bool { return strings.Contains(readyzOf(d, s), "s behind") }) {
		d.Fatalf("the standby has no copy: %s: %s", readyzOf(d, s), s.output)
	}
}

// readyzOf is what a server says about itself.
func readyzOf(t testing.TB, s *server) string {
	t.Helper()
	res, err := http.Get("http://" + s.address + "/readyz")
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	text := make([]byte, 200)
	n, _ := res.Body.Read(text)
	return strconv.Itoa(res.StatusCode) + " " + string(text[:n])
}

// move moves the address of clients and provider to a server.
func (d *drill) move(to *server) { d.target.Store(&url.URL{Scheme: "http", Host: to.address}) }

// promote makes the standby the server, as a person does, and moves the address.
func (d *drill) promote() {
	d.Helper()
	began := time.Now()
	cmd := confab(d, "promote", "--data-dir", d.next.dir)
	cmd.Env = append(cmd.Env, d.next.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.Fatalf("promote: %v: %s: %s", err, out, d.next.output)
	}
	d.Logf("promoted in %s", time.Since(began))
	d.move(d.next)

	database, err := os.Stat(storage.DatabaseFile(d.next.dir))
	if err != nil || database.Mode().Perm() != 0o600 {
		d.Fatalf("the database is for others too: %v %v", database.Mode(), err)
	}
}

// sends keeps sending messages until the returned function is called.
func (d *drill) sends(name string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for c := range 3 {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				began := time.Now()
				r, err := d.client.send(ctx, "POST", "/v1/"+d.sim.Number+"/messages", fmt.Sprintf(
					`{"messaging_product":"chat","to":"+1555%d00%04d","type":"text","text":{"body":"%s %d.%d"}}`, c, n, name, c, n))
				if err == nil && r.status == 200 {
					d.acknowledged.Store(r.body["data"].(map[string]any)["id"].(string), exchange{began, time.Now()})
				}
				time.Sleep(60 * time.Millisecond) // a rate, not a wait
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// ends waits for the end of the old server, which must say who superseded it.
func (d *drill) ends() {
	d.Helper()
	select {
	case err := <-d.old.ended:
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 1 || !strings.Contains(d.old.output.String(), "was superseded by the one on") {
			d.Fatalf("the old server ended: %v: %s", err, d.old.output)
		}
	case <-time.After(patience):
		d.Fatal("the old server goes on")
	}
}

// loss is what may be lost, and sent twice.
type loss struct {
	since, until time.Time // when the old server acknowledged, and called the provider
	// isLate reports whether an exchange is one that the old server must not have acknowledged.
	isLate func(exchange) bool
}

// audit compares what was acknowledged with what the new server and the replica have, and with
// what reached the provider.
func (d *drill) audit(may loss) {
	d.Helper()
	d.next.awaitNone(d.sim.Number, "queued", "pending")
	var all struct {
		Data []struct {
			At      time.Time `json:"created_at"`
			Request struct {
				Tag string `json:"biz_opaque_callback_data"`
			}
		}
	}
	d.sim.do("GET", "/_sim/messages", "", &all)
	first, copies := make(map[string]time.Time), make(map[string]int)
	for _, m := range all.Data {
		if was, ok := first[m.Request.Tag]; !ok || m.At.Before(was) {
			first[m.Request.Tag] = m.At
		}
		copies[m.Request.Tag]++
	}
	twice := 0
	for id, n := range copies {
		if n > 1 {
			twice++
			if at := first[id]; at.Before(may.since) || at.After(may.until) || n > 2 {
				d.Errorf("%s was sent %d times, first %s after the lag began", id, n, at.Sub(may.since))
			}
		}
	}

	inReplica := d.restored()
	total, missing := 0, 0
	d.acknowledged.Range(func(id, at any) bool {
		total++
		when := at.(exchange)
		switch has := inReplica[id.(string)]; {
		case !has && when.ended.Before(may.since):
			d.Errorf("%v is lost, which was acknowledged %s before the lag began", id, may.since.Sub(when.ended))
		case !has && may.isLate(when):
			d.Errorf("%v is lost, which was acknowledged too late, %s after the lag began", id, when.ended.Sub(may.since))
		case !has:
			missing++
		case copies[id.(string)] == 0:
			d.Errorf("%v was never sent", id)
		}
		return true
	})
	d.Logf("%d acknowledged, %d of them lost within the lag, %d sent twice", total, missing, twice)
}

// restored are the messages that a restore of the replica has, once it has all.
func (d *drill) restored() map[string]bool {
	d.Helper()
	d.next.stop() // which sends the rest
	elsewhere := d.standby()
	cmd := confab(d, "restore", d.storage.Address("confab"), "--data-dir", elsewhere.dir)
	cmd.Env = append(cmd.Env, elsewhere.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.Fatalf("restore: %v: %s", err, out)
	}
	found := make(map[string]bool)
	for _, id := range storagetest.Select[string](d, elsewhere.dir, `SELECT id FROM messages`) {
		found[id] = true
	}
	return found
}

// lagHere is how much may be lost here, where others use the machine: the bar of a second is the
// benchmark's.
const lagHere = 5 * time.Second

// lostAt is what may be lost with a server that was gone at a time: it acknowledges nothing once
// the other was promoted, not even what it was asked for before, and it calls nobody.
func (d *drill) lostAt(gone, promoted time.Time) loss {
	return loss{
		since: gone.Add(-lagHere), until: gone.Add(time.Second), // what was on its way to the provider
		isLate: func(e exchange) bool { return e.ended.After(promoted) },
	}
}

// signal sends a signal to the old server.
func (d *drill) signal(s os.Signal) {
	d.Helper()
	if err := d.old.cmd.Process.Signal(s); err != nil {
		d.Fatal(err)
	}
}

// goesOn waits until some more messages were acknowledged.
func (d *drill) goesOn() {
	d.Helper()
	count := func() (n int) {
		d.acknowledged.Range(func(any, any) bool { n++; return true })
		return n
	}
	before := count()
	if !until(func() bool { return count() > before+20 }) {
		d.Fatal("no messages are acknowledged any more")
	}
}

// TestATakeover loses a server in each way, and lets it come back where it can.
func TestATakeover(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*drill){
		"killed": func(*drill) {},
		"killed after its clock was set ahead": func(d *drill) {
			d.signal(syscall.SIGUSR1)
			d.goesOn()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDrill(t)
			stop := d.sends("before")
			d.goesOn()
			lose(d)
			rig.Lose(d.old.cmd.Process.Pid)
			gone := time.Now()
			d.promote()
			promoted := time.Now()
			d.goesOn()
			stop()
			d.audit(d.lostAt(gone, promoted))
		})
	}
	t.Run("paused", func(t *testing.T) {
		t.Parallel()
		d := newDrill(t)
		stop := d.sends("before")
		d.goesOn()
		d.signal(syscall.SIGSTOP)
		gone := time.Now()
		d.promote()
		promoted := time.Now()
		time.Sleep(time.Until(gone.Add(4 * time.Second))) // longer than a process is merely busy
		d.signal(syscall.SIGCONT)
		d.ends()
		stop()
		d.audit(d.lostAt(gone, promoted))
	})
	t.Run("cut off", func(t *testing.T) {
		t.Parallel()
		d := newDrill(t)
		stop := d.sends("before")
		d.goesOn()
		d.cut.Store(true)
		since := time.Now().Add(-lagHere)
		d.goesOn() // and all of that is its lag
		d.promote()
		promoted := time.Now()
		d.goesOn()
		d.cut.Store(false)
		d.ends()
		until := time.Now()
		stop()
		// Until it is promoted, requests go to the old one, which cannot know.
		d.audit(loss{since: since, until: until, isLate: func(e exchange) bool { return e.began.After(promoted) }})
	})
}
