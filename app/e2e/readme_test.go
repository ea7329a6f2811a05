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

	"confab/app/pages/guides"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// marked finds the blocks of a text that are commands to be run.
var marked = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// strictCurl is curl as a reader uses it, but for one thing: an answer that is
// an error is one.
const strictCurl = `#!/bin/sh
exec %s --fail-with-body --silent --show-error "$@"
`

// TestTheCommandsOfREADMEAndGuidesRunAsPrinted runs every marked block of each text in
// the order in which they are read, in one shell. The sandbox that a reader has started
// is started for them, on free ports. README is read in a fresh clone, as is the guide
// for contributors; the other guides are read in an empty directory.
func TestTheCommandsOfREADMEAndGuidesRunAsPrinted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var curl string
	for _, name := range []string{"bash", "make", "go", "curl"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s here: README and the guides were not tried", name)
		}
		curl = path
	}
	clone := freshClone(t)
	confab := filepath.Join(clone, "bin", "confab")
	tools := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(tools, "curl"), []byte(storagetest.Swap(t, strictCurl, "%s", curl)), 0o700))
	run := func(dir, name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		for _, variable := range os.Environ() {
			if !strings.HasPrefix(variable, "CONFAB_") {
				cmd.Env = append(cmd.Env, variable)
			}
		}
		cmd.Env = append(cmd.Env, "PATH="+tools+":"+filepath.Dir(confab)+":"+os.Getenv("PATH"))
		return cmd
	}

	// Built where the tests were, which have compiled all of it already: in another directory
	// everything would be compiled once more.
	here, err := filepath.Abs("../..")
	is.NoErr(err)
	if out, err := run(clone, "make", "-C", here, "build", "BIN="+confab).CombinedOutput(); err != nil {
		t.Fatalf("make build: %v: %s", err, out)
	}

	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	is.NoErr(err)
	texts := append(guides.All(), guides.Guide{Name: "README", Text: string(readme)})
	for _, text := range texts {
		script := commandsOf(text.Text)
		if script == "" {
			continue
		}
		t.Run(text.Name, func(t *testing.T) {
			dir := clone
			if text.Name != "README" && text.Name != "contributing" {
				dir = t.TempDir()
			}
			if text.Name == "outliving" {
				script = withBucket(t, script)
			}
			startSandbox(t, dir, run(dir, confab, "sandbox", "--listen", "127.0.0.1:0", "--simulator-listen", "127.0.0.1:0"))
			out, err := run(dir, "bash", "-x", "-c", "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+script).CombinedOutput()
			t.Log(string(out))
			if err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
		})
	}
}

// withBucket lets a script use object storage of the test, whose keys are those of the guide,
// and addresses that are free.
func withBucket(t *testing.T, script string) string {
	t.Helper()
	script = storagetest.Swap(t, script, "s3://my-bucket/", "s3://"+objectstest.Bucket+"/")
	script = storagetest.Swap(t, script, "https://s3.example.com", objectstest.New(t).URL)
	for _, address := range []string{"127.0.0.1:18081", "127.0.0.1:18082"} {
		script = strings.ReplaceAll(script, address, freeAddress(t))
	}
	return script
}

// commandsOf returns the commands of a text. The two that README begins with are left
// out: one does not end, and the other runs this test.
func commandsOf(text string) (script string) {
	for _, block := range marked.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if !strings.HasPrefix(line, "make run ") && !strings.HasPrefix(line, "make test ") {
				script += line
			}
		}
	}
	return script
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
