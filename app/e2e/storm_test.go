package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// simulated is a simulator in a process of its own.
type simulated struct {
	t       testing.TB
	address string
	Number  string `json:"phone_number_id"`
	App     string `json:"app_id"`
	WABA    string `json:"waba_id"`
}

const stormSecret = "storm-secret"

// simulate starts a simulator whose app is a server, and waits until it answers.
// It limits nothing, and reports each message as sent at once.
func simulate(t testing.TB, s *server) *simulated {
	t.Helper()
	sim := &simulated{t: t, address: freeAddress(t)}
	dir := filepath.Join(t.TempDir(), "simulator")
	cmd := confab(t, "simulator", "--listen", sim.address, "--data-dir", dir, "--webhook-url", "http://"+s.address+"/provider/webhook",
		"--app-secret", stormSecret, "--verify-token", "v", "--access-token", "storm-token")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	answered := until(func() bool {
		res, err := http.Get("http://" + sim.address + "/_sim/settings")
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	if !answered {
		t.Fatal("the simulator did not answer")
	}
	text, err := os.ReadFile(filepath.Join(dir, "simulator.json"))
	if err == nil {
		err = json.Unmarshal(text, sim)
	}
	if err != nil {
		t.Fatal(err)
	}
	sim.do("PATCH", "/_sim/settings", `{"sent_ms":5,"delivered_ms":null,"read_ms":null,"service_window":false,"messages_per_second":0,"pair_limit":false}`, nil)
	return sim
}

// do calls the control surface and reads the answer into out, unless that is nil.
func (sim *simulated) do(method, path, body string, out any) {
	sim.t.Helper()
	req, err := http.NewRequest(method, "http://"+sim.address+path, strings.NewReader(body))
	if err != nil {
		sim.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		sim.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		sim.t.Fatalf("%s %s: %s", method, path, res.Status)
	}
	if out != nil {
		if err := json.NewDecoder(res.Body).Decode(out); err != nil {
			sim.t.Fatal(err)
		}
	}
}

// copies counts how often the provider took each message, by our id.
func (sim *simulated) copies() map[string]int {
	sim.t.Helper()
	var list struct {
		Data []struct {
			Request struct {
				Tag string `json:"biz_opaque_callback_data"`
			}
		}
	}
	sim.do("GET", "/_sim/messages", "", &list)
	counts := make(map[string]int)
	for _, m := range list.Data {
		counts[m.Request.Tag]++
	}
	return counts
}

// connect makes the simulator's number an account of a server that is down.
func (sim *simulated) connect(s *server) {
	sim.t.Helper()
	db, err := storage.Open(storagetest.Options(sim.t, s.dir))
	if err != nil {
		sim.t.Fatal(err)
	}
	defer db.Close()
	storagetest.Update(sim.t, db, func(tx *storage.Tx) error {
		all, err := tx.Organizations()
		if err != nil {
			return err
		}
		teams, err := tx.Teams(all[0].ID)
		if err != nil {
			return err
		}
		return tx.InsertAccount(&storage.Account{OrganizationID: all[0].ID, TeamID: teams[0].ID, PhoneNumberID: &sim.Number, WABAID: &sim.WABA,
			PhoneNumber: new("+15550100200"), Status: storage.AccountConnected}, "storm-token")
	})
	s.env = []string{
		"CONFAB_PROVIDER__BASE_URL=http://" + sim.address, "CONFAB_PROVIDER__APP_SECRET=" + stormSecret, "CONFAB_PROVIDER__VERIFY_TOKEN=v",
		"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false",
		// A callback that failed for seven seconds, while the server was down, comes
		// again eight seconds later.
		"CONFAB_PROVIDER__RECONCILE_WINDOW=10s",
	}
}

// TestKillingTheServerNeitherLosesNorDoublesAMessage storms a server with
// messages whose clients retry until they are acknowledged, and kills it in the
// middle, several times. Each must have reached the provider, and none twice.
func TestKillingTheServerNeitherLosesNorDoublesAMessage(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const clients, each, kills = 8, 60, 3
	s := prepareServer(t)
	sim := simulate(t, s)
	sim.connect(s)
	s.start()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		acked = make(map[string]bool)
	)
	progress := make(chan struct{}, clients*each)
	for c := range clients {
		group.Go(func() {
			for n := range each {
				id := insistOnMessage(t, s, sim.Number, fmt.Sprintf("message %d.%d", c, n), fmt.Sprintf("+1555%03d%04d", c, n))
				mu.Lock()
				acked[id] = true
				mu.Unlock()
				progress <- struct{}{}
			}
		})
	}
	for range kills {
		for range clients * each / (kills + 1) {
			<-progress
		}
		s.kill()
		s.start()
	}
	group.Wait()
	s.awaitNone(sim.Number, "queued", "pending")
	is.Equal(len(acked), clients*each)
	copies := sim.copies()
	is.Equal(len(copies), len(acked)) // nothing that was not asked for
	for id := range acked {
		if copies[id] != 1 {
			t.Errorf("%s reached the provider %d times", id, copies[id])
		}
	}
	s.awaitNone(sim.Number, "failed")
}

// insistOnMessage posts a message until it is acknowledged, and returns its id.
func insistOnMessage(t *testing.T, s *server, number, key, to string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		r, err := s.send(ctx, "POST", "/v1/"+number+"/messages", fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"text","text":{"body":%q}}`, to, key), "Idempotency-Key: "+key)
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s was never acknowledged", key)
			return ""
		case err == nil && r.status == 200:
			return r.body["data"].(map[string]any)["id"].(string)
		case err == nil && r.status != 409: // 409: the first try is still being worked on
			t.Errorf("%s: %d %v", key, r.status, r.body)
			return ""
		}
		time.Sleep(5 * time.Millisecond) // the server is down, and there is no signal when it is back
	}
}

// awaitNone waits until no message is in one of the states.
func (s *server) awaitNone(number string, states ...string) {
	s.t.Helper()
	for _, state := range states {
		if !until(func() bool { return !s.hasMessage(number, state) }) {
			s.t.Fatalf("messages are still %s: %s", state, s.output)
		}
	}
}

// hasMessage reports whether a message is in a state.
func (s *server) hasMessage(number, state string) bool {
	s.t.Helper()
	return len(s.mustSend("GET", "/v1/"+number+"/messages?limit=1&status="+state, "").body["data"].([]any)) > 0
}

// TestAKillDelaysOnlyWhatMayHaveBeenSent kills a server while messages wait for
// a slot: the provider cannot know them, so the next server sends them
// without waiting for callbacks about them.
func TestAKillDelaysOnlyWhatMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*server){
		"killed":  (*server).kill,
		"stopped": func(s *server) { s.cmd.Process.Signal(syscall.SIGTERM); <-s.ended },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := prepareServer(t)
			sim := simulate(t, s)
			sim.connect(s)
			s.env = append(s.env, "CONFAB_PROVIDER__MESSAGES_PER_SECOND=0.1", "CONFAB_PROVIDER__RECONCILE_WINDOW=1h")
			s.start()
			ids := make(map[string]bool)
			for n := range 2 {
				ids[insistOnMessage(t, s, sim.Number, fmt.Sprint("message ", n), fmt.Sprintf("+1555000%04d", n))] = true
			}
			s.awaitSome(sim.Number, "sent") // the first; the other waits for ten seconds, in which it all must happen
			s.awaitNoLease()
			end(s)
			s.start()
			s.awaitNone(sim.Number, "queued", "pending")
			copies := sim.copies()
			is.Equal(len(copies), len(ids))
			for id, n := range copies {
				is.True(ids[id])
				is.Equal(n, 1)
			}
		})
	}
}

// awaitNoLease waits until every send has been put off until its time.
func (s *server) awaitNoLease() {
	s.t.Helper()
	free := until(func() bool {
		return storagetest.Select[int](s.t, s.dir, `SELECT count(*) FROM jobs WHERE kind = 'send' AND state = 'running'`)[0] == 0
	})
	if !free {
		s.t.Fatalf("sends are leased all the time: %s", s.output)
	}
}

// awaitSome waits until a message is in a state.
func (s *server) awaitSome(number, state string) {
	s.t.Helper()
	if !until(func() bool { return s.hasMessage(number, state) }) {
		s.t.Fatalf("no message is %s: %s", state, s.output)
	}
}
