package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

// marked finds the blocks of the README that are commands to be run.
var marked = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// strictCurl is curl as a reader uses it, but for one thing: an answer that is
// an error is one.
const strictCurl = `#!/bin/sh
exec %s --fail-with-body --silent --show-error "$@"
`

// TestTheREADMEsCommandsRunAsPrinted runs every marked block in a fresh clone, in
// the order in which they are read, in one shell. The sandbox that `make run`
// starts is started for them, on free ports.
func TestTheREADMEsCommandsRunAsPrinted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var curl string
	for _, name := range []string{"bash", "make", "go", "curl"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s here: the README was not tried", name)
		}
		curl = path
	}
	clone := freshClone(t)
	here, err := filepath.Abs("../..")
	is.NoErr(err)
	text, err := os.ReadFile(filepath.Join(clone, "README.md"))
	is.NoErr(err)
	blocks := marked.FindAllStringSubmatch(string(text), -1)
	is.True(len(blocks) >= 8)
	script := "set -euo pipefail\n"
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			if !strings.HasPrefix(line, "make run ") && !strings.HasPrefix(line, "make test ") {
				script += line
			}
		}
	}
	tools := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(tools, "curl"), []byte(storagetest.Swap(t, strictCurl, "%s", curl)), 0o700))

	in := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir = clone
		for _, variable := range os.Environ() {
			if !strings.HasPrefix(variable, "CONFAB_") {
				cmd.Env = append(cmd.Env, variable)
			}
		}
		cmd.Env = append(cmd.Env, "PATH="+tools+":"+os.Getenv("PATH"))
		return cmd
	}
	// Built where the tests were, which have compiled all of it already: in another directory
	// everything would be compiled once more.
	if out, err := in("make", "-C", here, "build", "BIN="+filepath.Join(clone, "bin", "confab")).CombinedOutput(); err != nil {
		t.Fatalf("make build: %v: %s", err, out)
	}
	startSandbox(t, clone, in("bin/confab", "sandbox", "--listen", "127.0.0.1:0", "--simulator-listen", "127.0.0.1:0"))
	cmd := in("bash", "-x", "-c", script)
	out, err := cmd.CombinedOutput()
	t.Log(string(out))
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
}

// freshClone copies what a clone would have.
func freshClone(t *testing.T) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "confab")
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = "../.."
	names, err := list.Output()
	if err != nil {
		t.Skipf("this is no clone: the README was not tried (%v)", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join("../..", name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(clone, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(clone, name), text, info.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return clone
}

// startSandbox runs a sandbox until the test ends, and waits until it answers.
func startSandbox(t testing.TB, dir string, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	started := until(func() bool {
		var left struct {
			BaseURL string `json:"base_url"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "confab-sandbox", "sandbox.json"))
		if err != nil || json.Unmarshal(text, &left) != nil {
			return false
		}
		res, err := http.Get(left.BaseURL + "/health")
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	if !started {
		t.Fatal("the sandbox did not start")
	}
}
