package e2e

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestInvitationsEnd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	_, first := s.invitePerson("ada@example.com", storage.RoleAgent)
	_, second := s.invitePerson("ADA@example.com", storage.RoleAgent)
	join := url.Values{"name": {"Ada"}, "password": {goodPassword}}
	is.Equal(s.browser().open("GET", first, nil).status, 410) // a new one ends the earlier
	is.Equal(s.browser().open("POST", first, join).status, 410)
	is.Equal(s.browser().open("GET", second, nil).status, 200)

	is.Equal(storagetest.Select[int64](t, s.app.Config.DataDir, `SELECT expires_at - created_at FROM user_invitations WHERE ended_at = 0`), []int64{72 * 3600 * 1000})
	stored := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT hex(token_hash) FROM user_invitations WHERE ended_at = 0`)
	hash := storage.TokenHash(strings.TrimPrefix(second, "/console/welcome/"))
	is.Equal(stored, []string{strings.ToUpper(hexOf(hash[:]))})
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE user_invitations SET expires_at = created_at`)
	for _, method := range []string{"GET", "POST"} {
		got := s.browser().open(method, second, join)
		is.Equal(got.status, 410)
		is.True(strings.Contains(got.body, "Ask an admin of Acme"))
	}
	is.Equal(s.browser().open("POST", "/console/welcome/none", join).status, 404)
}

func TestAServerSaysOnceHowToInviteTheFirstAdmin(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	start := func(sandbox bool) string {
		var log bytes.Buffer
		t.Run("", func(t *testing.T) {
			startStage(t, func(o *app.Options, _ *simulator.Server) {
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
				if sandbox {
					o.SandboxUser = func() string { return "" }
				}
			})
		})
		return log.String()
	}
	is.Equal(strings.Count(start(false), "confab users invite"), 1)
	is.Equal(strings.Count(start(true), "confab users invite"), 0)

	// The commands are whole: with the organization that there is, or with the making of one.
	c := config.Default()
	is.Equal(c.FirstAdminAdvice([]string{"org_1"}), "invite the first admin with 'confab users invite --org org_1 --name NAME --email ADDRESS --role admin', which prints a link to open")
	is.True(strings.Contains(c.FirstAdminAdvice([]string{"org_1", "org_2"}), "--org ORG "))
	c.DataDir = "/var/lib/confab"
	is.Equal(c.FirstAdminAdvice(nil), "create an organization with 'confab orgs create NAME --data-dir /var/lib/confab', which prints its id, then "+
		"invite the first admin with 'confab users invite --org ORG --name NAME --email ADDRESS --role admin --data-dir /var/lib/confab', which prints a link to open")

	// Who comes before anybody can sign in learns it.
	s := newStage(t)
	const nobody = "No one can sign in yet."
	is.True(strings.Contains(s.browser().open("GET", "/console/sign-in", nil).body, nobody))
	s.joined("ada@example.com", storage.RoleAgent)
	is.True(!strings.Contains(s.browser().open("GET", "/console/sign-in", nil).body, nobody))
}

// memoryPeak is the most memory that a process had.
func memoryPeak(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("only Linux shows what a process uses")
	}
	kilobytes, err := strconv.ParseInt(string(regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// A thousand sign-ins at once, each from another address and for another account: two are
// hashed at a time, the rest waits or is refused, and the API answers meanwhile.
func TestAThousandSignInsAtOnceLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const attempts, most = 1000, 200 << 20
	s := prepareServer(t)
	s.env = append(s.env, "CONFAB_SERVER__TRUSTED_PROXIES=127.0.0.0/8", "CONFAB_LOG__LEVEL=error")
	s.start()
	client := &http.Client{Transport: &http.Transport{}}
	var mu sync.Mutex
	statuses := make(map[int]int)
	var group sync.WaitGroup
	for i := range attempts {
		group.Go(func() {
			form := url.Values{"email": {fmt.Sprintf("p%d@example.com", i)}, "password": {"wrong password"}}
			req, _ := http.NewRequest("POST", "http://"+s.address+"/console/sign-in", strings.NewReader(form.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.%d", i/250, i%250))
			status := 0
			if res, err := client.Do(req); err == nil {
				res.Body.Close()
				status = res.StatusCode
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}

	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	var took []time.Duration
	for busy := true; busy; {
		began := time.Now()
		is.Equal(s.mustSend("GET", "/v1/me", "").status, 200)
		took = append(took, time.Since(began))
		select {
		case <-done:
			busy = false
		case <-pace.C: // below what a key may call
		}
	}
	slices.Sort(took)
	peak := memoryPeak(t, s.cmd.Process.Pid)
	t.Logf("answers %v; beside them %d API calls, p99 %v; at most %d MB", statuses, len(took), took[len(took)*99/100].Round(time.Millisecond), peak>>20)
	is.Equal(statuses[401]+statuses[503], attempts) // answered, all of them
	is.True(statuses[401] > 0)
	if peak > most {
		t.Errorf("the server took %d bytes", peak)
	}
}
