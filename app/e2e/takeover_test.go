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
	d.old.env = append(d.old.env, "CONFAB_REPLICA__URL="+d.addressAt(link.URL),
		"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
	d.next = d.standby()
	d.old.start()
	d.next.start()
	d.awaitCopy(d.next)
	return d
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
				time.Sleep(20 * time.Millisecond) // a rate, not a wait
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

// audit compares what was acknowledged with what the new server and the replica have, and with
// what reached the provider. What the old server did after a time may be lost or sent twice, but
// it takes no request that was made after it was gone.
func (d *drill) audit(lost, gone time.Time) {
	d.Helper()
	is := is.New(d)
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
			if first[id].Before(lost) || n > 2 {
				d.Errorf("%s was sent %d times, first %s before the lag began", id, n, lost.Sub(first[id]))
			}
		}
	}

	inReplica := d.restored()
	total, missing := 0, 0
	d.acknowledged.Range(func(id, at any) bool {
		total++
		when := at.(exchange)
		switch has := inReplica[id.(string)]; {
		case !has && when.ended.Before(lost):
			d.Errorf("%v is lost, which was acknowledged %s before the lag began", id, lost.Sub(when.ended))
		case !has && when.began.After(gone):
			d.Errorf("%v is lost, which was asked for %s after the server was gone", id, when.began.Sub(gone))
		case !has:
			missing++
		case copies[id.(string)] == 0:
			d.Errorf("%v was never sent", id)
		}
		return true
	})
	d.Logf("%d acknowledged, %d of them lost within the lag, %d sent twice", total, missing, twice)
	is.True(total > 20)
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

// TestATakeover loses a server in each way, and lets it come back where it can.
func TestATakeover(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		d := newDrill(t)
		stop := d.sends("before")
		time.Sleep(2 * time.Second) // the length of the load
		killAll(t, d.old)
		gone := time.Now()
		d.promote()
		time.Sleep(time.Second) // the length of the load
		stop()
		d.audit(gone.Add(-lagHere), gone)
	})
	t.Run("paused", func(t *testing.T) {
		t.Parallel()
		d := newDrill(t)
		stop := d.sends("before")
		time.Sleep(2 * time.Second) // the length of the load
		if err := d.old.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		gone := time.Now()
		d.promote()
		time.Sleep(13 * time.Second) // longer than messages wait for their callbacks, and than a look may take
		if err := d.old.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		d.ends()
		stop()
		d.audit(gone.Add(-lagHere), gone)
	})
	t.Run("cut off", func(t *testing.T) {
		t.Parallel()
		d := newDrill(t)
		stop := d.sends("before")
		time.Sleep(2 * time.Second) // the length of the load
		d.cut.Store(true)
		lost := time.Now().Add(-lagHere)
		time.Sleep(2 * time.Second) // it goes on, and all of that is its lag
		d.promote()
		promoted := time.Now()
		time.Sleep(time.Second) // the length of the load
		d.cut.Store(false)
		d.ends()
		stop()
		d.audit(lost, promoted) // until it is promoted, requests go to the old one
	})
}

// killAll kills a server with the process that replicates for it.
func killAll(t testing.TB, s *server) {
	t.Helper()
	pid := s.cmd.Process.Pid
	children := childrenOf(pid)
	if len(children) != 1 {
		t.Errorf("the server has %d children", len(children))
	}
	s.kill()
	for _, id := range children {
		_ = syscall.Kill(id, syscall.SIGKILL) // it may have seen its end already
	}
}

// childrenOf are the processes that a process has started.
func childrenOf(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // any thread may have started it
	for _, name := range lists {
		text, _ := os.ReadFile(name) // a thread may have ended
		for id := range strings.FieldsSeq(string(text)) {
			n, _ := strconv.Atoi(id)
			all = append(all, n)
		}
	}
	return all
}

// TestWithoutAReplicaThereIsNoChildAndNoNetwork: replica.url is what switches it on.
func TestWithoutAReplicaThereIsNoChildAndNoNetwork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := objectstest.New(t)
	s := prepareServer(t)
	s.env = append(s.env, "AWS_ENDPOINT_URL="+store.URL, "AWS_ACCESS_KEY_ID="+objectstest.Key, "AWS_SECRET_ACCESS_KEY="+objectstest.Secret,
		"AWS_REGION=us-east-1", "CONFAB_REPLICA__ACCESS_KEY_ID=a", "CONFAB_REPLICA__SECRET_ACCESS_KEY=b")
	s.start()
	insist(t, s, "label")
	is.Equal(len(childrenOf(s.cmd.Process.Pid)), 0)
	s.stop()
	is.Equal(store.Calls(), int64(0))
	for _, name := range []string{"replica", "replica.json", "replica.lock", "standby"} {
		_, err := os.Stat(filepath.Join(s.dir, name))
		is.True(errors.Is(err, os.ErrNotExist))
	}
	info, err := os.Stat(storage.DatabaseFile(s.dir) + "-wal")
	is.True(errors.Is(err, os.ErrNotExist) || info.Size() == 0) // the server folds its log itself
}

// TestBrokenStorageOfTheReplicaIsReported by status and doctor, while the server answers.
func TestBrokenStorageOfTheReplicaIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault objectstest.Fault
		says  string
	}{
		"full":      {objectstest.Full, "the storage is full"},
		"denied":    {objectstest.Denied, "the access key may not do this"},
		"wrong key": {objectstest.WrongKey, "the storage refuses the access key"},
		"silent":    {objectstest.Silent, "did not answer in time"},
		"slow":      {objectstest.Slow(6 * time.Second), "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			store := objectstest.New(t)
			s := prepareServer(t)
			s.env = append(s.env, "CONFAB_REPLICA__URL="+store.Address("confab"),
				"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
			s.start()
			command := func(args ...string) string {
				cmd := confab(t, append(args, "--data-dir", s.dir)...)
				cmd.Env = append(cmd.Env, s.env...)
				out, _ := cmd.CombinedOutput() // doctor finds other things, too
				return string(out)
			}
			is.True(until(func() bool { return !strings.Contains(command("replica", "status"), "Last upload     never") }))

			store.Break(c.fault)
			for n := 0; ; n++ {
				insist(t, s, fmt.Sprint("label ", n))
				status := command("replica", "status")
				if strings.Contains(status, "would be lost with this machine") && strings.Contains(status, c.says) {
					break
				}
				is.True(n < 1000)
			}
			if name == "slow" {
				return // a check of one object succeeds, if one waits
			}
			report := command("doctor", "--quick")
			if !strings.Contains(report, "broken   replica") || !strings.Contains(report, c.says) {
				t.Error(report)
			}
		})
	}
}
