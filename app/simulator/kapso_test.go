package simulator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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

func TestTheKapsoClientMakesEveryCall(t *testing.T) {
	node := findNode(t)
	dir := kapsoDir(t)
	b := newBench(t)
	b.settings(func(set *Settings) { set.TemplateReviewMS = 0 })
	results := runKapso(b, node, dir)
	for _, name := range kapsoChecks {
		t.Run(name, func(t *testing.T) {
			got, ran := results[name]
			switch {
			case !ran:
				t.Fatal("this check did not run")
			case !got.OK:
				t.Fatal(got.Error)
			}
		})
		delete(results, name)
	}
	for name := range results {
		t.Errorf("the script reports %q, which is not among the checks expected", name)
	}
}

// runKapso runs the script against the simulator and returns what it reported.
func runKapso(b *bench, node, dir string) map[string]kapsoCheck {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), kapsoRun)
	defer cancel()
	creds := b.s.Credentials()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, node, "client.mjs")
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &complaints, time.Second
	cmd.Env = append(os.Environ(),
		"CONFAB_SIMULATOR_URL="+b.url, "CONFAB_ACCESS_TOKEN="+creds.AccessToken,
		"CONFAB_PHONE_NUMBER_ID="+b.number.PhoneNumberID, "CONFAB_WABA_ID="+b.number.WABAID,
		"CONFAB_APP_ID="+creds.AppID, "CONFAB_APP_SECRET="+creds.AppSecret,
		"NO_PROXY=127.0.0.1",
	)
	if err := cmd.Run(); err != nil {
		b.t.Errorf("the script ended early: %v\n%s", err, complaints.String())
	}
	results := map[string]kapsoCheck{}
	for line := range strings.Lines(out.String()) {
		var c kapsoCheck
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			b.t.Errorf("the script printed %q: %v", line, err)
		}
		if _, twice := results[c.Check]; twice {
			b.t.Errorf("the script reports %q twice", c.Check)
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
