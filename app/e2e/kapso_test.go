package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// A client library for Node that we did not write, its version fixed by the
// lock file. It is installed once, outside of the repository.
const (
	kapsoFiles   = "testdata/kapso"
	kapsoRun     = time.Minute
	kapsoInstall = 2 * time.Minute
	oldestNode   = 20 // as the library wants it
)

// kapsoCheck is one line that the script prints.
type kapsoCheck struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

// kapsoEnv is what the script is told: where its client calls, with what, and where the simulator is.
type kapsoEnv struct {
	base, token      string
	sim              *simulator.Server
	simURL           string
	number           simulator.Number
	apiURL, resetURL string // only through the gateway
}

func TestTheKapsoClientMakesEveryCall(t *testing.T) {
	t.Parallel()
	node, dir := findNode(t), kapsoDir(t)
	sim, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	server := httptest.NewServer(sim)
	defer server.Close()

	e := kapsoEnv{base: server.URL, token: sim.Credentials().AccessToken, sim: sim, simURL: server.URL, number: kapsoNumber(t, sim)}
	compareKapso(t, runKapso(t, node, dir, e), nil)
}

// Through the gateway the same calls of the same library do the same, but for those that it does not
// offer and for what differs on purpose.
func TestTheKapsoClientMakesEveryCallThroughTheGateway(t *testing.T) {
	t.Parallel()
	node, dir := findNode(t), kapsoDir(t)
	s := newStage(t, withGateway(5*time.Second), withLocalEndpoints)
	number := kapsoNumber(t, s.sim)
	account := s.connectAt(number)

	// What a refusal changes must not change what the next call is answered.
	reset := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
			return errors.Join(tx.MarkAccountStatus(account, storage.AccountConnected, ""), tx.SetRestricted(account, false),
				tx.SetCooldown(account, 0))
		})
	}))
	defer reset.Close()

	e := kapsoEnv{
		base: s.app.URL() + "/graph", token: s.tenant.Secret, sim: s.sim, simURL: s.simURL, number: number,
		apiURL: s.app.URL() + "/v1", resetURL: reset.URL,
	}
	compareKapso(t, runKapso(t, node, dir, e), kapsoDiffers)
}

// kapsoNumber adds the number that the script expects, whose callbacks come at once.
func kapsoNumber(t *testing.T, sim *simulator.Server) simulator.Number {
	t.Helper()
	number, err := sim.AddNumber(simulator.Number{DisplayPhoneNumber: "+1 555 000 9999", VerifiedName: "Acme"})
	if err != nil {
		t.Fatal(err)
	}
	settings := sim.Settings()
	settings.SentMS, settings.DeliveredMS, settings.ReadMS, settings.TemplateReviewMS = new(int64), nil, nil, 0
	settings.ServiceWindow, settings.PairLimit, settings.MessagesPerSecond = false, false, 0
	if err := sim.SetSettings(settings); err != nil {
		t.Fatal(err)
	}
	return number
}

// compareKapso expects that all checks ran, and that they passed but for those that differ: they must
// fail with the words that are given.
func compareKapso(t *testing.T, results map[string]kapsoCheck, differs map[string]string) {
	t.Helper()
	for _, name := range kapsoChecks {
		got, ran := results[name]
		words, isOther := differs[name]
		switch {
		case !ran:
			t.Errorf("%s: this check did not run", name)
		case !isOther && !got.OK:
			t.Errorf("%s: %s", name, got.Error)
		case isOther && (got.OK || !strings.Contains(got.Error, words)):
			t.Errorf("%s: it should fail with %q: %s", name, words, got.Error)
		}
		delete(results, name)
	}
	for name := range results {
		t.Errorf("the script reports %q, which is not among the checks expected", name)
	}
}

// runKapso runs the script and returns what it reported.
func runKapso(t *testing.T, node, dir string, e kapsoEnv) map[string]kapsoCheck {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), kapsoRun)
	defer cancel()
	creds := e.sim.Credentials()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, node, "client.mjs")
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &complaints, time.Second
	cmd.Env = append(os.Environ(),
		"CONFAB_BASE_URL="+e.base, "CONFAB_ACCESS_TOKEN="+e.token, "CONFAB_API_URL="+e.apiURL, "CONFAB_RESET_URL="+e.resetURL,
		"CONFAB_SIMULATOR_URL="+e.simURL, "CONFAB_SIMULATOR_TOKEN="+creds.AccessToken,
		"CONFAB_PHONE_NUMBER_ID="+e.number.PhoneNumberID, "CONFAB_WABA_ID="+e.number.WABAID,
		"CONFAB_APP_ID="+creds.AppID, "CONFAB_APP_SECRET="+creds.AppSecret,
		"NO_PROXY=127.0.0.1",
	)
	if err := cmd.Run(); err != nil {
		t.Errorf("the script ended early: %v\n%s", err, complaints.String())
	}
	results := map[string]kapsoCheck{}
	for line := range strings.Lines(out.String()) {
		var c kapsoCheck
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Errorf("the script printed %q: %v", line, err)
		}
		if _, twice := results[c.Check]; twice {
			t.Errorf("the script reports %q twice", c.Check)
		}
		results[c.Check] = c
	}
	return results
}

// findNode returns the path of a Node that the library can run on.
func findNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node is not installed: the Kapso client is not tested")
	}
	out, err := exec.CommandContext(t.Context(), node, "-p", "process.versions.node").Output()
	major, _, _ := strings.Cut(strings.TrimSpace(string(out)), ".")
	if n, bad := strconv.Atoi(major); err != nil || bad != nil || n < oldestNode {
		t.Skipf("Node %d or newer is not installed (this one says %q): the Kapso client is not tested", oldestNode, out)
	}
	return node
}

// kapsoDir makes a directory with the script and, linked from the cache, the
// library.
func kapsoDir(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(kapsoFiles, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	home := filepath.Join(cache, "confab-test", "kapso-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		installKapso(t, home)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(kapsoFiles)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// installKapso fills the cache. The directory appears under its name only when
// it is complete, so that a broken or a second installation does no harm.
func installKapso(t *testing.T, home string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed and the Kapso client is not in the cache: it is not tested")
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(home), "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(filepath.Join(kapsoFiles, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(fresh, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), kapsoInstall)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")
	cmd.Dir, cmd.WaitDelay = fresh, time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && (ctx.Err() != nil || unreachable(string(out))):
		t.Skipf("the npm registry cannot be reached and the Kapso client is not in the cache: it is not tested\n%s", out)
	case err != nil:
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(fresh, home); err != nil {
		if _, there := os.Stat(home); there != nil {
			t.Fatal(err)
		}
	}
}

// unreachable reports whether npm failed for want of a network or of a
// registry that serves us, rather than over what it got.
func unreachable(out string) bool {
	for _, code := range []string{
		"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT",
		"ERR_SOCKET_TIMEOUT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "E401", "E403", "E407", "E502", "E503", "E504",
	} {
		if strings.Contains(out, "code "+code) {
			return true
		}
	}
	return false
}
