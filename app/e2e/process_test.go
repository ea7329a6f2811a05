package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"confab/app/tools/rig"
	"confab/app/tools/rig/rigtest"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestMain(m *testing.M) { rigtest.Main(windowTests{M: m}, nil) }

// confab prepares the program as a process of its own.
func confab(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	program := rigtest.Confab(t)
	cmd := exec.Command(program.Path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(os.Environ(), program.Env...), "CONFAB_LOG__LEVEL=warn", "CONFAB_STORAGE__SYNCHRONOUS=normal")
	return cmd
}

// run runs a command that must succeed and returns what it printed.
func run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := confab(t, args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("confab %s: %v: %s", strings.Join(args, " "), err, errors.String())
	}
	return strings.TrimSpace(string(out))
}

// refused runs a command that must fail with status 1 and returns its words.
func refused(t testing.TB, args ...string) string {
	t.Helper()
	out, err := confab(t, args...).CombinedOutput()
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.ExitCode() != 1 {
		t.Fatalf("confab %s: %v, not exit status 1: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// server is a serving process and its one tenant.
type server struct {
	t       testing.TB
	dir     string
	address string
	key     string
	args    []string // its command; nil is serve
	env     []string // settings besides those of every test
	cmd     *exec.Cmd
	output  *bytes.Buffer
	ended   chan error
}

// newServer makes a data directory with an organization and a key, and serves it.
func newServer(t testing.TB) *server {
	t.Helper()
	s := prepareServer(t)
	s.start()
	return s
}

// prepareServer makes a server that has not started.
func prepareServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, dir: filepath.Join(t.TempDir(), "data")}
	db, err := storage.Open(storagetest.Options(t, s.dir))
	if err != nil {
		t.Fatal(err)
	}
	s.key = storagetest.Seed(t, db, "Acme").Secret
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.address = freeAddress(t) // kept over restarts
	return s
}

// start starts the process and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	args := s.args
	if args == nil {
		args = []string{"serve"}
	}
	s.cmd = confab(s.t, append(args, "--data-dir", s.dir, "--listen", s.address)...)
	s.cmd.Env = append(s.cmd.Env, s.env...)
	s.output, s.ended = &bytes.Buffer{}, make(chan error, 1)
	s.cmd.Stderr = s.output
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, ended, gone := s.cmd, s.ended, make(chan struct{})
	go func() {
		ended <- cmd.Wait()
		close(gone)
	}()
	s.t.Cleanup(func() {
		select {
		case <-gone:
		default: // it, or what replicates for it, may write to the directory while that is removed
			rig.Lose(cmd.Process.Pid)
			<-gone
		}
	})
	answered := until(func() bool {
		select {
		case err := <-s.ended:
			s.t.Fatalf("the server ended: %v: %s", err, s.output)
		default:
		}
		res, err := http.Get("http://" + s.address + "/readyz")
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	if !answered {
		s.t.Fatal("the server did not answer")
	}
}

// kill ends the process without giving it a chance.
func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// reply is an answer, or an error when there was none.
type reply struct {
	status int
	header http.Header
	body   map[string]any
}

// send makes one request.
func (s *server) send(ctx context.Context, method, path, body string, header ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	out := reply{status: res.StatusCode, header: res.Header}
	if err := json.Unmarshal(text, &out.body); err != nil {
		return out, fmt.Errorf("%s: %w", text, err)
	}
	return out, nil
}

// mustSend makes one request that must be answered.
func (s *server) mustSend(method, path, body string, header ...string) reply {
	s.t.Helper()
	r, err := s.send(context.Background(), method, path, body, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// labels lists every label through the API: names and ids.
func (s *server) labels() map[string][]string {
	s.t.Helper()
	names := make(map[string][]string)
	for path := "/v1/labels?limit=100"; path != ""; {
		r := s.mustSend("GET", path, "")
		for _, l := range r.body["data"].([]any) {
			label := l.(map[string]any)
			name := label["name"].(string)
			names[name] = append(names[name], label["id"].(string))
		}
		path = ""
		if next, ok := r.body["next_cursor"].(string); ok {
			path = "/v1/labels?limit=100&cursor=" + next
		}
	}
	return names
}
